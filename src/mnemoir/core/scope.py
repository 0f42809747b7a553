"""Scopes: the owner of data, as a value that every store method requires."""

import re
from collections.abc import Collection, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.usage import Limits

PROJECT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
ENTITY_CHARACTERS = 256
DEFAULT_TENANT = "default"
DEFAULT_USER = "user"  # whose is what requests say that name nobody
NOWHERE = "-"  # the tenant that no data has: no name of a tenant begins like this

SETTINGS_KEYS = "settings:"  # how ids of keys begin that the settings name
Role = Literal["read", "write", "admin", "operator"]
ROLES: tuple[Role, ...] = get_args(Role)
_RANKS = {"operator": 0, "read": 1, "write": 2, "admin": 3}  # of what a role may do with a tenant's contents


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The authenticated caller of a request, as determined by the guard of the server; by default one who may do all.

    `key` is the id of its key, `user:<id>` for a person who signed in, whose id is `person`, "" for a caller
    without one on a server that requires none. `projects` and `user` are what the key is bound to; None means all of
    the tenant. `configs` are the config users of the workflow tree that it may call, None for all. A role includes
    those before it but for `operator`, which sees counts, health, keys and tenants of the whole server and no
    contents. `limits` are quotas of this key, which count in place of those of its user.
    """

    tenant: str = DEFAULT_TENANT
    key: str = ""
    roles: Collection[Role] = ("admin", "operator")
    projects: tuple[str, ...] | None = None
    user: str | None = None
    configs: tuple[str, ...] | None = None
    person: str = ""
    limits: Limits = field(default_factory=dict, hash=False)

    def may(self, role: Role) -> bool:
        """Whether the principal has a role that includes this one."""
        if role == "operator":
            return "operator" in self.roles
        return max((_RANKS[own] for own in self.roles), default=0) >= _RANKS[role]

    def reaches(self, project: str, user: str) -> bool:
        """Whether the key is for this user of its tenant."""
        return (self.projects is None or project in self.projects) and self.user in (None, user)

    def may_call(self, config: str) -> bool:
        """Whether it may call this user of the config tree."""
        return self.configs is None or config.lower() in (own.lower() for own in self.configs)

    def stands_for(self, other: "Principal") -> bool:
        """Whether it is bound to nothing that the other one is not."""
        is_as_free = self.user in (None, other.user) and self.projects in (None, other.projects)
        return self.tenant == other.tenant and is_as_free

    @property
    def is_bound(self) -> bool:
        """Whether the key is for a part of the data: a tenant that is not the default one, some projects, a user."""
        return self.tenant != DEFAULT_TENANT or self.projects is not None or self.user is not None

    @property
    def manages_tenant(self) -> bool:
        """Whether it has to do with all users and keys of its tenant.

        An admin who signed in does, though requests for contents are about their own; a key of one user does not.
        """
        return self.may("operator") or self.manages_contents

    @property
    def manages_contents(self) -> bool:
        """Whether it decides who gets contents of its tenant; an operator alone does not."""
        is_of_all = self.projects is None and self.configs is None and (self.user is None or bool(self.person))
        return is_of_all and self.may("admin")

    @property
    def owns_server(self) -> bool:
        """Whether it has all data anyway: the admin key of the settings, or anybody where no key is needed."""
        is_of_settings = not self.key or self.key.startswith(SETTINGS_KEYS)
        return is_of_settings and self.may("admin") and self.may("operator")

    @property
    def sees_server(self) -> bool:
        """Whether it may see what is counted over the whole server: an operator, or an admin bound to nothing."""
        return self.may("operator") or (not self.is_bound and self.may("admin"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """The caller of an operation and the id of its request; `request_id` is "" for background work.

    `address` is where a request came from that may change who is let in, "" for all others.
    `is_reading`: the request changes nothing, so what it names elsewhere is answered as empty, not as unknown.
    `users_read` gathers the users that the reading request of a key which is bound to none of them names.
    """

    principal: Principal = field(default_factory=Principal)
    request_id: str = ""
    is_reading: bool = False
    users_read: set[str] = field(default_factory=set, compare=False)
    address: str = ""


# the act of the current request, inherited by its tasks and threads, and available in every transaction
acting: ContextVar[Act] = ContextVar("acting", default=Act())  # noqa: B039  # it is frozen


def project_name(raw: str) -> str:
    """`raw`, if it is a valid project name. Raises InvalidRequest (`invalid_project`) otherwise.

    Names of tenants follow the same rule.
    """
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


def tenant_name(raw: str) -> str:
    """`raw`, if it is a valid name of a tenant. Raises InvalidRequest."""
    try:
        return project_name(raw)
    except InvalidRequest as exc:
        raise InvalidRequest(
            exc.message.replace("Project name", "Tenant", 1), code="invalid_tenant", field="tenant"
        ) from None


def project_names(raw: Sequence[str] | None) -> Sequence[str] | None:
    """Names of projects, each once; None for all. Raises InvalidRequest."""
    return None if raw is None else sorted({project_name(one) for one in raw})


def config_names(raw: Sequence[str] | None) -> Sequence[str] | None:
    """Names of config users, each once; None for all. Raises InvalidRequest."""
    return None if raw is None else sorted({entity_name(one, "configs") for one in raw})


def role_name(raw: str) -> Role:
    """`raw`, if it is a role. Raises InvalidRequest."""
    for role in ROLES:
        if raw == role:
            return role
    raise InvalidRequest(
        f"The role must be one of {', '.join(ROLES)}; it is {raw[:40]!r}.", code="validation_error", field="role"
    )
