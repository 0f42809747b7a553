"""`GET /api/memories` with its conditions, and the details of one memory."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BeforeValidator

from mnemoir.conversations.users import OwnConversations
from mnemoir.core.clock import from_text
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import HistoryEntry, Memory, SourceTurn
from mnemoir.core.scope import Scope as Owner
from mnemoir.memory.facts import unknown_memory
from mnemoir.ports.memory_store import ListCursor, ListFilter, Project
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import offset_number, whole_number
from mnemoir.server.conversations.access import open_conversations
from mnemoir.server.cursors import InvalidCursor, read_cursor, write_cursor
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import named_user, only_user, owner
from mnemoir.server.memories.answers import (
    HistoryEvent,
    ListedMemory,
    MemoryRecord,
    Turn,
    history_json,
    listed_json,
    memory_json,
    turn_json,
)
from mnemoir.server.memories.bodies import MOST_LISTED
from mnemoir.server.memories.list_query import ConditionsHere, instant_of
from mnemoir.server.memories.narrowing import EVERY_PART, Narrowing
from mnemoir.server.rest import Cursor, ProjectHere, Routes, SiteHere
from mnemoir.server.site import Site

router = Routes(prefix="/api/memories", tags=["memories"])

Order = Literal["created_desc", "created_asc", "updated_desc", "updated_asc"]
_LIST = "memories"
_LOOKED_AT = 5_000  # messages of one conversation that are read to find a source turn
_AT_ONCE = 500

ListLimit = Annotated[int, BeforeValidator(whole_number(100, MOST_LISTED)), Query(description="0 means 1000")]
Offset = Annotated[int, BeforeValidator(offset_number), Query()]
UserQuery = Annotated[str | None, Query(alias="user_id")]


class MemoryPage(JsonObject):
    """A page of memories, newest first."""

    results: list[MemoryRecord]
    total: int


class ListedMemories(JsonObject):
    """A page of a list; `next` is the cursor of the following page."""

    results: list[ListedMemory]
    total: int
    next: str | None


class Source(Turn):
    """A source turn of the memory. `message_id` is its message in the conversation, where that is still stored."""

    event_id: str
    session: str | None
    message_id: int | None


class MemoryDetails(JsonObject):
    """One memory with its sources and its history."""

    memory: ListedMemory
    sources: list[Source]
    history: list[HistoryEvent]


@router.get("", summary="List one user's memories by conditions, newest first")
@says("read")
async def list_of_user(
    site: SiteHere,
    project: ProjectHere,
    conditions: ConditionsHere,
    user: UserQuery = None,
    limit: ListLimit = 100,
    offset: Offset = 0,
    order: Order = "created_desc",
    cursor: Cursor = None,
) -> Answer[ListedMemories]:
    scope = owner(project, named_user(user, "list"), **conditions.part.ids)
    by, direction = order.split("_")
    wanted = await conditions.filter_of(
        site, scope, "updated" if by == "updated" else "created", ascending=direction == "asc"
    )
    site.count("list")
    after = None if cursor is None else _place(cursor, order)
    found = await site.parts.memory.store.select(scope, wanted, limit=offset + limit + 1, after=after)
    page = found[offset : offset + limit]
    return Answer(
        {
            "results": [listed_json(memory, wanted.visible) for memory in page],
            "total": await site.parts.memory.store.select_count(scope, wanted),
            "next": _cursor(page[-1], wanted, order) if page and len(found) > offset + limit else None,
        }
    )


@router.get("/{memory_id:path}/details", summary="One memory with its sources, its history and when it decays")
@says("read")
async def details(
    site: SiteHere, project: ProjectHere, memory_id: str, user: UserQuery = None
) -> Answer[MemoryDetails]:
    scope = await _owner_of(site, project, MemoryId(memory_id), only_user(user))
    memory, visible = (
        await _stored_memory(site, scope, MemoryId(memory_id)),
        await site.parts.memory.facts.visible(scope),
    )
    entries = await site.parts.memory.facts.history(project, MemoryId(memory_id), scope.user)
    deleted = memory is None or memory.valid_to is not None
    memory = memory or await site.parts.memory.store.memory_at_removal(scope, MemoryId(memory_id))
    if memory is None:
        raise unknown_memory(MemoryId(memory_id))
    told = listed_json(memory, visible)
    if deleted:
        told |= {"state": "deleted", "decays_at": None}
    return Answer[MemoryDetails](
        {"memory": told, "sources": await _sources(site, scope, entries), "history": history_json(entries)}
    )


async def page_of(
    site: Site,
    project: Project,
    user: str,
    part: Narrowing = EVERY_PART,
    *,
    limit: int = 100,
    offset: int = 0,
    at: str | None = None,
) -> Answer[MemoryPage]:
    """The documented list: newest first, or the memories current at an instant."""
    scope, instant = owner(project, user, **part.ids), instant_of(at, "at")
    site.count("list")
    if part.metadata is not None:
        wanted = ListFilter(visible=await site.parts.memory.facts.visible(scope, at=instant), metadata=part.metadata)
        found = await site.parts.memory.store.select(scope, wanted, limit=offset + limit)
        memories, total = found[offset:], await site.parts.memory.store.select_count(scope, wanted)
    else:
        memories = await site.parts.memory.facts.page(scope, limit=limit, offset=offset, at=instant)
        total = await site.parts.memory.facts.count(scope, instant)
    return Answer({"results": [memory_json(memory) for memory in memories], "total": total})


def _cursor(memory: Memory, wanted: ListFilter, order: Order) -> str:
    created = from_text(memory.created_at)
    at = (from_text(memory.updated_at) or created) if wanted.by == "updated" else created
    return write_cursor(f"{_LIST} {order}", "" if at is None else repr(at.timestamp()), memory.id)


def _place(cursor: str, order: Order) -> ListCursor:
    at, memory_id = read_cursor(cursor, f"{_LIST} {order}", str, str)
    try:
        seconds = float(at) if at else None
    except ValueError:
        raise InvalidCursor from None
    if seconds is not None and not math.isfinite(seconds):
        raise InvalidCursor
    return ListCursor(at=seconds, memory_id=MemoryId(str(memory_id)))


async def _owner_of(site: Site, project: Project, memory_id: MemoryId, user: str | None) -> Owner:
    if user is not None:
        return owner(project, user)
    scope = await site.parts.memory.store.locate(project, memory_id)
    if scope is None:
        raise unknown_memory(MemoryId(memory_id))
    return scope


async def _stored_memory(site: Site, scope: Owner, memory_id: MemoryId) -> Memory | None:
    return await site.parts.memory.store.get(scope, memory_id)


async def _sources(site: Site, scope: Owner, entries: Sequence[HistoryEntry]) -> list[Source]:
    """Every turn of every event, oldest first, with its message where the conversation is still stored."""
    turns = [(entry, turn) for entry in entries for turn in entry.turns]
    messages: Mapping[_Said, int] = {}
    if any(entry.session for entry, _ in turns):
        async with open_conversations(site, scope) as own:
            if own is not None:
                messages = await asyncio.to_thread(
                    _messages, own, {_message_key(entry, turn) for entry, turn in turns}
                )
    return [
        {
            **turn_json(turn),
            "event_id": entry.id,
            "session": entry.session,
            "message_id": messages.get(_message_key(entry, turn)),
        }
        for entry, turn in turns
    ]


_Said = tuple[str | None, str | tuple[str, str]]  # the session, and the message's uid or else its role and text


def _message_key(entry: HistoryEntry, turn: SourceTurn) -> _Said:
    return entry.session, turn.message_uid or (turn.role, turn.text)


def _messages(own: OwnConversations, said: set[_Said]) -> dict[_Said, int]:
    """The ids of messages that still exist, looked up by uid, or by role and text where no uid was recorded."""
    places = own.log.places_of([what for _, what in said if isinstance(what, str)])
    found: dict[_Said, int] = {(session, uid): message_id for uid, (session, message_id) in places.items()}
    for session in {session for session, what in said if session and not isinstance(what, str)}:
        words = {what for of, what in said if of == session and not isinstance(what, str)}
        found |= {(session, what): message_id for what, message_id in _message_ids(own, session, words).items()}
    return found


def _message_ids(own: OwnConversations, session: str, turns: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The message ids of the turns in the conversation: for each the first message with this role and text."""
    found: dict[tuple[str, str], int] = {}
    if own.log.get_session(session) is None:
        return found
    last = looked_at = 0
    while looked_at < _LOOKED_AT and len(found) < len(turns):
        page = own.log.message_tree(session, _AT_ONCE, after=last)
        for stored in page:
            said = (str(stored.message.role), stored.message.text)
            if said in turns:
                found.setdefault(said, stored.id)
        if len(page) < _AT_ONCE:
            break
        last, looked_at = page[-1].id, looked_at + len(page)
    return found
