"""The web UI: one page, its assets, and the facts it needs before it has a key.

The files are built from `ui/` into `static/` in the server's folder. A page is served to every request for HTML,
without a key: it contains no data, and loads everything it shows from the API.
"""

import asyncio
import gzip
import mimetypes
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Scope

from mnemoir import __version__
from mnemoir.server.door.access import Guard
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.request import ASSETS, header, note_route

STATIC = Path(__file__).parents[1] / "static"
PAGES = frozenset(
    {
        "/",
        "/memories",
        "/conversations",
        "/runs",
        "/workflows",
        "/connect",
        "/keys",
        "/status",
        "/account",
        "/join",
        "/past",
    }
)
ABOUT = "/api/ui"
NONCE = "MNEMOIR_NONCE"  # the placeholder in the built page
_BASE = '<base href="/" />'
_NOT_BUILT = (
    "Mnemoir is running. This installation has no web pages: in a checkout, `make ui` builds them. "
    "The API is described at /docs."
)
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))")  # q=0 means that the client cannot read it
_COMPRESSED = ("text/", "application/json", "image/svg")
_SECURITY = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Ui:
    """Serves the files of the UI. Names are looked up among the built files."""

    def __init__(self, options: ServerOptions, guard: Guard, static: Path = STATIC) -> None:
        self._root = options.root_path
        self._about = {
            "version": __version__,
            "project": options.default_project,
            "user": options.default_user,
        }
        self._guard = guard
        self._static = static
        self._built: Mapping[str, _Asset] | None = None
        self._reading = asyncio.Lock()

    async def answer(self, scope: Scope) -> Response | None:
        """The answer to a GET of a page or a file of the UI; None for all other paths."""
        path = scope["path"]
        template = await self.template(path)
        if not template or (template == "/" and not _wants_page(scope)):
            return None
        note_route(scope, template)
        if path == ABOUT:
            return JSONResponse(self._about | {"needs_key": self._guard.needs_key})
        if template == "/ui":
            return RedirectResponse(f"{self._root}/")
        if path in PAGES:
            return await self._page()
        asset = (await self._files())[path.removeprefix("/")]
        return await asset.answer(header(scope, b"accept-encoding") or "")

    async def template(self, path: str) -> str:
        """What the log calls a path at which a GET gets a page or a file of the UI; "" for all other paths."""
        if path == ABOUT or path in PAGES:
            return path
        if path == "/ui" or path.startswith("/ui/"):
            return "/ui"
        is_file = path != "/index.html" and path.removeprefix("/") in await self._files()
        return ASSETS if is_file else ""

    async def no_such_page(self, scope: Scope) -> Response | None:
        """The page that says so, for a browser at an address that no route has; None for other clients."""
        return await self._page(404) if _wants_page(scope) else None

    async def _page(self, status: int = 200) -> Response:
        built = (await self._files()).get("index.html")
        if built is None:
            return PlainTextResponse(_NOT_BUILT, status)
        nonce = secrets.token_urlsafe(16)
        html = built.body.decode().replace(NONCE, nonce).replace(_BASE, f'<base href="{escape(self._root)}/" />')
        headers = {"content-security-policy": content_security(nonce), "vary": "Accept"}
        return Response(html, status, headers=headers | _SECURITY, media_type="text/html")

    async def _files(self) -> Mapping[str, "_Asset"]:
        """All built files, read at the first request: pages and assets of one build belong together."""
        async with self._reading:
            if self._built is None:
                self._built = await asyncio.to_thread(_read, self._static)
            return self._built


def _wants_page(scope: Scope) -> bool:
    return "text/html" in (header(scope, b"accept") or "")


def content_security(nonce: str) -> str:
    """The Content-Security-Policy of a page: its own files, and style elements with `nonce`."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' blob:; "
        "font-src 'self'; connect-src 'self'; manifest-src 'self'; "
        "base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
    )


def _read(static: Path) -> dict[str, "_Asset"]:
    files = ((file.relative_to(static).as_posix(), file) for file in static.rglob("*") if file.is_file())
    return {name: _Asset(name, _type_of(file), file.read_bytes()) for name, file in files}


def _type_of(file: Path) -> str:
    known = "text/javascript" if file.suffix == ".js" else mimetypes.guess_type(file.name)[0]
    return known or "application/octet-stream"


@dataclass(slots=True)
class _Asset:
    name: str
    type: str
    body: bytes
    gzipped: bytes | None = None

    async def answer(self, accepted: str) -> Response:
        """The file, gzip-encoded where that is accepted and makes it smaller."""
        fresh = "public, max-age=31536000, immutable" if self.name.startswith("assets/") else "no-cache"
        headers = {"cache-control": fresh, "vary": "Accept-Encoding"} | _SECURITY
        if not _GZIP.search(accepted) or not self.type.startswith(_COMPRESSED):
            return Response(self.body, headers=headers, media_type=self.type)
        if self.gzipped is None:
            self.gzipped = await asyncio.to_thread(partial(gzip.compress, self.body, 6, mtime=0))
        return Response(self.gzipped, headers=headers | {"content-encoding": "gzip"}, media_type=self.type)
