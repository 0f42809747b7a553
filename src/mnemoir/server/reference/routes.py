"""The description of the API, as JSON and as a page. None of it asks for a key, for it holds nothing of a user."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from fastapi import Request
from starlette.responses import JSONResponse, Response

from mnemoir.core.errors import NotFound
from mnemoir.server.door.says import says
from mnemoir.server.reference.page import STYLE, page
from mnemoir.server.rest import Routes, SiteHere

SCRIPT = Path(__file__).with_name("try.js")
CONTENT_SECURITY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; "
    "script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
router = Routes(tags=["operations"])


@router.get("/docs", include_in_schema=False)
@says("open")
async def docs(request: Request, site: SiteHere) -> Response:
    _check_docs(site)
    root, needs_key = site.options.root_path, site.guard.needs_key
    headers = {"content-security-policy": CONTENT_SECURITY}
    return Response(
        page(request.app.openapi(), root=root, needs_key=needs_key), headers=headers, media_type="text/html"
    )


@router.get("/docs/try.js", include_in_schema=False)
@says("open")
def script(site: SiteHere) -> Response:
    _check_docs(site)
    return Response(SCRIPT.read_bytes(), headers={"cache-control": "no-cache"}, media_type="text/javascript")


@router.get("/openapi.json", include_in_schema=False)
@says("open")
async def openapi(request: Request, site: SiteHere) -> Response:
    _check_docs(site)
    return JSONResponse(request.app.openapi())


def _check_docs(site: SiteHere) -> None:
    if not site.options.docs:
        raise NotFound("The documentation is switched off. Set server.docs to true.")
