"""Routes for the operators of the server: health, readiness and metrics."""

from typing import Any, Literal, NotRequired

from fastapi import Request
from starlette.responses import Response

from mnemoir import __version__
from mnemoir.app.parts import Parts
from mnemoir.app.status import vector_backlog
from mnemoir.core.errors import NotFound, StorageUnavailable
from mnemoir.server.door.entry import CONTENT_TYPE
from mnemoir.server.door.errors import outward, status_of
from mnemoir.server.door.request import visit_of
from mnemoir.server.door.says import says
from mnemoir.server.rest import Answer, JsonObject, Routes, SiteHere

router = Routes(tags=["operations"])


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
    """Health, and the backlog of vectors. `degraded` are files that are gone or damaged; it is left out else."""

    vectors: VectorBacklog
    degraded: NotRequired[list[str]]


_UNHEALTHY: dict[int | str, dict[str, Any]] = {503: {"model": Unhealthy, "description": "The storage does not work"}}


@router.get("/health", summary="Whether the server and its storage work", responses=_UNHEALTHY)
@router.get("/api/health", include_in_schema=False)
@says("open")
async def health(request: Request, site: SiteHere) -> Answer[Health] | Answer[Unhealthy]:
    return await _unhealthy(request, site) or Answer(_health(site.parts))


@router.get(
    "/ready",
    summary="Health, and how many texts still wait for a vector of the embedding model in use",
    responses=_UNHEALTHY,
)
@says("server", by_cookie=False)
async def ready(request: Request, site: SiteHere) -> Answer[Ready] | Answer[Unhealthy]:
    unhealthy = await _unhealthy(request, site, writes=True)
    if unhealthy is not None:
        return unhealthy
    site.parts.access.tokens.check_clock()
    pending, total = await vector_backlog(site.parts)
    vectors: VectorBacklog = {"model": site.parts.models.embedding.name, "pending": pending, "of": total}
    damaged = await site.parts.chats.stock.damaged_files()
    told: Ready = {**_health(site.parts), "vectors": vectors, "degraded": damaged}
    if not damaged:
        del told["degraded"]
    return Answer[Ready](told)


def _llm(parts: Parts) -> Literal["configured", "missing"]:
    """`configured` when a real model answers chats: the server's own, or those named in a config tree."""
    return (
        "configured" if parts.trees.workflows.serves_tree or parts.models.in_use.provider != "offline" else "missing"
    )


def _health(parts: Parts) -> Health:
    return {"status": "ok", "version": __version__, "storage": "ok", "llm": _llm(parts)}


async def _unhealthy(request: Request, site: SiteHere, *, writes: bool = False) -> Answer[Unhealthy] | None:
    """The answer when the storage fails, or the file of keys is gone; None when both work.

    Each folder and the database was written to in the last second; with `writes` they are now, and the keys of
    encryption are looked for.
    """
    try:
        await site.parts.memory.store.check()
        site.parts.access.file.look(now=True)
        if not writes:
            await site.parts.chats.stock.check_recent_writes()
        else:
            await site.parts.chats.stock.check_writes()
            await site.parts.upkeep.encryption.check()
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
@says("server", by_cookie=False)
async def metrics(site: SiteHere) -> Response:
    if site.metrics is None:
        raise NotFound("Metrics are switched off. Set server.metrics to true.")
    return Response(site.metrics.text(), headers={"content-type": CONTENT_TYPE})
