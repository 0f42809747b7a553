"""Access control: the check of a request's key, host and browser origin, and the scope of data a request is about.

Every route requires a key except those that must answer without one; keys are compared in constant time. Ollama's
clients request `/` and `/api/version` to detect a server, most of them without a key. The answers name Mnemoir and
the version of the protocol it speaks.

A server without keys trusts every request that reaches it, and every web page open on this machine can send one: by a
plain POST to 127.0.0.1, by an image or a frame with that address, by a host name that resolves to it (DNS rebinding),
or from another port of this machine. So a keyless server refuses every origin but its own and those of the settings,
requests that the browser marks as another page's unless a person followed a link, and, on a loopback address, host
names that are not this machine's.

The guard stores the principal in the ASGI scope. No other module of the server chooses a tenant or builds the data
scope of a request from its principal and the names in it.
"""

import hmac
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import Message, Scope, Send

from mnemoir.core.errors import Forbidden, InvalidRequest, Unauthorized
from mnemoir.core.scope import Act, Principal, acting, entity_name, project_name
from mnemoir.core.scope import Scope as Owner
from mnemoir.ports.memory_store import Project
from mnemoir.server.errors import failure
from mnemoir.server.options import ServerOptions
from mnemoir.server.request import header, query, visit_of
from mnemoir.settings.addresses import is_loopback
from mnemoir.wire.session import asks_to_store, session_name

OPEN_PATHS = frozenset({"/health", "/api/health", "/docs", "/docs/try.js", "/openapi.json", "/", "/api/version"})
PROJECT_HEADERS = (b"x-mnemoir-project", b"x-etienne-project")  # the second is that of Etienne's page
_SCHEMES = ("bearer ", "token ")
_TOKENS = re.compile(r"[A-Za-z0-9\-_, ]{1,2000}", re.ASCII)
_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_SHOWN = (
    b"X-Request-ID, X-Memory-Injected, X-Memory-Skipped, X-Mnemoir-Dropped, X-Overhead-Duration-Ms, "
    b"X-Conversation-Id, "
    b"X-Workflow-Run-Id, X-Mnemoir-After, Retry-After"
)
ANYBODY = Principal()
KEY_HOLDER = Principal(has_key=True)
_PRINCIPAL = "mnemoir.principal"
# Open WebUI's ids of temporary chats: the id of the page's connection; earlier releases wrote "local:"
_TEMPORARY_CHATS = ("temporary:", "local:")


class Guard:
    """Refuses requests, answers preflights, and sends browsers the origins that may read an answer.

    Only the hashes of the keys are kept.
    """

    def __init__(self, options: ServerOptions) -> None:
        self._hashes = [_hash(key) for key in options.api_keys]
        # on other addresses the operator has chosen to accept every request, under any host name
        self._checks_host = not options.api_keys and options.is_local
        self._hosts = {host.lower() for host in options.allowed_hosts}
        self._origins = {origin.lower().rstrip("/") for origin in options.cors_origins}

    def answer_browser(self, scope: Scope, send: Send) -> tuple[Response | None, Send]:
        """The answer to a foreign page or a preflight, None for all other requests; and the `send` for any answer."""
        host = header(scope, b"host")
        if self._checks_host and host is not None and not self._is_ours(host):
            refusal = Forbidden(
                "This Host is not allowed: a server without keys answers to localhost only. "
                "Call 127.0.0.1, or add the name to server.allowed_hosts."
            )
            return failure(scope, refusal), send
        origin = header(scope, b"origin")
        if origin is not None:
            return self._answer_origin(origin, scope, send)
        if not self._hashes and _is_foreign(scope):
            return failure(scope, Forbidden("Another site's page asked for this. Open it in a tab of its own.")), send
        return None, send

    def refuse_key(self, scope: Scope) -> Response | None:
        """The refusal of a request without a required key; None for one that may pass, which is then admitted."""
        if not self._hashes or scope["path"] in OPEN_PATHS:
            admit(scope, ANYBODY)
            return None
        if self._knows(presented_key(scope)):
            admit(scope, KEY_HOLDER)
            return None
        return failure(
            scope,
            Unauthorized(
                "A valid API key is needed: send it as `Authorization: Bearer <key>`, `X-API-Key` or `api-key`."
            ),
        )

    def _knows(self, key: str | None) -> bool:
        hashed = _hash(key or "")
        # no early end: the time taken must not show which key was nearly right
        return sum(hmac.compare_digest(hashed, known) for known in self._hashes) > 0

    def _answer_origin(self, origin: str, scope: Scope, send: Send) -> tuple[Response | None, Send]:
        allowed = self._allows(origin) or self._is_own(origin, header(scope, b"host"))
        preflight = scope["method"] == "OPTIONS" and header(scope, b"access-control-request-method") is not None
        if allowed:
            return (_preflight(scope) if preflight else None), _readable_by(origin, send)
        if preflight or not self._hashes:
            refusal = Forbidden("This Origin is not allowed. Add it to server.cors_origins if it is yours.")
            return failure(scope, refusal), send
        return None, send

    def _is_ours(self, host: str) -> bool:
        return is_this_machine(host) or _host_name(host) in self._hosts or host.lower() in self._hosts

    def _is_own(self, origin: str, host: str | None) -> bool:
        """True for a page of this server itself, loaded by a host name that no other party can make resolve to it."""
        scheme, _, rest = origin.partition("://")
        if host is None or scheme not in ("http", "https") or rest.lower() != host.lower():
            return False
        return self._is_ours(host) or _is_address(_host_name(host))

    def _allows(self, origin: str) -> bool:
        return origin.lower().rstrip("/") in self._origins


