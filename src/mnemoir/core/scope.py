"""Whose data: one value that every store method takes and none can leave out."""

import re
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from mnemoir.core.errors import InvalidRequest

PROJECT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
ENTITY_CHARACTERS = 256
DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """tenant > project > user, and within a user optionally agent, app, conversation and workflow node.

    None for an inner level means "not narrowed by it" when reading and "not set" when writing.
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
        """The same user, not narrowed by agent, app, conversation or node."""
        return replace(self, agent=None, app=None, conversation=None, node=None)

    def hash(self, digest: bytes) -> bytes:
        """What is stored in place of the digest of a user's text, to know the text again within the scope.

        The digest itself, as long as scopes have no keys.
        """
        return digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks, as the guard of the server found out.

    For now that is a holder of one of the server's keys, or anybody on a server without keys. Both may do everything
    within the tenant.
    """

    tenant: str = DEFAULT_TENANT
    has_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Who does something, and in which request; "" behind the requests."""

    principal: Principal = field(default_factory=Principal)
    request_id: str = ""


# Travels with a request, its tasks and its threads, and into every transaction that it writes in.
acting: ContextVar[Act] = ContextVar("acting", default=Act())  # noqa: B039  # it is frozen


def project_name(raw: str) -> str:
    """`raw`, if it may name a project; raises InvalidRequest (`invalid_project`) otherwise."""
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

    Raises InvalidRequest naming `field`. NUL and lone surrogates are refused, all else is data.
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
