"""The scope of data that a request is about: its tenant, project, user and conversation.

No other module of the server chooses a tenant or builds the data scope of a request from its principal and the names
in it. A name that lies outside what the key is bound to is answered like one that nobody has: what reads looks where
nothing is, what changes is refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from starlette.types import Scope

from mnemoir.core.errors import Forbidden, InvalidRequest, NotFound
from mnemoir.core.scope import NOWHERE, Principal, acting, entity_name, project_name
from mnemoir.core.scope import Scope as Owner
from mnemoir.ports.memory_store import Project
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.request import first_headers, header, name_in, one_header, query, quoted_name
from mnemoir.server.door.table import found_in
from mnemoir.wire.agents.tasks import CODEX_AGENT, CODEX_SESSION_HEADER
from mnemoir.wire.app_prompts import is_unfilled
from mnemoir.wire.session import asks_to_store, session_name

PROJECT_HEADERS = (b"x-mnemoir-project", b"x-etienne-project")  # the second is that of Etienne's page
# what clients of hosted services send beside everything: another name of the tenant, and of the project
TENANT_ALIAS, PROJECT_ALIAS = "org_id", "project_id"
# Open WebUI's ids of temporary chats: the id of the page's connection; earlier releases wrote "local:"
_TEMPORARY_CHATS = ("temporary:", "local:")


def project_of(scope: Scope, options: ServerOptions) -> Project:
    """The project: as `named_project` has it, else the default, else the key's first one.

    Raises InvalidRequest, and NotFound for a change of a project that the key is not for.
    """
    principal, project = principal_of(scope), project_name(_chosen_project(scope, options))
    if principal.projects is not None and project not in principal.projects:
        return Project(tenant=_elsewhere(f"There is no project {project!r} here."), project=project)
    return Project(tenant=principal.tenant, project=project)


def named_project(scope: Scope) -> str | None:
    """The project that a request names: in the query, else in a header of `PROJECT_HEADERS`; None for none.

    Raises InvalidRequest where headers name several.
    """
    sent = (query(scope, "project"), query(scope, PROJECT_ALIAS))
    in_query = next((name for name in sent if name is not None), None)
    return one_header(scope, *PROJECT_HEADERS) if in_query is None else in_query


def project_in_body(scope: Scope, project: Project, tenant: str | None, named: str | None) -> Project:
    """The project of a request whose body names its tenant and project by their aliases, as clients send them.

    Raises Forbidden where they are not the caller's, and InvalidRequest where the query or a header names another.
    """
    refuse_others(principal_of(scope), tenant, named)
    if named is None:
        return project
    if named_project(scope) not in (None, named):
        raise InvalidRequest(
            f"{PROJECT_ALIAS} in the body and the query or a header name two projects. Send one.", field=PROJECT_ALIAS
        )
    return Project(tenant=project.tenant, project=project_name(named))


def refuse_others(caller: Principal, tenant: str | None, project: str | None) -> None:
    """Raise Forbidden for a tenant or a project, by their aliases, that is not the caller's."""
    if tenant not in (None, caller.tenant):
        raise Forbidden(f"{TENANT_ALIAS} {quoted_name(tenant)} is not the tenant of this key. Leave it out.")
    if project is not None and caller.projects is not None and project not in caller.projects:
        raise Forbidden(f"This key is not for {PROJECT_ALIAS} {quoted_name(project)}. Use one of its own projects.")


def projects_of(scope: Scope, options: ServerOptions) -> Sequence[str]:
    """The projects in which a request acts, by what its route says; () for all of the tenant, and for no project.

    Names are as they were sent: the route refuses one that is none, or that the key is not for.
    """
    says, own = found_in(scope).says, principal_of(scope).projects or ()
    if "project" not in (says.query or ()):
        return ()
    if says.projects == "one":
        return (_chosen_project(scope, options),)
    named = named_project(scope)
    return own if named is None else (named,)


def _chosen_project(scope: Scope, options: ServerOptions) -> str:
    named, own = named_project(scope), principal_of(scope).projects
    if named is not None:
        return named
    return options.default_project if not own or options.default_project in own else own[0]


def project_in(scope: Owner) -> Project:
    """The project of a scope that was built for a request before."""
    return Project(tenant=scope.tenant, project=scope.project)


def owner(project: Project, user: object, field: str = "user_id", /, **narrowing: str | None) -> Owner:
    """The scope of one user of the project, narrowed by `agent_id`, `app_id` and `run_id`.

    Raises InvalidRequest naming `field` for a name that cannot be one, and NotFound for a change of what belongs to a
    user that the key is not for.
    """
    name, bound = entity_name(user, field), bound_user()
    tenant = project.tenant
    if bound not in (None, name) and tenant != NOWHERE:
        tenant = _elsewhere(f"There is no user {name[:80]!r} here.")
    note_read(name)
    return Owner(
        tenant=tenant,
        project=project.project,
        user=name,
        agent=narrowing.get("agent_id"),
        app=narrowing.get("app_id"),
        conversation=narrowing.get("run_id"),
    )


def person_of(scope: Scope, user: object, tenant: str | None) -> Owner:
    """A user in all projects of a tenant: the caller's, or the named one. Raises as `owner` and `tenant_of` do."""
    return owner(Project(tenant=tenant_of(principal_of(scope), tenant), project=""), user)


