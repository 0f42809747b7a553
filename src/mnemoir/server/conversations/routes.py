"""`/api/conversations`: list, create, change, branch and forget each user's conversations.

An id may hold any printable characters; slashes too, when they are encoded (`a%2Fb`). A change of a conversation is
durable before its answer is sent.
"""

import asyncio
import uuid
from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import Annotated, NotRequired

from fastapi import Depends, Query, Request
from pydantic import BeforeValidator

from mnemoir.chats.forgetting import unknown_conversation
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.nodes.conversation_nodes import copy_node_memories
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.conversations import ROOT, Message, MessageNotFoundError, SessionExistsError
from mnemoir.core.errors import Conflict, InvalidRequest
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.server.answer import Answer, Done, JsonObject
from mnemoir.server.body import whole_number
from mnemoir.server.conversations.access import (
    CONVERSATIONS,
    ONE,
    OwnerHere,
    UserQuery,
    holding,
    lacking,
    open_conversations,
    owner_in_body,
    room_for,
)
from mnemoir.server.conversations.answers import ConversationAnswer, conversations_json
from mnemoir.server.conversations.bodies import (
    BranchBody,
    ConversationBody,
    ConversationChange,
    HeadBody,
    read_messages,
)
from mnemoir.server.conversations.titles import Place, page_by_name, place_of
from mnemoir.server.cursors import InvalidCursor, read_cursor, write_cursor
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import bound_user
from mnemoir.server.rest import BodyOf, Cursor, Routes, SiteHere

router = Routes(prefix=CONVERSATIONS, tags=["conversations"], route_class=RouteAsSent)

_MOST_LISTED = 200
_LIST = "conversations"
_FLUSH_S = 60.0
_changing = KeyedLock()  # a conversation's metadata is read, changed and written back

