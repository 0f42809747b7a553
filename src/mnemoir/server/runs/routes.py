"""`/api/runs`: the traces of workflow runs, finished and running.

A trace holds what people said, so it is guarded by the same keys as memories.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, aclosing
from functools import partial
from typing import Annotated

import orjson
from fastapi import Query, Request
from pydantic import BeforeValidator
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.core.clock import from_text, to_text
from mnemoir.core.errors import InvalidRequest, NotFound, Overloaded
from mnemoir.core.runs import RunStatus, RunTrace
from mnemoir.core.scope import Principal
from mnemoir.core.scope import Scope as Owner
from mnemoir.ports.run_store import NodeMoved, RunFilter, RunSummary
from mnemoir.server.answer import Answer, Json, JsonObject
from mnemoir.server.body import whole_number
from mnemoir.server.door.access import Guard, principal_of
from mnemoir.server.door.request import visit_of
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import note_read
from mnemoir.server.door.under_way import Departure, Headers, Outflow
from mnemoir.server.rest import Cursor, Routes, SiteHere
from mnemoir.server.runs.commands import RunCommand, node_command, run_command
from mnemoir.server.runs.memories import RunMemories, RunShort, memories_of, summary_of
from mnemoir.server.site import Site

router = Routes(prefix="/api/runs", tags=["runs"])

_MOST_LISTED = 200
_LONGEST_WORDS = 1000
_SILENCE = b":\n\n"  # a comment, which no reader takes for an event

_EVENTS: dict[int | str, Json] = {
    200: {"model": RunSummary | NodeMoved, "description": "Events, each with a run or a node as `data`"}
}

ListLimit = Annotated[
    int, BeforeValidator(whole_number(50, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")
]


Words = Annotated[
    str | None,
    Query(max_length=_LONGEST_WORDS, description="all of these words stand in the question, in whatever case"),
]


class RunPage(JsonObject):
    """A page of runs, newest first; `next` is the `before` of the following page."""

    results: Sequence[RunSummary]
    next: str | None


@router.get("", summary="The last runs of workflows, newest first")
@says("read")
async def list_runs(
    request: Request,
    site: SiteHere,
    limit: ListLimit = 50,
    before: Cursor = None,
    q: Words = None,
    status: RunStatus | None = None,
    workflow: Annotated[str | None, Query(description="Its name, in whatever case")] = None,
    conversation: str | None = None,
    user: Annotated[str | None, Query(description="Of the config tree, or a user id")] = None,
    error: Annotated[str | None, Query(description="A part of its error")] = None,
    since: Annotated[str | None, Query(description="ISO 8601; runs that began then or later")] = None,
) -> Answer[RunPage]:
    principal = principal_of(request.scope)
    if before is not None and await _run_of_caller(request, site, before) is None:
        return Answer({"results": [], "next": None})
    only = RunFilter(
        tenant=principal.tenant,
        projects=principal.projects,
        user_id=principal.user,
        words=q if q and q.strip() else None,
        status=status,
        workflow=workflow or None,
        conversation=conversation or None,
        user=user or None,
        error=error or None,
        since=_instant(since) if since else None,
    )
    found = await site.parts.trees.runs.latest(limit=limit + 1, before=before, only=only)
    for user in {run.user_id for run in found[:limit] if run.user_id}:
        note_read(user)
    page = found[:limit]
    following = page[-1].id if len(found) > limit else None
    return Answer({"results": page, "next": following})


@router.get("/live", summary="Runs as they begin and end, as server-sent events", responses=_EVENTS)
@says("read", is_stream=True)
async def live(
    request: Request,
    site: SiteHere,
    nodes: Annotated[
        bool, Query(description="Tell of their nodes too, as events of the name `node`: begun, speaking, ended")
    ] = False,
) -> Response:
    principal = principal_of(request.scope)
    if not site.feeds.has_room(principal.key):
        raise Overloaded("This key follows runs by as many streams as it may. Close one.", code="rate_limited")
    runs = site.parts.trees.runs.follow(nodes=nodes, of=partial(_reaches, principal))
    return _Feed(runs, site.feeds.holding(principal.key), site.options.heartbeat_s, site.guard)


@router.get("/{run_id:path}/summary", summary="One run in a line")
@says("read")
async def show_summary(request: Request, site: SiteHere, run_id: str) -> Answer[RunShort]:
    return Answer(summary_of(await _run(request, site, run_id)))


@router.get("/{run_id:path}/memories", summary="What it read from memory and wrote to it, also behind its answer")
@says("read")
async def show_memories(request: Request, site: SiteHere, run_id: str) -> Answer[RunMemories]:
    return Answer(
        await memories_of(
            await _run(request, site, run_id),
            site.parts.upkeep.jobs,
            site.parts.memory.store,
            site.parts.memory.proposals,
        )
    )


@router.get("/{run_id:path}/curl", summary="Its request, or that of one of its nodes, as a command")
@says("read")
async def show_command(
    request: Request,
    site: SiteHere,
    run_id: str,
    node: Annotated[int | None, Query(description="Its place among all nodes, from 0; else the client's")] = None,
) -> Answer[RunCommand]:
    run = await _run(request, site, run_id)
    if node is not None:
        return Answer(node_command(run, node))
    origin = str(request.base_url).rstrip("/")
    return Answer(run_command(run, origin, needs_key=site.guard.needs_key))


@router.get("/{run_id:path}", summary="One run, node by node")
@says("read")
async def show(request: Request, site: SiteHere, run_id: str) -> Answer[RunTrace]:
    return Answer(await _run(request, site, run_id))


async def _run(request: Request, site: Site, run_id: str) -> RunTrace:
    run = await _run_of_caller(request, site, run_id)
    if run is None:
        raise NotFound(f"There is no run {run_id[:128]!r} here, or no longer.", code="run_not_found")
    return run


async def _run_of_caller(request: Request, site: Site, run_id: str) -> RunTrace | None:
    """The run of that id, if the caller's key is for it."""
    found = await site.parts.trees.runs.get(run_id, partial(_reaches, principal_of(request.scope)))
    if found is not None and found.scope.user:
        note_read(found.scope.user)
    return found


