"""`/api/conversations`: each user's conversations are listed, begun, changed, branched and forgotten.

An id may hold any printable characters; slashes too, when they are encoded (`a%2Fb`). What changes a conversation is
on the disk before it is answered.
"""

import asyncio
import uuid
from dataclasses import asdict, replace
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BeforeValidator
from starlette.responses import Response

from mnemoir.app.forgetting import not_found
from mnemoir.conversations.attachments import Attachments
from mnemoir.conversations.conversation_nodes import copy_node_memories
from mnemoir.conversations.messages import Message
from mnemoir.conversations.sessions import ROOT, MessageNotFoundError, SessionExistsError
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.errors import Conflict, InvalidRequest
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.server.conversation_access import (
    CONVERSATIONS,
    ONE,
    OwnerHere,
    UserQuery,
    holding,
    opened,
    owner_in_body,
)
from mnemoir.server.conversation_answers import (
    AllForgottenAnswer,
    ConversationAnswer,
    ConversationPage,
    FlushAnswer,
    ForgottenAnswer,
)
from mnemoir.server.conversation_models import (
    BranchBody,
    ConversationBody,
    ConversationChange,
    HeadBody,
    conversation_answer,
    conversation_json,
    preview,
    read_messages,
)
from mnemoir.server.conversation_titles import Place, page_called, place_of
from mnemoir.server.cursors import InvalidCursor, read_cursor, write_cursor
from mnemoir.server.memory_models import whole_number
from mnemoir.server.raw_paths import RouteAsSent
from mnemoir.server.rest import SiteHere, accepts, body_of

router = APIRouter(prefix=CONVERSATIONS, tags=["conversations"], route_class=RouteAsSent)

_MOST_LISTED = 200
_LIST = "conversations"
_FLUSH_S = 60.0
_changing = KeyedLock()  # what is noted about a conversation is read, changed and written back