Limit = Annotated[int, BeforeValidator(whole_number(50, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")]
Called = Annotated[
    str | None, Query(max_length=1000, description="words of the title, or of the first words where there is none")
]


class ConversationPage(JsonObject):
    """Conversations, newest activity first; `next` is the cursor of the following page.

    With `degraded` others may be in a damaged file that was set aside.
    """

    results: list[ConversationAnswer]
    next: str | None
    degraded: NotRequired[list[str]]


class FlushAnswer(JsonObject):
    """All pending vectors and summaries are finished."""

    id: str
    messages: int


class ForgottenAnswer(Done):
    """A conversation that was forgotten, and the counts of what was deleted."""

    messages: int
    memories: int
    node_memories: int


class AllForgottenAnswer(ForgottenAnswer):
    """All conversations of a user that were forgotten."""

    conversations: int


class ConversationExists(Conflict):
    """The user already has a conversation with this id."""

    code = "conversation_exists"

    def __init__(self, id: str) -> None:
        super().__init__(f"There is a conversation {id[:80]!r} already. Choose another id.", field="id")


@router.get("", summary="A user's conversations, newest activity first")
@says("read")
async def list_conversations(
    site: SiteHere, scope: OwnerHere, limit: Limit = 50, cursor: Cursor = None, q: Called = None
) -> Answer[ConversationPage]:
    before = None if cursor is None else _place(cursor)
    async with open_conversations(site, scope) as own:
        if own is None:
            return Answer({"results": [], "next": None})
        pending = site.parts.chats.titles.pending(scope)  # before the titles are read, so that none is missed
        page = await asyncio.to_thread(_conversations_page, own, scope.user, limit, before, q or "")
        for listed in page["results"]:
            _note_pending(listed, pending)
        if degraded := await lacking(site, own, nothing=not page["results"]):
            page["degraded"] = degraded
        return Answer(page)


@router.post("", summary="Begin a conversation", status_code=201)
@says("write")
async def create(
    request: Request,
    site: SiteHere,
    scope: OwnerHere,
    body: Annotated[ConversationBody, Depends(BodyOf(ConversationBody))],
) -> Answer[ConversationAnswer]:
    scope = owner_in_body(request, scope, body.user_id)
    messages = await asyncio.to_thread(read_messages, body.messages) if body.messages else []
    id = body.id or str(uuid.uuid4())
    messages = await site.parts.memory.personal_data.messages(replace(scope, conversation=id), messages)
    async with site.parts.chats.conversations.of(scope) as own, room_for(site, scope, len(messages)):
        return await asyncio.to_thread(_create_conversation, own, scope.user, id, body, messages)


@router.delete("", summary="Forget all conversations of a user, and all that was made of them")
@says("admin", act="conversations.delete_all")
async def delete_all(site: SiteHere, scope: OwnerHere, user: UserQuery = None) -> Answer[AllForgottenAnswer]:
    if user is None and bound_user() is None:  # a missing filter never means all users, nor a default one
        raise InvalidRequest(
            "user_id is missing: say whose conversations to delete.", code="missing_user_id", field="user_id"
        )
    site.live_answers.stop_all(scope)
    forgotten = await site.parts.upkeep.forgetting.forget_all(scope)
    message = f"Deleted {forgotten['conversations']} conversations with {forgotten['messages']} messages"
    return Answer({**_forgotten_json(forgotten, message), "conversations": forgotten["conversations"]})


@router.get(ONE, summary="One conversation")
@says("read")
async def show(site: SiteHere, scope: OwnerHere, id: str) -> Answer[ConversationAnswer]:
    async with holding(site, scope, id) as own:
        pending = site.parts.chats.titles.pending(scope)
        answer = await asyncio.to_thread(_record_of, own, scope.user, id)
        _note_pending(answer, pending)
        return Answer(answer)


@router.patch(ONE, summary="Change what is noted about it")
@says("write", exact=True)
async def change(
    site: SiteHere,
    scope: OwnerHere,
    id: str,
    body: Annotated[ConversationChange, Depends(BodyOf(ConversationChange))],
) -> Answer[ConversationAnswer]:
    async with _changing.hold((scope, id)), holding(site, scope, id) as own:
        return await asyncio.to_thread(_change_conversation, own, scope.user, id, body)


@router.delete(ONE, summary="Forget it, and all that was made of what was said in it")
@says("write", act="conversations.forget")
async def delete(site: SiteHere, scope: OwnerHere, id: str) -> Answer[ForgottenAnswer]:
    async with holding(site, scope, id):
        site.live_answers.stop_all(replace(scope, conversation=id))
        forgotten = await site.parts.upkeep.forgetting.forget(scope, id)
    return Answer(_forgotten_json(forgotten, f"Deleted the conversation with {forgotten['messages']} messages"))


@router.put(ONE + "/head", summary="Let its thread end with another message")
@says("write")
async def set_head(
    site: SiteHere, scope: OwnerHere, id: str, body: Annotated[HeadBody, Depends(BodyOf(HeadBody))]
) -> Answer[ConversationAnswer]:
    async with holding(site, scope, id) as own:
        if not await asyncio.to_thread(own.manager.set_head, id, body.message_id, to_newest=body.to_newest):
            raise MessageNotFoundError(f"The conversation {id[:80]!r} has no message {body.message_id}.")
        return await asyncio.to_thread(_record_answer, own, scope.user, id)


@router.post(ONE + "/branch", summary="Begin another one with a copy of its thread", status_code=201)
@says("write")
async def branch(
    site: SiteHere, scope: OwnerHere, id: str, body: Annotated[BranchBody, Depends(BodyOf(BranchBody))]
) -> Answer[ConversationAnswer]:
    async with holding(site, scope, id) as own:
        count = await asyncio.to_thread(own.log.get_message_count, id)
        async with room_for(site, scope, count):
            return await asyncio.to_thread(_branch_conversation, own, scope.user, id, body)


@router.post(ONE + "/flush", summary="Wait until its vectors and summaries are made")
@says("write")
async def flush(site: SiteHere, scope: OwnerHere, id: str) -> Answer[FlushAnswer]:
    async with holding(site, scope, id) as own:
        await own.manager.wait_for_pending_embeddings()
        await asyncio.to_thread(own.manager.strategy.drain, _FLUSH_S)
        count = await asyncio.to_thread(own.log.get_message_count, id)
    return Answer({"id": id, "messages": count})


def _forgotten_json(forgotten: Counter[str], message: str) -> ForgottenAnswer:
    return {
        "success": True,
        "message": message,
        "messages": forgotten["messages"],
        "memories": forgotten["memories"],
        "node_memories": forgotten["node_memories"],
    }


def _place(cursor: str) -> tuple[datetime, str]:
    at, id = read_cursor(cursor, _LIST, str, str)
    try:
        return datetime.fromisoformat(str(at)).replace(tzinfo=None), str(id)
    except ValueError:
        raise InvalidCursor from None


def _conversations_page(
    own: OwnConversations, user: str, limit: int, before: Place | None, called: str
) -> ConversationPage:
    if called.strip():
        page, last = page_by_name(own.log, called, limit, before)
    else:
        found = own.log.sessions_page(limit + 1, before=before)
        page = found[:limit]
        last = place_of(page[-1]) if len(found) > limit else None
    following = None if last is None else write_cursor(_LIST, last[0].isoformat(timespec="microseconds"), last[1])
    return {"results": conversations_json(own.log, page, user), "next": following}


def _note_pending(conversation: ConversationAnswer, pending: set[str]) -> None:
    if conversation["id"] in pending:
        conversation["title_pending"] = True


def _record_answer(own: OwnConversations, user: str, id: str, status: int = 200) -> Answer[ConversationAnswer]:
    return Answer(_record_of(own, user, id), status)


def _record_of(own: OwnConversations, user: str, id: str) -> ConversationAnswer:
    record = own.log.get_session(id)
    if record is None:  # deleted a moment ago
        raise unknown_conversation(id)
    return conversations_json(own.log, [record], user)[0]


def _create_conversation(
    own: OwnConversations, user: str, id: str, body: ConversationBody, messages: list[Message]
) -> Answer[ConversationAnswer]:
    """Create a conversation with its messages, completely or not at all."""
    manager = own.manager
    try:
        manager.create_session(body.system_prompt or "", body.metadata(user), id)
    except SessionExistsError:
        raise ConversationExists(id) from None
    try:
        if messages:
            files = Attachments(own.node_parts.objects)
            manager.append_messages(id, [files.put_away(one, id) for one in messages], parent_id=ROOT)
    except BaseException:
        manager.delete_session(id)
        raise
    return _record_answer(own, user, id, 201)


def _change_conversation(
    own: OwnConversations, user: str, id: str, body: ConversationChange
) -> Answer[ConversationAnswer]:
    record = own.log.get_session(id)
    if record is None:
        raise unknown_conversation(id)
    prompt = (body.system_prompt or "") if "system_prompt" in body.model_fields_set else None
    own.manager.update_session(id, system_prompt=prompt, metadata=body.applied_to(record.metadata))
    if body.clear_context:
        own.log.mark_context(id)
    return _record_answer(own, user, id)


def _branch_conversation(own: OwnConversations, user: str, id: str, body: BranchBody) -> Answer[ConversationAnswer]:
    record = own.log.get_session(id)
    if record is None:
        raise unknown_conversation(id)
    metadata = record.metadata if body.title is None else replace(record.metadata, title=body.title)
    try:
        new_id = own.manager.branch_session(id, body.message_id, body.id, metadata)
    except SessionExistsError:
        raise ConversationExists(body.id or "") from None
    Attachments(own.node_parts.objects).copy(id, new_id)
    copy_node_memories(own.node_parts.objects, id, new_id)
    return _record_answer(own, user, new_id, 201)
