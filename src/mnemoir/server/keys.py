"""API keys: asked for on every route but those that must answer without one, compared in constant time.

`/` and `/api/version` are what Ollama's clients ask to see whether a server is there, most of them without a key.
They say that it is Mnemoir and which version of the protocol it speaks.
"""

import hmac
from collections.abc import Sequence
from hashlib import sha256

from starlette.types import ASGIApp, Receive, Scope, Send

from mnemoir.core.errors import Unauthorized
from mnemoir.server.errors import failure
from mnemoir.server.visit import header

OPEN_PATHS = frozenset({"/health", "/api/health", "/docs", "/openapi.json", "/", "/api/version"})
_SCHEMES = ("bearer ", "token ")


class Keys:
    """Lets through who holds one of the keys; only their hashes are kept."""

    def __init__(self, app: ASGIApp, keys: Sequence[str]) -> None:
        self._app = app
        self._hashes = [_hash(key) for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._hashes and scope["path"] not in OPEN_PATHS and not self._knows(presented_key(scope)):
            refusal = Unauthorized(
                "A valid API key is needed: send it as `Authorization: Bearer <key>`, `X-API-Key` or `api-key`."
            )
            await failure(scope, refusal)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _knows(self, key: str | None) -> bool:
        hashed = _hash(key or "")
        # no early end: the time must not tell which key was nearly right
        return sum(hmac.compare_digest(hashed, known) for known in self._hashes) > 0


def presented_key(scope: Scope) -> str | None:
    """The key a request came with, from `Authorization: Bearer|Token`, `X-API-Key` or `api-key`; None without one."""
    authorization = header(scope, b"authorization") or ""
    if authorization.lower().startswith(_SCHEMES):
        return authorization.partition(" ")[2].strip() or None
    return header(scope, b"x-api-key") or header(scope, b"api-key") or None


def _hash(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()
