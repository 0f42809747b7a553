"""For those who run the server: is it well, what does it count, how is it used."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from mnemoir import __version__
from mnemoir.app.parts import Parts
from mnemoir.core.errors import NotFound, StorageUnavailable
from mnemoir.server.errors import status_of
from mnemoir.server.metrics import CONTENT_TYPE
from mnemoir.server.rest import SiteHere
from mnemoir.server.status.docs_page import CONTENT_SECURITY, page
from mnemoir.server.status.health import Health, Ready, Unhealthy
from mnemoir.server.visit import visit_of

router = APIRouter(tags=["operations"])


_UNHEALTHY: dict[int | str, dict[str, Any]] = {503: {"model": Unhealthy, "description": "The storage does not work"}}


@router.get("/health", summary="Whether the server and its storage work", response_model=Health, responses=_UNHEALTHY)
@router.get("/api/health", include_in_schema=False)
async def health(request: Request, site: SiteHere) -> Response:
    body, status = await _state(request, site)
    return JSONResponse(body, status_code=status)


@router.get(
    "/ready",
    summary="Health, and how many texts still wait for a vector of the embedding model in use",
    response_model=Ready,
    responses=_UNHEALTHY,
)
async def ready(request: Request, site: SiteHere) -> Response:
    body, status = await _state(request, site)
    if status == 200:
        pending, total = await site.parts.store.backlog(site.parts.embedding.name)
        body["vectors"] = {"model": site.parts.embedding.name, "pending": pending, "of": total}
    return JSONResponse(body, status_code=status)


def _has_model(parts: Parts) -> bool:
    """Whether chats are answered by a real one: the server's own, or those that a config tree names."""
    return parts.workflows.serves_tree or parts.model.provider != "offline"


async def _state(request: Request, site: SiteHere) -> tuple[dict[str, Any], int]:
    body = {
        "status": "ok",
        "version": __version__,
        "storage": "ok",
        "llm": "configured" if _has_model(site.parts) else "missing",
    }
    try:
        await site.parts.store.check()
    except StorageUnavailable as exc:
        told = {"detail": exc.message, "error": exc.message, "code": exc.code}
        broken = {"status": "unavailable", "storage": "unavailable", "request_id": visit_of(request.scope).request_id}
        return body | broken | told, status_of(exc)
    return body, 200


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
