"""Routes for the operators of the server: health, readiness, metrics and API documentation."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from typing import Any, Literal, NotRequired

import orjson
from fastapi import Request
from starlette.responses import JSONResponse, Response

from mnemoir import __version__
from mnemoir.app.parts import Parts
from mnemoir.app.status import vector_backlog
from mnemoir.core.errors import NotFound, StorageUnavailable
from mnemoir.server.entry import CONTENT_TYPE
from mnemoir.server.errors import outward, status_of
from mnemoir.server.request import visit_of
from mnemoir.server.rest import Answer, JsonObject, Routes, SiteHere

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
h3 { font: 600 1rem ui-monospace, monospace; margin: 1.5rem 0 .25rem; }
h3 b { display: inline-block; min-width: 4.5rem; color: #0b5d57; }
p { margin: .25rem 0; }
table { border-collapse: collapse; margin: .5rem 0; }
td { padding: .15rem 1rem .15rem 0; vertical-align: top; }
code, pre { font: .875rem ui-monospace, monospace; }
pre { background: #f4f4f4; padding: .75rem; overflow-x: auto; }
@media (prefers-color-scheme: dark) {
  body { background: #161616; color: #e6e6e6; }
  h2 { border-color: #444; }
  h3 b { color: #6cc; }
  pre { background: #222; }
}
"""
CONTENT_SECURITY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
router = Routes(tags=["operations"])


def page(schema: Mapping[str, Any]) -> str:
    """The page for an OpenAPI description."""
    info = schema["info"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(info['title'])}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info.get('description', ''))}</p>"
        '<p>For machines: <a href="openapi.json">openapi.json</a></p>'
        f"{''.join(_sections(schema['paths']))}<h2>Bodies</h2>"
        f"{''.join(_schemas(schema.get('components', {}).get('schemas', {})))}</body></html>"
    )


def _sections(paths: Mapping[str, Any]) -> Iterator[str]:
    by_tag: dict[str, list[str]] = {}
    for path, operations in paths.items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or ["other"])[0]
            by_tag.setdefault(tag, []).append(_operation(method, path, operation))
    for tag, shown in by_tag.items():
        yield f"<h2>{escape(tag)}</h2>{''.join(shown)}"


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parameters = "".join(_parameter(parameter) for parameter in operation.get("parameters", ()))
    table = f"<table>{parameters}</table>" if parameters else ""
    return (
        f"<h3><b>{escape(method.upper())}</b> {escape(path)}</h3>"
        f"<p>{escape(operation.get('summary', ''))}</p>{_body(operation)}{table}"
    )


def _parameter(parameter: Mapping[str, Any]) -> str:
    needed = ", required" if parameter.get("required") else ""
    return (
        f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{escape(parameter['in'])}{needed}</td>"
        f"<td>{escape(parameter.get('description', ''))}</td></tr>"
    )


def _body(operation: Mapping[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return f'<p>Body: <a href="#{escape(name)}">{escape(name)}</a></p>' if name else ""


def _schemas(schemas: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in schemas.items():
        shown = orjson.dumps(schema, option=orjson.OPT_INDENT_2).decode()
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3><pre>{escape(shown)}</pre>'


class Health(JsonObject):
    """The health of the server. `llm` is `missing` where the offline model replaces a real one."""

    status: Literal["ok"]
    version: str
    storage: Literal["ok"]
    llm: Literal["configured", "missing"]


class Unhealthy(JsonObject):
    """Health where the storage fails, with the members of an error."""

    status: Literal["unavailable"]
    version: str
    storage: Literal["unavailable"]
    llm: Literal["configured", "missing"]
    detail: str
    error: str
    code: str
    request_id: str


class VectorBacklog(JsonObject):
    """The number of texts without a vector of the embedding model in use, and the number of all texts."""

    model: str
    pending: int
    of: int


class Ready(Health):
    """Health, and the backlog of vectors. `degraded` are damaged files that were set aside; it is left out else."""

    vectors: VectorBacklog
    degraded: NotRequired[list[str]]


_UNHEALTHY: dict[int | str, dict[str, Any]] = {503: {"model": Unhealthy, "description": "The storage does not work"}}


@router.get("/health", summary="Whether the server and its storage work", responses=_UNHEALTHY)
@router.get("/api/health", include_in_schema=False)
async def health(request: Request, site: SiteHere) -> Answer[Health] | Answer[Unhealthy]:
    return await _unhealthy(request, site) or Answer(_health(site.parts))


@router.get(
    "/ready",
    summary="Health, and how many texts still wait for a vector of the embedding model in use",
    responses=_UNHEALTHY,
)
async def ready(request: Request, site: SiteHere) -> Answer[Ready] | Answer[Unhealthy]:
    unhealthy = await _unhealthy(request, site, writes=True)
    if unhealthy is not None:
        return unhealthy
    pending, total = await vector_backlog(site.parts)
    vectors: VectorBacklog = {"model": site.parts.embedding.name, "pending": pending, "of": total}
    told: Ready = {**_health(site.parts), "vectors": vectors}
    if damaged := await site.parts.stock.damaged():
        told["degraded"] = damaged
    return Answer[Ready](told)


def _llm(parts: Parts) -> Literal["configured", "missing"]:
    """`configured` when a real model answers chats: the server's own, or those named in a config tree."""
    return "configured" if parts.workflows.serves_tree or parts.model.provider != "offline" else "missing"


def _health(parts: Parts) -> Health:
    return {"status": "ok", "version": __version__, "storage": "ok", "llm": _llm(parts)}


async def _unhealthy(request: Request, site: SiteHere, *, writes: bool = False) -> Answer[Unhealthy] | None:
    """The answer when the storage fails; None when it works. With `writes` each folder is written to, too."""
    try:
        await site.parts.store.check()
        if writes:
            await site.parts.stock.check_writes()
    except StorageUnavailable as exc:
        told_of = outward(exc).message
        told: Unhealthy = {
            "status": "unavailable",
            "version": __version__,
            "storage": "unavailable",
            "llm": _llm(site.parts),
            "detail": told_of,
            "error": told_of,
            "code": exc.code,
            "request_id": visit_of(request.scope).request_id,
        }
        return Answer(told, status_of(exc))
    return None


@router.get("/metrics", summary="Figures for Prometheus, when switched on")
async def metrics(site: SiteHere) -> Response:
    if site.metrics is None:
        raise NotFound("Metrics are switched off. Set server.metrics to true.")
    return Response(site.metrics.text(), headers={"content-type": CONTENT_TYPE})


@router.get("/docs", include_in_schema=False)
async def docs(request: Request, site: SiteHere) -> Response:
    _check_docs(site)
    headers = {"content-security-policy": CONTENT_SECURITY}
    return Response(page(request.app.openapi()), headers=headers, media_type="text/html")


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request, site: SiteHere) -> Response:
    _check_docs(site)
    return JSONResponse(request.app.openapi())


def _check_docs(site: SiteHere) -> None:
    if not site.options.docs:
        raise NotFound("The documentation is switched off. Set server.docs to true.")
