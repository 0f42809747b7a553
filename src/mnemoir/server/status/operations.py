"""Routes for the operators of the server: readiness and metrics."""

from typing import Any, NotRequired

from fastapi import Request
from starlette.responses import Response

from mnemoir.app.status import vector_backlog
from mnemoir.core.errors import NotFound
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.entry import CONTENT_TYPE
from mnemoir.server.door.says import says
from mnemoir.server.health import Health, Unhealthy, health, unhealthy
from mnemoir.server.rest import Routes, SiteHere

router = Routes(tags=["operations"])


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


@router.get(
    "/ready",
    summary="Health, and how many texts still wait for a vector of the embedding model in use",
    responses=_UNHEALTHY,
)
@says("server", by_cookie=False)
async def ready(request: Request, site: SiteHere) -> Answer[Ready] | Answer[Unhealthy]:
    refusal = await unhealthy(request.scope, site, writes=True)
    if refusal is not None:
        return refusal
    site.parts.access.tokens.check_clock()
    pending, total = await vector_backlog(site.parts)
    vectors: VectorBacklog = {"model": site.parts.models.embedding.name, "pending": pending, "of": total}
    damaged = await site.parts.chats.stock.damaged_files()
    told: Ready = {**health(site.parts), "vectors": vectors, "degraded": damaged}
    if not damaged:
        del told["degraded"]
    return Answer[Ready](told)


@router.get("/metrics", summary="Figures for Prometheus, when switched on")
@says("server", by_cookie=False)
async def metrics(site: SiteHere) -> Response:
    if site.metrics is None:
        raise NotFound("Metrics are switched off. Set server.metrics to true.")
    return Response(site.metrics.text(), headers={"content-type": CONTENT_TYPE})