def _reaches(principal: Principal, scope: Owner) -> bool:
    return principal.tenant == scope.tenant and principal.reaches(scope.project, scope.user)


def _instant(text: str) -> str:
    instant = from_text(text)
    if instant is None:
        raise InvalidRequest(
            f"since must be a time such as 2026-03-04T09:15:00Z, it is {text[:80]!r}.",
            code="validation_error",
            field="since",
        )
    return to_text(instant)


class _Feed(Response):
    """A stream of each run that begins or ends, and each node if requested, until the client disconnects.

    It ends before it tells anything to a caller who would not be let in any more.
    """

    def __init__(
        self,
        runs: AsyncGenerator[RunSummary | NodeMoved, None],
        place: AbstractContextManager[None],
        heartbeat_s: float,
        guard: Guard,
    ) -> None:
        super().__init__(media_type="text/event-stream")
        self._guard = guard
        self._runs = runs
        self._place = place
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._place:
            async with (
                Departure(receive) as departure,
                aclosing(self._runs) as runs,
                Outflow(send, head=self._head, heartbeat=lambda: _SILENCE, every_s=self._heartbeat_s) as out,
            ):
                await out.write(_SILENCE)  # sends the head too: the client knows that it is connected
                async for told in runs:
                    if not await self._guard.still_lets_in(scope):
                        break
                    name = b"event: node\n" if isinstance(told, NodeMoved) else b""
                    await out.write(b"%bdata: %b\n\n" % (name, orjson.dumps(told)))
                await out.write(b"", more=False)
        visit_of(scope).left = departure.happened

    def _head(self) -> Headers:
        own = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        return [*own, (b"x-accel-buffering", b"no")]
