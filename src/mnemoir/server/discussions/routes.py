"""`/api/discussions`: read, search, export, import, forget and rebuild the memories of discussions.

An id may hold any characters; slashes too, when they are encoded (`a%2Fb`). File names are made from it only by
`core.discussion_id`. A rebuild is answered as a stream, whose JSON lines report its progress; a client that
disconnects cancels it.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import Depends, Path, Query, Request
from pydantic import BeforeValidator
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.chats.discussions import unknown_discussion
from mnemoir.core.discussions import ClientKeys, Discussion
from mnemoir.core.errors import InvalidRequest, MnemoirError, NotFound
from mnemoir.core.scope import Scope as Owner
from mnemoir.memory.discussions.reading import RecordSearch, find_records
from mnemoir.memory.discussions.transfer import copy_of, put_copy
from mnemoir.memory.discussions.writing import Kind, forget_chunk
from mnemoir.server.answer import Answer, tolerant_json
from mnemoir.server.body import Question, whole_number
from mnemoir.server.discussions.answers import (
    DiscussionImported,
    DiscussionMemories,
    DiscussionOverview,
    DiscussionPage,
    FoundRecords,
    RebuildPlan,
    RebuildStep,
    RollingSummaryHeld,
    copy_json,
    overview_json,
    record_json,
    rolling_json,
    summary_json,
)
from mnemoir.server.discussions.bodies import DiscussionBody, RebuildBody
from mnemoir.server.door.access import client_keys, principal_of
from mnemoir.server.door.budgets import check_budgets
from mnemoir.server.door.request import visit_of
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import default_user, owner
from mnemoir.server.door.under_way import Departure, Headers, Outflow
from mnemoir.server.rest import BodyOf, Cursor, ProjectHere, Routes, SiteHere
from mnemoir.server.site import Site
from mnemoir.storage.sql.holds import LegalHold
from mnemoir.workflows.rebuilding import RebuildProgress

_SILENCE = b"\n"  # a blank line, which is no JSON line
router = Routes(prefix="/api/discussions", tags=["discussions"], route_class=RouteAsSent)

_MOST_LISTED = 1000
_MOST_FOUND = 100
_LONGEST_NUMBER = 19  # digits that fit in a row's id
_LATEST = 3  # chunk summaries in an overview

User = Annotated[str | None, Query(description="user of the config tree; else the first one")]
OwnUser = Annotated[
    str | None,
    Query(alias="user_id", description="whose they are; else the key's user, or `user`"),
]


@dataclass(frozen=True, slots=True)
class _Whose:
    """Whose discussions: those of the owner, with a user of the config tree. `is_named`: the request names the owner.

    `keys` are those of the request, for discussions that the format encrypts.
    """

    user: str | None
    owner: Owner
    keys: ClientKeys | None
    is_named: bool


async def _whose(
    request: Request, site: SiteHere, project: ProjectHere, user: User = None, own_user: OwnUser = None
) -> _Whose:
    if principal_of(request.scope).configs is not None:
        user = _callable(user, site.parts.trees.workflows.users)
    own = owner(project, default_user(site.options) if own_user is None else own_user)
    is_named = own_user is not None or principal_of(request.scope).is_bound
    return _Whose(user, own, client_keys(request.scope), is_named)


def _callable(named: str | None, users: Sequence[str]) -> str:
    """The named user of those that the caller may call, else the first one. Raises InvalidRequest."""
    found = next((name for name in users if named is None or name.lower() == named.lower()), None)
    if found is None:
        raise InvalidRequest(
            f"user must name one of the users served here: {', '.join(users)}. It is {(named or '')[:80]!r}.",
            field="user",
        )
    return found


WhoseHere = Annotated[_Whose, Depends(_whose)]
Limit = Annotated[int, BeforeValidator(whole_number(100, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")]
Words = Annotated[Question, Query(alias="q", description="phrases, with semicolons between them")]
FoundLimit = Annotated[
    int, BeforeValidator(whole_number(5, _MOST_FOUND)), Query(description=f"0 means {_MOST_FOUND}")
]


class RebuildAnswer(Response):
    """One object a line: `done`, `all`, `finished`, `notes`. After a failure the last line has `error`."""

    def __init__(self, steps: AsyncGenerator[RebuildProgress, None], heartbeat_s: float) -> None:
        super().__init__(media_type="application/x-ndjson")
        self._steps = steps
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with (
            Departure(receive) as departure,
            aclosing(self._steps) as steps,
            Outflow(send, head=self._head, heartbeat=lambda: _SILENCE, every_s=self._heartbeat_s) as out,
        ):
            try:
                async for step in steps:
                    await out.write(_line(step))
            except MnemoirError as exc:
                if not out.begun:  # it can still be answered as an error
                    raise
                await out.write(_line({"error": exc.message, "code": exc.code}))
            await out.write(b"", more=False)
        visit_of(scope).left = departure.happened

    def _head(self) -> Headers:
        own = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        return [*own, (b"x-accel-buffering", b"no")]


def _line(told: RebuildProgress | RebuildStep) -> bytes:
    return tolerant_json(told) + b"\n"


@router.get("", summary="Discussions of which something is remembered, by id")
@says("read")
async def list_discussions(
    site: SiteHere, whose: WhoseHere, limit: Limit = 100, after: Cursor = None
) -> Answer[DiscussionPage]:
    listed = await site.parts.chats.discussions.discussions_of_user(whose.user, whose.owner, whose.keys)
    found = [one for one in listed if after is None or one.id > after]
    page = found[:limit]
    following = page[-1].id if len(found) > limit else None
    return Answer({"results": page, "next": following})


@router.get("/{id}/memories", summary="Chunk summaries as they follow each other, or records, newest first")
@says("read")
async def memories(
    site: SiteHere,
    whose: WhoseHere,
    id: str,
    kind: Kind = "summaries",
    limit: Limit = 100,
    after: Cursor = None,
    stale: Annotated[bool, Query(description="also summaries of text that is no longer there")] = False,
    sources: Annotated[bool, Query(description="with the words of each chunk")] = False,
) -> Answer[DiscussionMemories]:
    discussion = await site.parts.chats.discussions.require(whose.user, id, whose.owner, whose.keys)
    if kind == "records" and stale:
        raise InvalidRequest("Records of text that is no longer there are not given out.", field="stale")
    if kind == "records":
        return Answer(await _records(site, discussion, limit, after, sources=sources))
    return Answer(await _summaries(site, discussion, limit, after, stale=stale, sources=sources))


@router.delete(
    "/{id}/memories/{key}",
    summary="Forget a chunk: its words, what was made of them, and the rolling summary if it may be in that",
    status_code=204,
)
@says("write", act=None)
async def forget(
    site: SiteHere,
    whose: WhoseHere,
    id: str,
    key: Annotated[str, Path(description="`id` of a chunk summary, or `chunk` of a record")],
    kind: Kind = "summaries",
) -> Response:
    await _refuse_on_hold(site, whose, id)
    discussion = await site.parts.chats.discussions.require(whose.user, id, whose.owner, whose.keys)
    if not await forget_chunk(site.parts.chats.discussions.memory, discussion, key, kind=kind):
        raise NotFound(f"No chunk {key[:80]!r} is remembered of discussion {id[:80]!r}.", code="chunk_not_found")
    return Response(status_code=204)


@router.get("/{id}/summary", summary="The rolling summary, null where there is none yet")
@says("read")
async def rolling_summary(site: SiteHere, whose: WhoseHere, id: str) -> Answer[RollingSummaryHeld]:
    discussion = await site.parts.chats.discussions.require(whose.user, id, whose.owner, whose.keys)
    return Answer({"summary": rolling_json(await site.parts.chats.discussions.memory.summaries.load(discussion))})


@router.get("/{id}/search", summary="Records that hold any of some phrases, best first")
@says("read", bucket="search")
async def search(
    site: SiteHere,
    whose: WhoseHere,
    id: str,
    query: Words,
    limit: FoundLimit = 5,
    mode: Literal["keyword", "hybrid"] = "keyword",
) -> Answer[FoundRecords]:
    discussion = await site.parts.chats.discussions.require(whose.user, id, whose.owner, whose.keys)
    found = await find_records(
        site.parts.chats.discussions.memory, discussion, query, limit=limit, how=RecordSearch(mode=mode)
    )
    return Answer({"results": [record_json(record, None) for record in found]})


@router.get("/{id}/export", summary="All that is remembered of a discussion, as one JSON object")
@says("read", act="discussions.export", exact=True)
async def export(site: SiteHere, whose: WhoseHere, id: str) -> Response:
    discussion = await site.parts.chats.discussions.require(whose.user, id, whose.owner, whose.keys)
    copy = await copy_of(site.parts.chats.discussions.memory, discussion)
    return await asyncio.to_thread(lambda: Answer(copy_json(id, copy)))


@router.post("/{id}/import", summary="Store an export as this discussion, the whole of it or nothing")
@says("write", act="discussions.import", exact=True, reads_body=True)
async def import_discussion(
    site: SiteHere,
    whose: WhoseHere,
    id: str,
    body: Annotated[DiscussionBody, Depends(BodyOf(DiscussionBody))],
    replace: Annotated[bool, Query(description="even where something is remembered of it")] = False,
) -> Answer[DiscussionImported]:
    if replace:
        await _refuse_on_hold(site, whose, id)
        body.check_parts()
    discussion = await site.parts.chats.discussions.discussion(whose.user, id, whose.owner, whose.keys)
    copy = await asyncio.to_thread(body.copy_of_it)
    await put_copy(site.parts.chats.discussions.memory, discussion, copy, replace=replace)
    summaries, records = len(copy.summaries), sum(len(chunk.records) for chunk in copy.chunks)
    message = f"Imported {summaries} chunk summaries and {records} records"
    return Answer({"success": True, "message": message, "chunk_summaries": summaries, "records": records})


@router.post(
    "/{id}/rebuild",
    summary="Make all memories of a discussion anew; JSON lines tell how far it is",
    response_model=RebuildStep | RebuildPlan,
)
@says("write", exact=True)
async def rebuild(
    request: Request,
    site: SiteHere,
    whose: WhoseHere,
    id: str,
    body: Annotated[RebuildBody, Depends(BodyOf(RebuildBody, required=False))],
    dry_run: Annotated[bool, Query(description="only tell what a model would be asked about")] = False,
) -> Response:
    discussions, messages = site.parts.chats.discussions, body.conversation()
    messages = await site.parts.memory.personal_data.conversation(
        replace(whose.owner, conversation=id), messages, not dry_run
    )
    if dry_run:
        plan = await discussions.plan(whose.user, id, messages, whose.owner, whose.keys)
        return Answer[RebuildPlan]({"chunks": plan.chunks, "messages": plan.messages, "tokens": plan.tokens})
    await _refuse_on_hold(site, whose, id)
    check_budgets(request.scope, site.parts.chats.quotas, whose.owner)
    return RebuildAnswer(
        discussions.rebuild(whose.user, id, messages, whose.owner, whose.keys), site.options.heartbeat_s
    )


@router.get("/{id}", summary="What is remembered of a discussion, in short")
@says("read")
async def overview(site: SiteHere, whose: WhoseHere, id: str) -> Answer[DiscussionOverview]:
    discussions = site.parts.chats.discussions
    discussion = await discussions.require(whose.user, id, whose.owner, whose.keys)
    told = await discussions.memory.files.entry(discussion)
    if told is None:
        raise unknown_discussion(id)
    latest = await discussions.memory.ledger.newest(discussion, _LATEST)
    return Answer(overview_json(told, await discussions.memory.summaries.load(discussion), latest))


@router.delete("/{id}", summary="Forget a discussion", status_code=204)
@says("write", act="discussions.forget")
async def delete(site: SiteHere, whose: WhoseHere, id: str) -> Response:
    await _refuse_on_hold(site, whose, id)
    await site.parts.chats.discussions.remove(whose.user, id, whose.owner, whose.keys)
    return Response(status_code=204)


async def _refuse_on_hold(site: Site, whose: _Whose, id: str) -> None:
    """Raise LegalHold for an owner on hold; where none is named, also for a conversation of that id on hold."""
    await site.parts.upkeep.holds.refuse(whose.owner)
    if not whose.is_named and await site.parts.chats.conversations.is_held(id):
        raise LegalHold(f"A user with a conversation {id[:80]!r} is on legal hold, so nothing was deleted.")


async def _summaries(
    site: Site, discussion: Discussion, limit: int, after: str | None, *, stale: bool, sources: bool
) -> DiscussionMemories:
    ledger = site.parts.chats.discussions.memory.ledger
    told = [summary for summary in await ledger.all(discussion) if summary.forgotten_at is None]
    kept = [summary for summary in told if stale or summary.stale_since is None]
    start = 0
    if after is not None:
        found = next((at for at, summary in enumerate(kept) if summary.id == after), None)
        if found is None:
            raise InvalidRequest("There is no such page any more. Begin without `after`.", field="after")
        start = found + 1
    page = kept[start : start + limit]
    said = await ledger.sources(discussion) if sources else None
    results = [summary_json(one, None if said is None else said.get(one.id, ())) for one in page]
    return {"results": results, "next": page[-1].id if start + limit < len(kept) else None}


async def _records(
    site: Site, discussion: Discussion, limit: int, after: str | None, *, sources: bool
) -> DiscussionMemories:
    store = site.parts.chats.discussions.memory.records
    if after is not None and not (after.isascii() and after.isdecimal() and len(after) < _LONGEST_NUMBER):
        raise InvalidRequest("There is no such page. Begin without `after`.", field="after")
    found = await store.newest(discussion, limit=limit + 1, before=None if after is None else int(after))
    page = found[:limit]
    said = await store.sources(discussion) if sources else None
    results = [record_json(one, None if said is None else said.get(one.chunk or "", ())) for one in page]
    return {"results": results, "next": str(page[-1].id) if len(found) > limit else None}
