"""Hosts and browser origins: which pages may call the server, and which read its answers.

A server without keys trusts every request that reaches it, and every web page open on this machine can send one: by a
plain POST to 127.0.0.1, by an image or a frame with that address, by a host name that resolves to it (DNS rebinding),
or from another port of this machine. So a keyless server refuses every origin but its own and those of the settings,
requests that the browser marks as another page's unless a person followed a link, and, on a loopback address, host
names that are not this machine's.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import Message, Scope, Send

from mnemoir.core.errors import Forbidden, MnemoirError
from mnemoir.server.door.errors import failure
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.request import header
from mnemoir.settings.addresses import is_loopback

_TOKENS = re.compile(r"[A-Za-z0-9\-_, ]{1,2000}", re.ASCII)
_LONGEST_SHOWN = 200  # characters of an origin
_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_SHOWN = (
    b"X-Request-ID, X-Memory-Injected, X-Memory-Skipped, X-Mnemoir-Degraded, X-Mnemoir-Dropped, "
    b"X-Overhead-Duration-Ms, X-Conversation-Id, "
    b"X-Workflow-Run-Id, X-Mnemoir-After, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"
)


class Origins:
    """Refuses foreign pages and hosts, answers preflights, and sends browsers the origins that may read an answer."""

    def __init__(self, options: ServerOptions) -> None:
        # on other addresses the operator has chosen to accept every request, under any host name
        self._checks_host = options.is_local
        self._hosts = {host.lower() for host in options.allowed_hosts}
        self._origins = {origin.lower().rstrip("/") for origin in options.cors_origins}
        if options.public_url is not None:
            public = urlsplit(options.public_url.lower())
            self._hosts.add(public.netloc)
            self._origins.add(f"{public.scheme}://{public.netloc}")

    def answer(self, scope: Scope, send: Send, *, needs_key: Callable[[], bool]) -> tuple[Response | None, Send]:
        """The answer to a foreign page or a preflight, None for all other requests; and the `send` for any answer.

        Whether the server needs a key is looked up only where that matters.
        """
        host = header(scope, b"host")
        if self._checks_host and host is not None and not self._is_ours(host) and not needs_key():
            refusal = Forbidden(
                "This Host is not allowed: a server without keys answers to localhost only. "
                "Call 127.0.0.1, or add the name to server.allowed_hosts."
            )
            return failure(scope, refusal), send
        origin = header(scope, b"origin")
        if origin is not None:
            return self._answer_origin(origin, scope, send, needs_key=needs_key)
        if is_foreign(scope) and not needs_key():
            return failure(scope, Forbidden("Another site's page asked for this. Open it in a tab of its own.")), send
        return None, send

    def _answer_origin(
        self, origin: str, scope: Scope, send: Send, *, needs_key: Callable[[], bool]
    ) -> tuple[Response | None, Send]:
        allowed = self._allows(origin) or self._is_own(origin, header(scope, b"host"))
        preflight = scope["method"] == "OPTIONS" and header(scope, b"access-control-request-method") is not None
        if allowed:
            return (_preflight(scope) if preflight else None), _readable_by(origin, send)
        if preflight or not needs_key():
            return failure(scope, _foreign(origin)), send
        return None, send

    def refusal_of_page(self, scope: Scope) -> MnemoirError | None:
        """The error for the request of a page of another origin, whatever key it has; None for all other requests."""
        origin = header(scope, b"origin")
        if origin is None or self._allows(origin) or self._is_own(origin, header(scope, b"host")):
            return None
        return _foreign(origin)

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


def _foreign(origin: str) -> MnemoirError:
    named = origin.rstrip("/")[:_LONGEST_SHOWN]
    return Forbidden(f"The origin {named!r} is not allowed. Add it to server.cors_origins if it is yours.")


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


def is_foreign(scope: Scope) -> bool:
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