Limit = Annotated[int, BeforeValidator(whole_number(50, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")]
Cursor = Annotated[str | None, Query(description="`next` of the page before")]
Called = Annotated[
    str | None,
    Query(max_length=1000, description="words of the title, or of the first words where there is none"),
]


class ConversationExists(Conflict):
    """The user has a conversation of that id."""

    code = "conversation_exists"

    def __init__(self, id: str) -> None:
        super().__init__(f"There is a conversation {id[:80]!r} already. Choose another id.", field="id")


@router.get("", summary="A user's conversations, newest activity first", response_model=ConversationPage)
async def list_conversations(
    site: SiteHere, scope: OwnerHere, limit: Limit = 50, cursor: Cursor = None, q: Called = None
) -> Response:
    before = None if cursor is None else _place(cursor)
    async with opened(site, scope) as own:
        if own is None:
            return conversation_answer({"results": [], "next": None})
        return await asyncio.to_thread(_listed, own, scope.user, limit, before, q or "")


@router.post(
    "",
    summary="Begin a conversation",
    status_code=201,
    response_model=ConversationAnswer,
    openapi_extra=accepts(ConversationBody),
)
async def create(
    request: Request,
    site: SiteHere,
    scope: OwnerHere,
    body: Annotated[ConversationBody, Depends(body_of(ConversationBody))],
) -> Response:
    scope = owner_in_body(request, scope, body.user_id)
    messages = await asyncio.to_thread(read_messages, body.messages) if body.messages else []
    async with site.parts.conversations.of(scope) as own:
        return await asyncio.to_thread(_created, own, scope.user, body, messages)


@router.delete(
    "",
    summary="Forget all conversations of a user, and all that was made of them",
    response_model=AllForgottenAnswer,
)
async def delete_all(site: SiteHere, scope: OwnerHere, user: UserQuery = None) -> Response:
    if user is None:  # a missing filter never means everybody's, nor anybody's in particular
        raise InvalidRequest(
            "user_id is missing: say whose conversations to delete.", code="missing_user_id", field="user_id"
        )
    forgotten = await site.parts.forgetting.forget_all(scope)
    message = f"Deleted {forgotten.conversations} conversations with {forgotten.messages} messages"
    return conversation_answer({"success": True, "message": message, **asdict(forgotten)})


@router.get(ONE, summary="One conversation", response_model=ConversationAnswer)
async def show(site: SiteHere, scope: OwnerHere, id: str) -> Response:
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_shown, own, scope.user, id)


@router.patch(
    ONE,
    summary="Change what is noted about it",
    response_model=ConversationAnswer,
    openapi_extra=accepts(ConversationChange),
)
async def change(
    site: SiteHere,
    scope: OwnerHere,
    id: str,
    body: Annotated[ConversationChange, Depends(body_of(ConversationChange))],
) -> Response:
    async with _changing.hold((scope, id)), holding(site, scope, id) as own:
        return await asyncio.to_thread(_changed, own, scope.user, id, body)


@router.delete(ONE, summary="Forget it, and all that was made of what was said in it", response_model=ForgottenAnswer)
async def delete(site: SiteHere, scope: OwnerHere, id: str) -> Response:
    async with holding(site, scope, id):
        forgotten = await site.parts.forgetting.forget(scope, id)
    told = {
        "messages": forgotten.messages,
        "memories": forgotten.memories,
        "node_memories": forgotten.node_memories,
    }
    message = f"Deleted the conversation with {forgotten.messages} messages"
    return conversation_answer({"success": True, "message": message, **told})


@router.put(
    ONE + "/head",
    summary="Let its thread end with another message",
    response_model=ConversationAnswer,
    openapi_extra=accepts(HeadBody),
)
async def set_head(
    site: SiteHere, scope: OwnerHere, id: str, body: Annotated[HeadBody, Depends(body_of(HeadBody))]
) -> Response:
    async with holding(site, scope, id) as own:
        if not await asyncio.to_thread(own.manager.set_head, id, body.message_id, to_newest=body.to_newest):
            raise MessageNotFoundError(f"The conversation {id[:80]!r} has no message {body.message_id}.")
        return await asyncio.to_thread(_shown, own, scope.user, id)


@router.post(
    ONE + "/branch",
    summary="Begin another one with a copy of its thread",
    status_code=201,
    response_model=ConversationAnswer,
    openapi_extra=accepts(BranchBody),
)
async def branch(
    site: SiteHere, scope: OwnerHere, id: str, body: Annotated[BranchBody, Depends(body_of(BranchBody))]
) -> Response:
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_branched, own, scope.user, id, body)


@router.post(ONE + "/flush", summary="Wait until its vectors and summaries are made", response_model=FlushAnswer)
async def flush(site: SiteHere, scope: OwnerHere, id: str) -> Response:
    async with holding(site, scope, id) as own:
        await own.manager.wait_for_pending_embeddings()
        await asyncio.to_thread(own.manager.strategy.drain, _FLUSH_S)
        count = await asyncio.to_thread(own.manager.get_message_count, id)
    return conversation_answer({"id": id, "messages": count})


def _place(cursor: str) -> tuple[datetime, str]:
    at, id = read_cursor(cursor, _LIST, str, str)
    try:
        return datetime.fromisoformat(str(at)).replace(tzinfo=None), str(id)
    except ValueError:
        raise InvalidCursor from None


def _listed(own: OwnConversations, user: str, limit: int, before: Place | None, called: str) -> Response:
    if called.strip():
        page, last = page_called(own.manager, called, lambda id: preview(own.manager, id), limit, before)
    else:
        found = own.manager.list_page(limit + 1, before=before)
        page = found[:limit]
        last = place_of(page[-1]) if len(found) > limit else None
    following = None if last is None else write_cursor(_LIST, last[0].isoformat(timespec="microseconds"), last[1])
    results = [conversation_json(own.manager, record, user) for record in page]
    return conversation_answer({"results": results, "next": following})


def _shown(own: OwnConversations, user: str, id: str, status: int = 200) -> Response:
    record = own.manager.get_session(id)
    if record is None:  # deleted a moment ago
        raise not_found(id)
    return conversation_answer(conversation_json(own.manager, record, user), status)


def _created(own: OwnConversations, user: str, body: ConversationBody, messages: list[Message]) -> Response:
    """Whole or not at all."""
    manager, id = own.manager, body.id or str(uuid.uuid4())
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
    return _shown(own, user, id, 201)


def _changed(own: OwnConversations, user: str, id: str, body: ConversationChange) -> Response:
    record = own.manager.get_session(id)
    if record is None:
        raise not_found(id)
    prompt = (body.system_prompt or "") if "system_prompt" in body.model_fields_set else None
    own.manager.update_session(id, system_prompt=prompt, metadata=body.applied_to(record.metadata))
    if body.clear_context:
        own.manager.clear_context(id)
    return _shown(own, user, id)


def _branched(own: OwnConversations, user: str, id: str, body: BranchBody) -> Response:
    record = own.manager.get_session(id)
    if record is None:
        raise not_found(id)
    metadata = record.metadata if body.title is None else replace(record.metadata, title=body.title)
    try:
        new_id = own.manager.branch_session(id, body.message_id, body.id, metadata)
    except SessionExistsError:
        raise ConversationExists(body.id or "") from None
    Attachments(own.node_parts.objects).copy(id, new_id)
    copy_node_memories(own.node_parts.objects, id, new_id)
    return _shown(own, user, new_id, 201)
