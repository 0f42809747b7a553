"""`/api/status`: the server's state, its memory's latency, and its clients. Guarded by the same keys as memories."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Literal

from fastapi import Query

from mnemoir.app.status import Status, status_of
from mnemoir.chats.stock import Day
from mnemoir.core.clock import to_text, utc_now
from mnemoir.models.latencies import MINUTES, Latencies
from mnemoir.server.answer import Answer
from mnemoir.server.door.clients import ClientSeen
from mnemoir.server.door.says import says
from mnemoir.server.rest import Routes, SiteHere

router = Routes(prefix="/api", tags=["operations"])

Span = Literal["hour", "day"]
_STEPS = {"hour": (60, 1), "day": (MINUTES, 15)}  # minutes in all, minutes a step


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyStep:
    """Latencies of operations that ended within a step; both are None where there were none. `at` is its start."""

    at: str
    count: int
    p50_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySeries:
    """Steps of `step_minutes`, oldest first; the last step is still running."""

    span: Span
    step_minutes: int
    recall: list[LatencyStep]
    write: list[LatencyStep]


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The last 30 UTC days, oldest first; the last one is today."""

    days: list[Day]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientsSeen:
    """The kinds of clients that have called since `since`, the start of the server; latest call first."""

    since: str
    results: list[ClientSeen]


@router.get("/status", summary="How the server is: models, storage, counts, background work")
@says("server")
async def status(site: SiteHere) -> Answer[Status]:
    return Answer(await status_of(site.parts, default_user=site.options.default_user))


@router.post("/status/check", summary="The same, after asking the models' servers now")
@says("server")
async def check(site: SiteHere) -> Answer[Status]:
    return Answer(await status_of(site.parts, default_user=site.options.default_user, fresh=True))


@router.get("/status/latencies", summary="How long recalls and writes of memory took, over time")
@says("server")
async def latencies(
    site: SiteHere, span: Annotated[Span, Query(description="hour: by the minute; day: by quarters")] = "hour"
) -> Answer[LatencySeries]:
    minutes, step = _STEPS[span]
    times = site.parts.chats.times
    return Answer(
        LatencySeries(
            span=span,
            step_minutes=step,
            recall=_steps(times.recall, minutes, step),
            write=_steps(times.write, minutes, step),
        ),
    )


@router.get("/status/growth", summary="What was added on each of the last 30 days")
@says("server")
async def growth(site: SiteHere) -> Answer[Growth]:
    return Answer(Growth(days=await site.parts.chats.stock.growth()))


@router.get("/clients", summary="Which kinds of clients have called, and when last")
@says("server")
async def clients(site: SiteHere) -> Answer[ClientsSeen]:
    return Answer(ClientsSeen(since=to_text(site.parts.opened.at), results=site.clients.recent_clients()))


def _steps(times: Latencies, minutes: int, step: int) -> list[LatencyStep]:
    spreads = times.steps(minutes, step)
    now = utc_now().replace(second=0, microsecond=0)
    first = now - timedelta(minutes=minutes - 1)
    return [
        LatencyStep(
            at=to_text(first + timedelta(minutes=place * step)),
            count=spread.count,
            p50_ms=spread.p50_ms,
            p95_ms=spread.p95_ms,
        )
        for place, spread in enumerate(spreads)
    ]
