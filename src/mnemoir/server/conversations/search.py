"""`/api/conversations/search`: find messages by words, by meaning or by both, in all branches."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, NotRequired

from fastapi import Query
from pydantic import BeforeValidator

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.search_filter import SearchFilter
from mnemoir.conversations.search.session_search import SearchHit
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.clock import from_text
from mnemoir.core.conversations import ROOT, Role, StoredMessage
from mnemoir.core.errors import InvalidRequest
from mnemoir.ports.log import Log
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Question, whole_number
from mnemoir.server.conversations.access import CONVERSATIONS, OwnerHere, lacking, missing, open_conversations
from mnemoir.server.conversations.answers import MessageAnswer, first_words, message_json
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.rest import Routes, SiteHere
from mnemoir.server.site import Site

router = Routes(prefix=CONVERSATIONS, tags=["conversations"], route_class=RouteAsSent)

_MOST_FOUND = 100
_WORDS_ALONE = 0.0  # the weight of meaning

Mode = Literal["hybrid", "semantic", "keyword"]


class FoundMessage(JsonObject):
    """A message that was found, and the title of its conversation or, as in lists, its first words.

    `likely` is false for one that shares no word with the question and is hardly like it.
    """

    conversation_id: str
    title: str | None
    preview: str
    message: MessageAnswer
    score: float
    likely: NotRequired[Literal[False]]


class FoundMessages(JsonObject):
    """Hits, best first. With `degraded` others may be in a damaged file that was set aside."""

    results: list[FoundMessage]
    degraded: NotRequired[list[str]]


def _instant(raw: object) -> datetime:
    found = from_text(raw)
    if found is None:
        raise ValueError("must be an ISO 8601 time")
    return found


Words = Annotated[Question, Query(alias="q", description="a question, or some words")]
Within = Annotated[str | None, Query(description="only in this conversation")]
Since = Annotated[datetime | None, BeforeValidator(_instant), Query(description="ISO 8601; that instant counts in")]
Until = Annotated[datetime | None, BeforeValidator(_instant), Query(description="ISO 8601; that instant does not")]
Related = Annotated[bool, Query(description="leave out what shares no word with `q` and is hardly like it")]
Limit = Annotated[int, BeforeValidator(whole_number(10, _MOST_FOUND)), Query(description=f"0 means {_MOST_FOUND}")]


@router.get("/search", summary="Find messages, best first")
@says("read", bucket="search")
async def search(
    site: SiteHere,
    scope: OwnerHere,
    query: Words,
    conversation_id: Within = None,
    role: Role | None = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 10,
    mode: Mode = "hybrid",
    related: Related = False,
) -> Answer[FoundMessages]:
    filters = SearchFilter(
        since=since,
        until=until,
        roles=None if role is None else [role],
        session_ids=None if conversation_id is None else [conversation_id],
        related=related,
    )
    async with open_conversations(site, scope) as own:
        await _require(site, own, conversation_id)
        if own is None:
            return Answer({"results": []})
        [query] = await site.parts.memory.personal_data.query(scope, [query], "messages")
        hits = await _hits_by_mode(own.manager, query, limit, filters, mode)
        told = await asyncio.to_thread(_hits_json, own.log, hits)
        if degraded := await lacking(site, own, nothing=not told["results"]):
            told["degraded"] = degraded
        return Answer(told)


async def _require(site: Site, own: OwnConversations | None, id: str | None) -> None:
    if id is not None and (own is None or await asyncio.to_thread(own.log.get_session, id) is None):
        raise await missing(site, own, id)


async def _hits_by_mode(
    manager: MemoryManager, query: str, limit: int, filters: SearchFilter, mode: Mode
) -> Sequence[SearchHit]:
    if mode == "hybrid":
        return await manager.search_hybrid(query, limit, filters)
    if mode == "keyword":
        return await manager.search_hybrid(query, limit, filters, alpha=_WORDS_ALONE)
    if not manager.semantic_search_enabled:
        raise InvalidRequest(
            "Vectors of conversations are switched off: set memory.vector_store.enabled, or choose another mode.",
            field="mode",
        )
    return await manager.search(query, limit, filters=filters)


def _hits_json(log: Log, hits: Sequence[SearchHit]) -> FoundMessages:
    def message(stored: StoredMessage) -> MessageAnswer:
        parent = stored.parent_id or ROOT
        return message_json(stored, log.children(stored.session_id, [parent])[parent])

    sessions = {id: log.get_session(id) for id in {hit.session_id for hit in hits}}
    titles = {id: session.metadata.title for id, session in sessions.items() if session}
    begun = first_words(log, [id for id, session in sessions.items() if session])

    def hit_json(hit: SearchHit, stored: StoredMessage) -> FoundMessage:
        found: FoundMessage = {
            "conversation_id": hit.session_id,
            "title": titles.get(hit.session_id),
            "preview": begun.get(hit.session_id, ""),
            "message": message(stored),
            "score": hit.score,
        }
        return found if hit.is_likely else {**found, "likely": False}

    return {"results": [hit_json(hit, hit.stored) for hit in hits if hit.stored is not None]}
