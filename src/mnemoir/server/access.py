"""The wall: who may ask at all, by key, by host and from which pages of a browser; and whose data a request is about.

Keys are asked for on every route but those that must answer without one, and compared in constant time. `/` and
`/api/version` are what Ollama's clients ask to see whether a server is there, most of them without a key. They say
that it is Mnemoir and which version of the protocol it speaks.

A server without keys trusts everything that reaches it, and on this machine every web page does: by a plain POST to
127.0.0.1, by an image or a frame of its address, or by a name of its own that resolves there (DNS rebinding). So a
keyless server refuses foreign origins, what the browser says that another site asks for unless a person followed a
link, and, on a loopback address, names that are not this machine's.

The guard leaves the principal in the ASGI scope. No other module of the server decides on a tenant or makes the scope
of a request, from who asks and what the request names.
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

OPEN_PATHS = frozenset({"/health", "/api/health", "/docs", "/openapi.json", "/", "/api/version"})
_SCHEMES = ("bearer ", "token ")
_TOKENS = re.compile(r"[A-Za-z0-9\-_, ]{1,2000}", re.ASCII)
_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_SHOWN = (
    b"X-Request-ID, X-Memory-Injected, X-Memory-Skipped, X-Mnemoir-Dropped, X-Overhead-Duration-Ms, "
    b"X-Conversation-Id, "
    b"X-Workflow-Run-Id, Retry-After"
)
ANYBODY = Principal()
KEY_HOLDER = Principal(has_key=True)
_PRINCIPAL = "mnemoir.principal"
# how Open WebUI names a temporary chat: by the connection of its page; earlier releases wrote "local:"
_TEMPORARY_CHATS = ("temporary:", "local:")


class Guard:
    """Refuses requests, answers preflights, and tells browsers which origins may read an answer.

    Of the keys only their hashes are kept.
    """

    def __init__(self, options: ServerOptions) -> None:
        self._hashes = [_hash(key) for key in options.api_keys]
        # on other addresses the operator has decided that everything that reaches it may ask, by any name
        self._checks_host = not options.api_keys and options.is_local
        self._hosts = {host.lower() for host in options.allowed_hosts}
        self._origins = {origin.lower().rstrip("/") for origin in options.cors_origins}

    def answer_browser(self, scope: Scope, send: Send) -> tuple[Response | None, Send]:
        """What to answer a foreign page or a preflight, None for all others; and how to send an answer."""
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
        """The refusal of a request without a key that is needed; None for one that may pass, as its principal."""
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
        # no early end: the time must not tell which key was nearly right
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
        return _is_this_machine(host) or _host_name(host) in self._hosts or host.lower() in self._hosts

    def _is_own(self, origin: str, host: str | None) -> bool:
        """Whether a page of this very server asks, reached by a name that nobody else can make resolve here."""
        scheme, _, rest = origin.partition("://")
        if host is None or scheme not in ("http", "https") or rest.lower() != host.lower():
            return False
        return self._is_ours(host) or _is_address(_host_name(host))

    def _allows(self, origin: str) -> bool:
        if origin.lower().rstrip("/") in self._origins:
            return True
        scheme, _, rest = origin.partition("://")
        return scheme in ("http", "https") and _is_this_machine(rest)


def presented_key(scope: Scope) -> str | None:
    """The key a request came with, from `Authorization: Bearer|Token`, `X-API-Key` or `api-key`; None without one."""
    authorization = header(scope, b"authorization") or ""
    if authorization.lower().startswith(_SCHEMES):
        return authorization.partition(" ")[2].strip() or None
    return header(scope, b"x-api-key") or header(scope, b"api-key") or None


def _hash(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


@lru_cache(maxsize=64)  # clients send the same one with every request
def _is_this_machine(host: str) -> bool:
    return is_loopback(_host_name(host))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_foreign(scope: Scope) -> bool:
    """Whether a browser says that another site's page asks, and not by a link that opens in a tab.

    Only browsers send these headers, and no page can change them.
    """
    if header(scope, b"sec-fetch-site") != "cross-site":
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
