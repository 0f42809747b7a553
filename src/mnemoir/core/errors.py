"""Everything Mnemoir raises on purpose.

MnemoirError
├── InvalidRequest        the caller's input is at fault: 4xx
│   ├── NotFound          no such thing in the caller's scope
│   ├── Conflict          it clashes with what is there, or with a request under way
│   ├── TooLarge          over a size limit
│   └── NotSupported      known, and not offered here
├── Unauthorized          no key, or a wrong one
├── Forbidden             the caller may not do this from here
├── Overloaded            no room for one more request; try again later
├── Cancelled             the client had the request ended
├── StorageUnavailable    the store cannot be read or written now
│   └── StorageBusyError  others hold it for longer than all tries together waited
├── SettingsError         a setting or a configuration file is wrong
├── WorkflowStopped       a limit on workflows was reached: depth, nodes, calls, time
├── ModuleFailed          a Python module of a workflow took its process down, or too long
└── ProviderError         a model's server is at fault
    ├── ProviderUnavailable   not reached, or broken off
    ├── ProviderTimeout       no answer in time
    ├── ProviderRefused       it refused: key, request or rate
    ├── ProviderInvalidOutput it answered with something unusable
    └── ProviderNotConfigured no model to ask

Each error carries a `code` for programs and a message that names the thing, the cause and the next step.
"""

from dataclasses import dataclass
from typing import ClassVar


class MnemoirError(Exception):
    """Base of all; `code` is the machine-readable name sent to clients."""

    code: str = "internal_error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InvalidRequest(MnemoirError):
    """The request was understood and its meaning is wrong. `field` names the member at fault."""

    code = "invalid_request"

    def __init__(self, message: str, *, code: str | None = None, field: str | None = None) -> None:
        super().__init__(message, code=code)
        self.field = field


class NotFound(InvalidRequest):
    """Nothing of that id in the caller's scope; a foreign id answers the same."""

    code = "not_found"


class Conflict(InvalidRequest):
    """What is stored, or a request under way, stands against it."""

    code = "conflict"


class TooLarge(InvalidRequest):
    """Over a size limit that the message names."""

    code = "payload_too_large"


class NotSupported(InvalidRequest):
    """Known to the protocol and not offered by this server."""

    code = "not_supported"


class Unauthorized(MnemoirError):
    """No key was sent, or one that is not ours."""

    code = "unauthorized"


class Forbidden(MnemoirError):
    """The caller may not do this, or not from where it calls."""

    code = "forbidden"


class Overloaded(MnemoirError):
    """All places are taken; `retry_after_s` says when to come back."""

    code = "overloaded"

    def __init__(self, message: str, *, retry_after_s: int = 1) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Cancelled(MnemoirError):
    """The client had the request ended by another one."""

    code = "cancelled"


class StorageUnavailable(MnemoirError):
    """The store cannot be read or written: disk full, file damaged, closed."""

    code = "storage_unavailable"


class StorageBusyError(StorageUnavailable):
    """Others held the file for longer than all tries together waited."""

    code = "storage_busy"


class SettingsError(MnemoirError):
    """A setting or a configuration file is wrong; the message names file, key, value and what is allowed."""

    code = "invalid_settings"


class WorkflowStopped(MnemoirError):
    """A run went over a limit; the message names the workflow, the node and the setting."""

    code = "workflow_stopped"


class ModuleFailed(MnemoirError):
    """A Python module of a workflow did not return: time, memory, or the end of its process."""

    code = "module_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamNames:
    """What a model's server calls its error, for programs; None for what it did not name.

    `code` and `type` are those of OpenAI's error object, such as `context_length_exceeded`; `param` is the member of
    the request at fault.
    """

    code: str | None = None
    type: str | None = None
    param: str | None = None


NO_NAMES = UpstreamNames()


class ProviderError(MnemoirError):
    """A model's server failed. The message keeps that server's own words, never a key.

    `status` is its HTTP status if it gave one; `retry_after_s` what it asked us to wait; `names` what it calls the
    error.
    """

    code = "llm_unavailable"
    default_status: ClassVar[int | None] = None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        retry_after_s: float | None = None,
        names: UpstreamNames = NO_NAMES,
    ) -> None:
        super().__init__(message, code=code)
        self.status = status if status is not None else self.default_status
        self.retry_after_s = retry_after_s
        self.names = names


class ProviderUnavailable(ProviderError):
    """It could not be reached, answered 5xx, or broke off."""

    code = "llm_unavailable"


class ProviderTimeout(ProviderError):
    """It gave no answer, or no further part of one, in the time allowed."""

    code = "llm_timeout"


class ProviderRefused(ProviderError):
    """It answered 4xx: `code` tells key (`llm_auth_failed`), rate (`llm_rate_limited`) and request apart."""

    code = "llm_bad_request"


class ProviderInvalidOutput(ProviderError):
    """It answered with something that is not what was asked for."""

    code = "llm_invalid_output"


class ProviderNotConfigured(ProviderError):
    """A model is needed and none is set up."""

    code = "llm_not_configured"