def tenant_of(caller: Principal, named: str | None) -> str:
    """The tenant of a request: the caller's, or another one for whoever has all data anyway.

    Raises Forbidden, also where there is no such tenant, and InvalidRequest for a name that cannot be one.
    """
    if named is None or named == caller.tenant:
        return caller.tenant
    if caller.owns_server:
        return project_name(named)
    raise Forbidden(
        f"Contents of the tenant {named[:80]!r} are for its own admins, and for the admin key of the settings."
    )


def acted_in(scope: Scope) -> str:
    """The tenant whose log a request is written to: the caller's, or the other one that it may name."""
    named = query(scope, "tenant") if "tenant" in (found_in(scope).says.query or ()) else None
    try:
        return tenant_of(principal_of(scope), named)
    except (Forbidden, InvalidRequest):
        return principal_of(scope).tenant


def bound_user() -> str | None:
    """The user that the key of this request is for; None for all."""
    return acting.get().principal.user


def default_user(options: ServerOptions) -> str:
    """The user of a request that names none."""
    return bound_user() or options.default_user


def named_user(user: str | None, doing: str) -> str:
    """`user`, when given, or the key's; an error otherwise, as a missing filter never means everybody's memories."""
    is_missing = user is None or not user.strip()
    return explicit_user(bound_user() if is_missing else user, doing)


def explicit_user(user: str | None, doing: str) -> str:
    """`user`, which must be given also with the key of one user: a name that is missing is never all that they have.

    Raises InvalidRequest (`missing_user_id`).
    """
    if user is None or not user.strip():
        raise InvalidRequest(
            f"user_id is missing: say whose memories to {doing}.", code="missing_user_id", field="user_id"
        )
    return user


def only_user(user: str | None) -> str | None:
    """The user whose things alone an id may name: the named one, or the key's; None for anybody's.

    Raises InvalidRequest for a name that cannot be one, and NotFound for one that the key is not for.
    """
    named, bound = None if user is None else entity_name(user, "user_id"), bound_user()
    if bound is not None and named not in (None, bound):
        raise NotFound("There is nothing with that id here.")
    if named is not None:
        note_read(named)
    return bound or named


def note_read(user: str) -> None:
    """Note for the audit log that somebody else than the user reads."""
    act = acting.get()
    if act.is_reading and act.principal.key and act.principal.user is None:
        act.users_read.add(user)


def _elsewhere(message: str) -> str:
    """The tenant to look in for what the key is not for. Raises NotFound for a change."""
    if acting.get().is_reading:
        return NOWHERE
    raise NotFound(message)


def chat_owner(scope: Scope, body: Mapping[str, Any], named: str | None, options: ServerOptions) -> Owner:
    """The scope of a chat, with its conversation.

    Its user is the key's, else from the body, the header `X-User-Id` or the settings; `named` is that in the body. A
    temporary chat belongs to no conversation.
    """
    conversation = None if is_temporary(scope, body) else session_id(scope, body, options)
    user = user_of(scope, options, named)
    return owner(project_of(scope, options), user, "user", run_id=conversation)


def user_of(scope: Scope, options: ServerOptions, named: str | None = None) -> str:
    """The user of a request: its key's, else the one that its body has `named`, the header's, the settings'.

    Raises InvalidRequest where headers name several, and for a placeholder that was not filled in: all who send it
    would be one person.
    """
    sent = one_header(scope, b"x-user-id")
    if (
        known := next((name for name in (bound_user(), named) if name is not None and name.strip()), None)
    ) is not None:
        return known
    if sent and is_unfilled(sent):
        raise InvalidRequest(
            f"The header X-User-Id is {quoted_name(sent)}, a placeholder that the client did not fill in. "
            "Write a name there, or leave the header out.",
            code="unfilled_placeholder",
            field="X-User-Id",
        )
    return sent or options.default_user


def session_id(scope: Scope, body: Mapping[str, Any], options: ServerOptions) -> str | None:
    """The first session id that is not blank, from the fields and then the headers; None when there is none.

    It is data and may look like a path. Raises InvalidRequest, naming the field or header, for an invalid name.
    """
    named = session_name(body, options.session_fields)
    if named is None:
        sent = ((name, value) for name in _session_headers(scope, options) for value in _values(scope, name))
        named = next(((name, value) for name, value in sent if value.strip()), None)
    return None if named is None else entity_name(named[1], field=named[0])


def _session_headers(scope: Scope, options: ServerOptions) -> Sequence[str]:
    """The headers that may name a session; Codex has one more, whose name is too plain to be read of others."""
    named = options.session_headers
    is_codex = named and (header(scope, b"user-agent") or "").lower().startswith(CODEX_AGENT)
    return (*named, CODEX_SESSION_HEADER) if is_codex else named


def is_temporary(scope: Scope, body: Mapping[str, Any]) -> bool:
    """True when nothing of the chat may be kept: the client says so, or Open WebUI marks the chat as temporary."""
    chat_id = header(scope, b"x-openwebui-chat-id") or ""
    return chat_id.startswith(_TEMPORARY_CHATS) or asks_to_store(body) is False


def _values(scope: Scope, name: str) -> Iterable[str]:
    """All values of a header."""
    wanted = _header_name(name)
    if wanted not in first_headers(scope):  # nearly all that may name a session
        return ()
    return [name_in(value) for key, value in scope["headers"] if key == wanted]


@lru_cache(maxsize=64)  # names of the settings
def _header_name(name: str) -> bytes:
    return name.lower().encode("latin-1")
