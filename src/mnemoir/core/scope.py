"""Scopes: the owner of data, as a value that every store method requires."""

import re
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from mnemoir.core.errors import InvalidRequest

PROJECT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
ENTITY_CHARACTERS = 256
DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """An owner of data: tenant > project > user, and within a user optionally agent, app, conversation and node.

    None for an inner level means "any" when reading and "not set" when writing.
    """

    project: str
    user: str
    tenant: str = DEFAULT_TENANT
    agent: str | None = None
    app: str | None = None
    conversation: str | None = None
    node: str | None = None

    @property
    def owner(self) -> "Scope":
        """The scope of the whole user, without agent, app, conversation and node."""
        return replace(self, agent=None, app=None, conversation=None, node=None)

    def hash(self, digest: bytes) -> bytes:
        """The value stored in place of the digest of a user's text, by which the text is found within the scope.

        It is the digest itself, as long as scopes have no keys.
        """
        return digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The authenticated caller of a request, as determined by the guard of the server.

    It is a holder of one of the server's keys, or any caller on a server without keys. Both may do everything within
    the tenant.
    """

    tenant: str = DEFAULT_TENANT
    has_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """The caller of an operation and the id of its request; `request_id` is "" for background work."""

    principal: Principal = field(default_factory=Principal)
    request_id: str = ""


# the act of the current request, inherited by its tasks and threads, and available in every transaction
acting: ContextVar[Act] = ContextVar("acting", default=Act())  # noqa: B039  # it is frozen


def project_name(raw: str) -> str:
    """`raw`, if it is a valid project name. Raises InvalidRequest (`invalid_project`) otherwise."""
    if not PROJECT_NAME.fullmatch(raw) or raw in (".", ".."):
        raise InvalidRequest(
            f"Project name {raw[:64]!r} is not allowed. Use 1 to 128 letters, digits, '.', '_' or '-', "
            "starting with a letter, a digit or '_'.",
            code="invalid_project",
            field="project",
        )
    return raw


def entity_name(raw: object, field: str) -> str:
    """A user, agent, app or conversation id: integers become text, text is trimmed, 1 to 256 characters.

    Raises InvalidRequest naming `field`. NUL and lone surrogates are refused; all other characters are allowed.
    """
    if isinstance(raw, int) and not isinstance(raw, bool):
        raw = str(raw)
    if not isinstance(raw, str):
        raise InvalidRequest(f"{field} must be a string.", code="validation_error", field=field)
    name = raw.strip()
    if not name or len(name) > ENTITY_CHARACTERS:
        raise InvalidRequest(
            f"{field} must have 1 to {ENTITY_CHARACTERS} characters, it has {len(name)}.",
            code="validation_error",
            field=field,
        )
    if "\0" in name or any(0xD800 <= ord(c) <= 0xDFFF for c in name):
        raise InvalidRequest(
            f"{field} holds a character that no text may hold.", code="validation_error", field=field
        )
    return name
