"""`/api/conversations/{id}/messages`: the thread and the tree, added to, and pinned."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BeforeValidator
from starlette.responses import Response

from mnemoir.conversations.attachments import Attachments
from mnemoir.conversations.messages import Message
from mnemoir.conversations.sessions import ROOT, MessageNotFoundError, StoredMessage
from mnemoir.conversations.users import OwnConversations
from mnemoir.server.conversation_access import CONVERSATIONS, ONE, OwnerHere, holding
from mnemoir.server.conversation_answers import AddedMessages, MessageAnswer, MessagePage
from mnemoir.server.conversation_models import (
    LARGEST_ID,
    Json,
    MessagesBody,
    PinBody,
    conversation_answer,
    message_json,
    read_messages,
)
from mnemoir.server.conversations import Cursor
from mnemoir.server.cursors import InvalidCursor, read_cursor, write_cursor
from mnemoir.server.memory_models import whole_number
from mnemoir.server.raw_paths import RouteAsSent
from mnemoir.server.rest import SiteHere, accepts, body_of

router = APIRouter(prefix=CONVERSATIONS + ONE, tags=["conversations"], route_class=RouteAsSent)

_MOST_LISTED = 1000
_AT_ONCE = 64  # messages, for each may have megabytes
_PAGE_CHARACTERS = 8 * 1024 * 1024  # a page ends behind the message that is over it

View = Literal["thread", "tree"]
Limit = Annotated[int, BeforeValidator(whole_number(100, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")]
MessageId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Read = Callable[[int, int], list[StoredMessage]]  # so many, behind that id; 0 for the first


@router.get(
    "/messages",
    summary="Messages of the thread, the newest page first, or of all branches, by id",
    response_model=MessagePage,
)
async def list_messages(
    site: SiteHere, scope: OwnerHere, id: str, view: View = "thread", limit: Limit = 100, cursor: Cursor = None
) -> Response:
    last = 0 if cursor is None else _place(cursor, view)
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_listed, own, id, view, limit, last)


@router.post(
    "/messages",
    summary="Add messages",
    status_code=201,
    response_model=AddedMessages,
    openapi_extra=accepts(MessagesBody),
)
async def append(
    site: SiteHere, scope: OwnerHere, id: str, body: Annotated[MessagesBody, Depends(body_of(MessagesBody))]
) -> Response:
    messages = await asyncio.to_thread(read_messages, body.messages)
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_appended, own, id, messages, body.parent_id)


@router.patch(
    "/messages/{message_id}",
    summary="Keep a message in every window, or no longer",
    response_model=MessageAnswer,
    openapi_extra=accepts(PinBody),
)
async def pin(
    site: SiteHere,
    scope: OwnerHere,
    id: str,
    message_id: MessageId,
    body: Annotated[PinBody, Depends(body_of(PinBody))],
) -> Response:
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_pinned, own, id, message_id, body.pinned)


def _place(cursor: str, view: View) -> int:
    (place,) = read_cursor(cursor, view, int)
    if not isinstance(place, int) or not 0 < place <= LARGEST_ID:
        raise InvalidCursor
    return place


def _listed(own: OwnConversations, id: str, view: View, limit: int, last: int) -> Response:
    def thread(count: int, before: int) -> list[StoredMessage]:
        return own.manager.thread(id, count, before=before or None)

    def tree(count: int, after: int) -> list[StoredMessage]:
        return own.manager.message_tree(id, count, after=after)

    page, goes_on = _page(thread if view == "thread" else tree, limit, last)
    following = write_cursor(view, page[-1].id) if goes_on else None
    in_order = page[::-1] if view == "thread" else page
    return conversation_answer({"results": _told(own, id, in_order), "next": following})


def _told(own: OwnConversations, id: str, messages: list[StoredMessage]) -> list[Json]:
    """Each with what stands behind its parent, itself among it, so that a branch can be chosen without the tree."""
    parents = {stored.parent_id or ROOT for stored in messages}
    children = own.manager.children(id, sorted(parents))
    return [message_json(stored, children[stored.parent_id or ROOT]) for stored in messages]


def _page(read: Read, limit: int, last: int) -> tuple[list[StoredMessage], bool]:
    """At most `limit`, fewer where they are large; and whether there may be more."""
    found: list[StoredMessage] = []
    characters = 0
    while len(found) <= limit and characters < _PAGE_CHARACTERS:
        more = read(min(limit + 1 - len(found), _AT_ONCE), last)
        if not more:  # a damaged message is left out, so fewer than asked for is not the end
            return found, False
        found += more
        last = more[-1].id
        characters += sum(len(stored.message.text) for stored in more)
    return found[:limit], True


def _appended(own: OwnConversations, id: str, messages: list[Message], parent_id: int | None) -> Response:
    files = Attachments(own.node_parts.objects)
    kept = [files.put_away(message, id) for message in messages]
    ids = own.manager.append_messages(id, kept, parent_id=parent_id)
    stored = own.manager.storage.messages_by_id(ids)
    return conversation_answer({"results": _told(own, id, [stored[one] for one in ids if one in stored])}, 201)


def _pinned(own: OwnConversations, id: str, message_id: int, pinned: bool) -> Response:
    manager = own.manager
    pin = manager.pin_message if pinned else manager.unpin_message
    known = manager.get_message(id, message_id) is not None and pin(message_id)
    stored = manager.get_message(id, message_id) if known else None
    if stored is None:
        raise MessageNotFoundError(f"The conversation {id[:80]!r} has no message {message_id}.")
    return conversation_answer(_told(own, id, [stored])[0])
