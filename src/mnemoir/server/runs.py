"""`/api/runs`: what workflows did, and what they are doing.

A trace holds what people said, so the same keys guard it as guard memories.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from typing import Annotated

import orjson
from fastapi import APIRouter, Query
from pydantic import BeforeValidator
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.core.errors import NotFound
from mnemoir.core.runs import RunStatus, RunTrace
from mnemoir.ports.run_store import RunSummary
from mnemoir.server.departure import Departure
from mnemoir.server.memory_answers import answer
from mnemoir.server.memory_models import whole_number
from mnemoir.server.rest import SiteHere
from mnemoir.server.streaming import Headers, Outflow
from mnemoir.server.visit import visit_of

router = APIRouter(prefix="/api/runs", tags=["runs"])

_MOST_LISTED = 200
_SILENCE = b":\n\n"  # a comment, which no reader of events takes for one

ListLimit = Annotated[
    int, BeforeValidator(whole_number(50, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")
]
Before = Annotated[str | None, Query(description="`next` of the page before")]


@router.get("", summary="The last runs of workflows, newest first")
async def list_runs(
    site: SiteHere, limit: ListLimit = 50, before: Before = None, status: RunStatus | None = None
) -> Response:
    found = await site.parts.runs.latest(limit=limit + 1, before=before, status=status)
    page = found[:limit]
    following = page[-1].id if len(found) > limit else None
    return answer({"results": [asdict(run) for run in page], "next": following})


@router.get("/live", summary="Runs as they begin and end, as server-sent events")
async def live(site: SiteHere) -> Response:
    return _Feed(site.parts.runs.follow(), site.options.heartbeat_s)


@router.get("/{run_id:path}", summary="One run, node by node")
async def show(site: SiteHere, run_id: str) -> Response:
    run = await site.parts.runs.get(run_id)
    if run is None:
        raise NotFound(f"There is no run {run_id[:128]!r} here, or no longer.", code="run_not_found")
    return Response(_trace_json(run), media_type="application/json")


class _Feed(Response):
    """Sends each run that begins or ends until the client leaves."""

    def __init__(self, runs: AsyncGenerator[RunSummary, None], heartbeat_s: float) -> None:
        super().__init__(media_type="text/event-stream", headers={"cache-control": "no-cache"})
        self._runs = runs
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        def head() -> Headers:
            own = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
            return [*own, (b"x-accel-buffering", b"no")]

        async with (
            Departure(receive) as departure,
            aclosing(self._runs) as runs,
            Outflow(send, head=head, heartbeat=lambda: _SILENCE, every_s=self._heartbeat_s) as out,
        ):
            await out.write(_SILENCE)  # the head goes out with it: the client knows that it listens
            async for run in runs:
                await out.write(b"data: %b\n\n" % orjson.dumps(run))
            await out.write(b"", more=False)
        visit_of(scope).left = departure.happened


def _trace_json(run: RunTrace) -> bytes:
    try:
        return orjson.dumps(run)
    except orjson.JSONEncodeError:  # it nests more workflows than orjson goes down
        return json.dumps(asdict(run)).encode()