def presented_key(scope: Scope) -> str | None:
    """The key sent with a request, from `Authorization: Bearer|Token`, `X-API-Key` or `api-key`; None without one."""
    authorization = header(scope, b"authorization") or ""
    if authorization.lower().startswith(_SCHEMES):
        return authorization.partition(" ")[2].strip() or None
    return header(scope, b"x-api-key") or header(scope, b"api-key") or None


def _hash(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


@lru_cache(maxsize=64)  # clients send the same one with every request
def is_this_machine(host: str) -> bool:
    """True for `name:port` with a name that only means this machine."""
    return is_loopback(_host_name(host))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_foreign(scope: Scope) -> bool:
    """True when a browser marks the request as one of another page, except for a link that opens in a tab.

    The same site is another page, too: another port of this machine. Only browsers send these headers, and no page
    can change them.
    """
    if header(scope, b"sec-fetch-site") not in ("cross-site", "same-site"):
        return False
    followed = header(scope, b"sec-fetch-mode") == "navigate" and header(scope, b"sec-fetch-dest") == "document"
    return not (followed and scope["method"] in ("GET", "HEAD"))


def _host_name(host: str) -> str:
    """The name of `name:port`; "" when it is none."""
    try:
        parts = urlsplit(f"//{host}")
        plain = parts.username is None and not parts.path and not parts.query and not parts.fragment
        return (parts.hostname or "") if plain else ""
    except ValueError:
        return ""


def _preflight(scope: Scope) -> Response:
    asked = header(scope, b"access-control-request-headers") or ""
    headers = {"access-control-allow-methods": _METHODS, "access-control-max-age": "600"}
    if _TOKENS.fullmatch(asked):
        headers["access-control-allow-headers"] = asked
    return Response(b"{}", headers=headers, media_type="application/json")


def _readable_by(origin: str, send: Send) -> Send:
    extra = [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", _SHOWN),
        (b"vary", b"Origin"),
    ]

    async def telling(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *extra]
        await send(message)

    return telling


def admit(scope: Scope, principal: Principal) -> None:
    """Let a request pass the guard and store its principal, under whose rights all later code runs."""
    scope[_PRINCIPAL] = principal
    acting.set(Act(principal=principal, request_id=visit_of(scope).request_id))


def principal_of(scope: Scope) -> Principal:
    """The principal of a request. Raises LookupError for a request that has not passed the guard."""
    principal = scope.get(_PRINCIPAL)
    if not isinstance(principal, Principal):
        raise LookupError("the request has not passed the guard")
    return principal


def project_of(scope: Scope, options: ServerOptions) -> Project:
    """The project: query `project`, else a header of `PROJECT_HEADERS`, else the default. Raises InvalidRequest."""
    named = query(scope, "project")
    if named is None:
        sent = (header(scope, name) for name in PROJECT_HEADERS)
        named = next((name for name in sent if name is not None), None)
    project = options.default_project if named is None else project_name(named)
    return Project(tenant=principal_of(scope).tenant, project=project)


def project_in(scope: Owner) -> Project:
    """The project of a scope that was built for a request before."""
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
    """`user`, when given; an error otherwise, since a missing filter never means the memories of all users."""
    if user is None or not user.strip():
        raise InvalidRequest(
            f"user_id is missing: say whose memories to {doing}.", code="missing_user_id", field="user_id"
        )
    return user


def chat_owner(scope: Scope, body: Mapping[str, Any], named: str | None, options: ServerOptions) -> Owner:
    """The scope of a chat: its user from the body, the header `X-User-Id` or the settings, and its conversation.

    `named` is the user in the body. A temporary chat belongs to no conversation.
    """
    given = (name for name in (named, header(scope, b"x-user-id")) if name is not None and name.strip())
    conversation = None if is_temporary(scope, body) else session_id(scope, body, options)
    user = next(given, options.default_user)
    return owner(project_of(scope, options), user, "user", run_id=conversation)


def session_id(scope: Scope, body: Mapping[str, Any], options: ServerOptions) -> str | None:
    """The first session id that is not blank, from the fields and then the headers; None when there is none.

    It is data and may look like a path. Raises InvalidRequest, naming the field or header, for an invalid name.
    """
    named = session_name(body, options.session_fields)
    if named is None:
        sent = ((name, value) for name in options.session_headers for value in _values(scope, name))
        named = next(((name, value) for name, value in sent if value.strip()), None)
    return None if named is None else entity_name(named[1], field=named[0])


def is_temporary(scope: Scope, body: Mapping[str, Any]) -> bool:
    """True when nothing of the chat may be kept: the client says so, or Open WebUI marks the chat as temporary."""
    chat_id = header(scope, b"x-openwebui-chat-id") or ""
    return chat_id.startswith(_TEMPORARY_CHATS) or asks_to_store(body) is False


def _values(scope: Scope, name: str) -> Iterator[str]:
    """All values of a header, decoded as UTF-8 where valid, so that an id is the same in a header as in a body."""
    wanted = name.lower().encode("latin-1")
    for key, value in scope["headers"]:
        if key == wanted:
            try:
                yield value.decode()
            except UnicodeDecodeError:
                yield value.decode("latin-1")
