"""The exceptions that Mnemoir raises on purpose.

MnemoirError
├── InvalidRequest        the caller's input is at fault: 4xx
│   ├── NotFound          no such thing in the caller's scope
│   ├── Conflict          it conflicts with stored data or with a running request
│   ├── TooLarge          over a size limit
│   │   └── MemoryTooLong the text of a memory, or of all in a request
│   └── NotSupported      known to the protocol, not offered by this server
├── Unauthorized          no key, or a wrong one
├── IssuerUnavailable     an identity provider does not say who the caller is
├── Forbidden             the caller may not do this, or not from its address
│   └── QuotaExceeded     the user or the tenant has used up what it may have
├── Overloaded            the server handles as many requests as it may; try again later
│   └── RateLimited       the key, or the address, has made too many requests
├── Cancelled             the client cancelled the request by another one
├── StorageUnavailable    the store cannot be read or written now
│   ├── StorageBusyError  another writer held the lock through all retries
│   ├── StorageDamaged    a file is damaged, missing, emptied, or of another data directory
│   └── KeyUnavailable    the key of encrypted data is missing, wrong or destroyed
│       └── KeyDestroyed  it was destroyed, for good
├── SettingsError         a setting or a configuration file is wrong
├── WorkflowStopped       a workflow reached a limit: depth, nodes, calls, time
├── ModuleFailed          a Python module of a workflow crashed its process or exceeded a limit
└── ProviderError         a model's server failed
    ├── ProviderUnavailable   not reachable, or the answer broke off
    ├── ProviderTimeout       no answer in time
    ├── ProviderRefused       it refused the key, the request or the rate
    ├── ProviderInvalidOutput its answer is unusable
    └── ProviderNotConfigured no model is configured

Each error has a `code` for programs, and a message that names the object, the cause and the next step.
"""

import traceback
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar


class MnemoirError(Exception):
    """Base class of all errors; `code` is the machine-readable name sent to clients."""

    code: str = "internal_error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InvalidRequest(MnemoirError):
    """The request is readable, but a value in it is wrong. `field` names the member at fault."""

    code = "invalid_request"

    def __init__(self, message: str, *, code: str | None = None, field: str | None = None) -> None:
        super().__init__(message, code=code)
        self.field = field


class NotFound(InvalidRequest):
    """The caller's scope has no object of that id; an id of another scope gets the same answer."""

    code = "not_found"


class Conflict(InvalidRequest):
    """Stored data or a running request conflicts with the request."""

    code = "conflict"


class TooLarge(InvalidRequest):
    """The request exceeds a size limit, which the message names."""

    code = "payload_too_large"


class MemoryTooLong(TooLarge):
    """A text that is to become a memory, or all texts of one request, are longer than may come in."""

    code = "memory_too_long"


class NotSupported(InvalidRequest):
    """The protocol has this feature, but this server does not offer it."""

    code = "not_supported"


class Unauthorized(MnemoirError):
    """The request has no key, or one that this server does not accept."""

    code = "unauthorized"


class IssuerUnavailable(MnemoirError):
    """An identity provider cannot be reached, or its answer is unusable, so the caller is not known."""

    code = "auth_unavailable"


class Forbidden(MnemoirError):
    """The caller may not do this, or not from its address."""

    code = "forbidden"


class QuotaExceeded(Forbidden):
    """The user or the tenant has used up a quota: `used` of `limit` of `what`.

    `resets_at` is the time at which the quota is whole again, None where only deleting helps.
    """

    code = "quota_exceeded"

    def __init__(self, message: str, *, what: str, used: int, limit: int, resets_at: datetime | None = None) -> None:
        super().__init__(message)
        self.what = what
        self.used = used
        self.limit = limit
        self.resets_at = resets_at


class Overloaded(MnemoirError):
    """The server handles as many requests as it may; `retry_after_s` is the number of seconds to wait."""

    code = "overloaded"

    def __init__(self, message: str, *, code: str | None = None, retry_after_s: int = 1) -> None:
        super().__init__(message, code=code)
        self.retry_after_s = retry_after_s


class RateLimited(Overloaded):
    """The key, or the address, has made too many requests; `bucket` is their kind."""

    code = "rate_limited"

    def __init__(self, message: str, *, bucket: str, retry_after_s: int) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.bucket = bucket


class Cancelled(MnemoirError):
    """The client cancelled this request by another request."""

    code = "cancelled"


class StorageUnavailable(MnemoirError):
    """The store cannot be read or written: the disk is full, a file is damaged, or the store is closed."""

    code = "storage_unavailable"


class StorageBusyError(StorageUnavailable):
    """Another writer held the lock of the file through all retries."""

    code = "storage_busy"


class StorageDamaged(StorageUnavailable):
    """What was asked for is, or was, in a file that is damaged, missing, emptied, or of another data directory."""

    code = "storage_damaged"


class KeyUnavailable(StorageUnavailable):
    """Encrypted data cannot be read: their key is missing, wrong, destroyed, or its provider is away."""

    code = "key_unavailable"


class KeyDestroyed(KeyUnavailable):
    """The key was destroyed, and with it what it had encrypted."""


class SettingsError(MnemoirError):
    """A setting or a configuration file is wrong; the message names file, key, value and the allowed values."""

    code = "invalid_settings"


class WorkflowStopped(MnemoirError):
    """A workflow run exceeded a limit; the message names the workflow, the node and the setting."""

    code = "workflow_stopped"


class ModuleFailed(MnemoirError):
    """A Python module of a workflow did not return: it exceeded its time or memory, or its process ended."""

    code = "module_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamNames:
    """Machine-readable names that a model's server gave its error; None for each that it did not give.

    `code` and `type` are the members of OpenAI's error object, such as `context_length_exceeded`; `param` is the
    member of the request at fault.
    """

    code: str | None = None
    type: str | None = None
    param: str | None = None


NO_NAMES = UpstreamNames()


class ProviderError(MnemoirError):
    """A model's server failed. The message quotes that server's own message, never a key.

    `status` is its HTTP status, if any; `retry_after_s` is the wait it requested, in seconds; `names` are its own
    names of the error.
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
    """The model's server could not be reached, answered 5xx, or broke off its answer."""

    code = "llm_unavailable"


class ProviderTimeout(ProviderError):
    """The model's server sent no answer, or no further part of one, within the time limit."""

    code = "llm_timeout"


class ProviderRefused(ProviderError):
    """The model's server answered 4xx.

    `code` is `llm_auth_failed` for a refused key, `llm_rate_limited` for a rate limit, else that of a wrong request.
    """

    code = "llm_bad_request"


class ProviderInvalidOutput(ProviderError):
    """The model's server answered with something other than the requested output."""

    code = "llm_invalid_output"


class ProviderNotConfigured(ProviderError):
    """A model is needed, but none is configured."""

    code = "llm_not_configured"


def places_of(exc: BaseException) -> list[str]:
    """The last eight places in the code that an exception came through, for a log: none of its text."""
    frames = traceback.extract_tb(exc.__traceback__)[-8:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
