"""The wall: whose data a request is about, from who asks and what the request names.

The guard leaves the principal in the ASGI scope. No other module of the server decides on a tenant or makes the scope
of a request.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from starlette.types import Scope

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import Act, Principal, acting, entity_name, project_name
from mnemoir.core.scope import Scope as Owner
from mnemoir.ports.memory_store import Project
from mnemoir.server.options import ServerOptions
from mnemoir.server.request import header, query, visit_of
from mnemoir.wire.session import asks_to_store, session_name

ANYBODY = Principal()
KEY_HOLDER = Principal(has_key=True)
_PRINCIPAL = "mnemoir.principal"
# how Open WebUI names a temporary chat: by the connection of its page; earlier releases wrote "local:"
_TEMPORARY_CHATS = ("temporary:", "local:")


def admit(scope: Scope, principal: Principal) -> None:
    """Let a request pass as that principal's, in whose name everything behind the guard is done."""
    scope[_PRINCIPAL] = principal
    acting.set(Act(principal=principal, request_id=visit_of(scope).request_id))


def principal_of(scope: Scope) -> Principal:
    """Who asks. Raises LookupError for a request that has not passed the guard."""
    principal = scope.get(_PRINCIPAL)
    if not isinstance(principal, Principal):
        raise LookupError("the request has not passed the guard")
    return principal


def project_of(scope: Scope, options: ServerOptions) -> Project:
    """Query `project`, else header `X-Etienne-Project`, else the default. Raises InvalidRequest."""
    named = query(scope, "project")
    if named is None:
        named = header(scope, b"x-etienne-project")
    project = options.default_project if named is None else project_name(named)
    return Project(tenant=principal_of(scope).tenant, project=project)


def project_in(scope: Owner) -> Project:
    """The project of a scope that a request was given before."""
    return Project(tenant=scope.tenant, project=scope.project)


def owner(project: Project, user: object, field: str = "user_id", /, **narrowing: str | None) -> Owner:
    """The scope of one user of the project, narrowed by `agent_id`, `app_id` and `run_id`.

    Raises InvalidRequest naming `field` for a name that cannot be one.
    """
    return Owner(
        tenant=project.tenant,
        project=project.project,
        user=entity_name(user, field),
        agent=narrowing.get("agent_id"),
        app=narrowing.get("app_id"),
        conversation=narrowing.get("run_id"),
    )


def named_user(user: str | None, doing: str) -> str:
    """`user`, when given: a missing filter never means everybody's memories."""
    if user is None or not user.strip():
        raise InvalidRequest(
            f"user_id is missing: say whose memories to {doing}.", code="missing_user_id", field="user_id"
        )
    return user


def chat_owner(scope: Scope, body: Mapping[str, Any], named: str | None, options: ServerOptions) -> Owner:
    """The scope of a chat: its user from the body, the header `X-User-Id` or the settings, and its conversation.

    `named` is the user that the body names. A temporary chat belongs to no conversation.
    """
    given = (name for name in (named, header(scope, b"x-user-id")) if name is not None and name.strip())
    conversation = None if is_temporary(scope, body) else session_id(scope, body, options)
    user = next(given, options.default_user)
    return owner(project_of(scope, options), user, "user", run_id=conversation)


def session_id(scope: Scope, body: Mapping[str, Any], options: ServerOptions) -> str | None:
    """The first id that is not blank, of the fields and then of the headers; None when there is none.

    It is data and may look like a path. Raises InvalidRequest, naming the field or header, for what can be no name.
    """
    named = session_name(body, options.session_fields)
    if named is None:
        sent = ((name, value) for name in options.session_headers for value in _values(scope, name))
        named = next(((name, value) for name, value in sent if value.strip()), None)
    return None if named is None else entity_name(named[1], field=named[0])


def is_temporary(scope: Scope, body: Mapping[str, Any]) -> bool:
    """Whether nothing of the chat may outlive its answer: the client says so, or Open WebUI calls it temporary."""
    chat_id = header(scope, b"x-openwebui-chat-id") or ""
    return chat_id.startswith(_TEMPORARY_CHATS) or asks_to_store(body) is False


def _values(scope: Scope, name: str) -> Iterator[str]:
    """All values of a header. As UTF-8 where they are that, so that an id is the same in a header as in a body."""
    wanted = name.lower().encode("latin-1")
    for key, value in scope["headers"]:
        if key == wanted:
            try:
                yield value.decode()
            except UnicodeDecodeError:
                yield value.decode("latin-1")
