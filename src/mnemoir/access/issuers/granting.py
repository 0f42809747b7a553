"""What the claims of a token grant, by the names that the settings give them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnemoir.access.issuers.checking import token_refusal
from mnemoir.core.errors import Forbidden, InvalidRequest, Unauthorized
from mnemoir.core.scope import ROLES, Role, entity_name, project_name, tenant_name
from mnemoir.settings.issuers import ANY_ROLE, Claims

_ABSENT = object()
_USUAL_ROLE: Role = "write"  # of a person whose issuer says nothing of roles
_MOST_PROJECTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """What a token says of its bearer; None for what the settings do not read from it."""

    tenant: str | None
    user: str | None
    roles: tuple[Role, ...] | None
    projects: tuple[str, ...] | None


class Granting:
    """Reads claims by the settings of one issuer."""

    def __init__(self, claims: Claims, role_map: Mapping[str, Role]) -> None:
        self._names = claims
        self._role_map = dict(role_map) or {role: role for role in ROLES}

    def rights_from(self, claims: Mapping[str, Any]) -> Granted:
        """Raises Unauthorized for a claim that is missing or unfit, Forbidden for one without any role."""
        names = self._names
        try:
            return Granted(
                tenant=None if names.tenant is None else tenant_name(_text(claims, names.tenant)),
                user=None if names.user is None else entity_name(_text(claims, names.user), names.user),
                roles=None if names.role is None else self._roles(self._named_roles(claims, names.role)),
                projects=None if names.projects is None else _projects(claims, names.projects),
            )
        except InvalidRequest as exc:
            raise token_refusal(f"a claim cannot be used. {exc.message.rstrip('.')}") from None

    def roles(self, granted: Granted) -> tuple[Role, ...]:
        """The roles of a bearer, also where the settings read none. Raises Forbidden where there is none."""
        return self._roles([]) if granted.roles is None else granted.roles

    def _named_roles(self, claims: Mapping[str, Any], name: str) -> list[str]:
        """The values of the claim with roles; where everybody has one, it may be missing."""
        is_missing = _value(claims, name) is None
        return [] if is_missing and ANY_ROLE in self._role_map else _texts(claims, name)

    def _roles(self, named: Sequence[str]) -> tuple[Role, ...]:
        found = {self._role_map[name] for name in named if name in self._role_map and name != ANY_ROLE}
        if not found and ANY_ROLE in self._role_map:
            found = {self._role_map[ANY_ROLE]}
        if not found and self._names.role is None:
            found = {_USUAL_ROLE}
        if not found:
            raise Forbidden(
                f"The issuer gives you no role here: none in its claim {self._names.role!r} is in role_map.",
                code="token_without_role",
            )
        return tuple(role for role in ROLES if role in found)


def _projects(claims: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(sorted({project_name(one) for one in _texts(claims, name)[:_MOST_PROJECTS]}))


def _text(claims: Mapping[str, Any], name: str) -> str:
    texts = _texts(claims, name)
    if len(texts) != 1:
        raise _missing(name)
    return texts[0]


def _texts(claims: Mapping[str, Any], name: str) -> list[str]:
    """A claim that is a text or a list of texts. Raises Unauthorized for any other, and for none."""
    value = _value(claims, name)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise _missing(name)
    return texts


def _value(claims: Mapping[str, Any], name: str) -> object:
    """A claim by its whole name, else by the steps between the dots."""
    found: object = claims.get(name, _ABSENT)
    if found is not _ABSENT:
        return found
    found = claims
    for step in name.split("."):
        if not isinstance(found, Mapping) or step not in found:
            return None
        found = found[step]
    return found


def _missing(name: str) -> Unauthorized:
    return Unauthorized(
        f"The token has no claim {name!r} with a text, which this server needs. Let the issuer add it.",
        code="token_without_tenant",
    )
