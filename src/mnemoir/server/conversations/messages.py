"""`/api/conversations/{id}/messages`: list the thread or the tree, append messages, and pin them."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import orjson
from fastapi import Depends, Header, Path, Query
from pydantic import BeforeValidator

from mnemoir.chats.stored_turns import add_messages
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.conversations import ROOT, Message, MessageNotFoundError, StoredMessage
from mnemoir.core.errors import Conflict, InvalidRequest
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.core.scope import Scope as Owner
from mnemoir.ports.log import Log
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import LARGEST_ID, idempotency_key, whole_number
from mnemoir.server.conversations.access import CONVERSATIONS, ONE, OwnerHere, holding, room_for
from mnemoir.server.conversations.answers import MessageAnswer, message_json
from mnemoir.server.conversations.bodies import MessagesBody, PinBody, read_messages
from mnemoir.server.conversations.pages import Page, following_page, newest_page, page_around, tree_page
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.rest import BodyOf, Cursor, Routes, SiteHere

router = Routes(prefix=CONVERSATIONS + ONE, tags=["conversations"], route_class=RouteAsSent)

_MOST_LISTED = 1000

_under_one_key = KeyedLock()  # the second of two requests with one key finds what the first added

View = Literal["thread", "tree"]
Limit = Annotated[int, BeforeValidator(whole_number(100, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")]
MessageId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Around = Annotated[
    int | None,
    Query(
        ge=ROOT,
        le=LARGEST_ID,
        description="begin with the page around that message, whichever branch it is on; 0 is the thread's beginning",
    ),
]


class MessagePage(JsonObject):
    """Messages, oldest first; `next` is the cursor of the following page.

    In a thread that page precedes this one, and `newer` is the cursor of the page after it. `offset` is the number of
    messages of the thread before these; null where they begin off the thread.
    """

    results: list[MessageAnswer]
    next: str | None
    newer: str | None
    offset: int | None


class AddedMessages(JsonObject):
    """The messages that were added, oldest first."""

    results: list[MessageAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The parameters of a requested page."""

    view: View
    limit: int
    cursor: str | None
    around: int | None


@router.get("/messages", summary="Messages of the thread, the newest page first, or of all branches, by id")
@says("read")
async def list_messages(
    site: SiteHere,
    scope: OwnerHere,
    id: str,
    view: View = "thread",
    limit: Limit = 100,
    cursor: Cursor = None,
    around: Around = None,
) -> Answer[MessagePage]:
    if around is not None and (cursor is not None or view == "tree"):
        raise InvalidRequest("around is for the first page of a thread: leave out cursor and view.", field="around")
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(
            _messages_page, own, id, _Asked(view=view, limit=limit, cursor=cursor, around=around)
        )


@router.post("/messages", summary="Add messages; once only under one Idempotency-Key", status_code=201)
@says("write")
async def append(
    site: SiteHere,
    scope: OwnerHere,
    id: str,
    body: Annotated[MessagesBody, Depends(BodyOf(MessagesBody))],
    key: Annotated[str | None, Header(alias="Idempotency-Key")] = None,
) -> Answer[AddedMessages]:
    messages = await asyncio.to_thread(read_messages, body.messages)
    messages = await site.parts.memory.personal_data.messages(replace(scope, conversation=id), messages)
    known = idempotency_key(key)
    uids = None if known is None else _uids_of(scope, id, known, len(messages))
    async with (
        _under_one_key.hold((scope.owner, id, known or object())),
        holding(site, scope, id) as own,
        room_for(site, scope, len(messages)),
    ):
        return await asyncio.to_thread(_append_messages, own, id, messages, body.parent_id, uids)


@router.patch("/messages/{message_id}", summary="Keep a message in every window, or no longer")
@says("write")
async def pin(
    site: SiteHere,
    scope: OwnerHere,
    id: str,
    message_id: MessageId,
    body: Annotated[PinBody, Depends(BodyOf(PinBody))],
) -> Answer[MessageAnswer]:
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_set_pin, own, id, message_id, body.pinned)


def _messages_page(own: OwnConversations, id: str, asked: _Asked) -> Answer[MessagePage]:
    page = _page(own.log, id, asked)
    on_thread = page.messages[0].id if page.messages and asked.view == "thread" else ROOT
    body: MessagePage = {
        "results": _messages_json(own, id, page.messages),
        "next": page.next,
        "newer": page.newer,
        "offset": own.log.place_on_thread(id, on_thread),
    }
    return Answer(body)


def _page(log: Log, id: str, asked: _Asked) -> Page:
    if asked.view == "tree":
        return tree_page(log, id, asked.limit, asked.cursor)
    if asked.around is not None:
        return page_around(log, id, asked.limit, asked.around)
    if asked.cursor is not None:
        return following_page(log, id, asked.limit, asked.cursor)
    return newest_page(log, id, asked.limit)


def _messages_json(own: OwnConversations, id: str, messages: Sequence[StoredMessage]) -> list[MessageAnswer]:
    """Each message with all children of its parent, so that a client can choose a branch without the tree."""
    parents = {stored.parent_id or ROOT for stored in messages}
    children = own.log.children(id, sorted(parents))
    return [message_json(stored, children[stored.parent_id or ROOT]) for stored in messages]


def _uids_of(scope: Owner, id: str, key: str, count: int) -> list[str]:
    """The uids of messages added under a key, and one more: as a message has its uid for good, so has its key."""
    named = orjson.dumps([scope.tenant, scope.project, scope.user, id, key])
    digests = (hashlib.blake2b(b"%d %s" % (at, named), digest_size=16) for at in range(count + 1))
    return [f"msg_{digest.hexdigest()}" for digest in digests]


def _added_before(own: OwnConversations, id: str, kept: Sequence[Message], uids: Sequence[str]) -> list[int]:
    """The ids of the messages that were added under the key of these uids; [] for a new one. Raises Conflict."""
    places = own.log.places_of(uids)
    ids = [places[uid][1] for uid in uids if uid in places and places[uid][0] == id]
    stored = own.log.messages_by_id(ids)
    before = [record_of(id, stored[one].message) for one in ids if one in stored]
    if ids and before != [record_of(id, message) for message in kept]:
        raise Conflict(
            "This Idempotency-Key was used for other messages of this conversation. Use a new key for new messages.",
            code="idempotency_mismatch",
        )
    return ids


def _append_messages(
    own: OwnConversations, id: str, messages: list[Message], parent_id: int | None, uids: Sequence[str] | None
) -> Answer[AddedMessages]:
    files = Attachments(own.node_parts.objects)
    kept = [files.put_away(message, id) for message in messages]
    ids = _added_before(own, id, kept, uids) if uids else []
    named = uids and uids[: len(kept)]
    if not ids and parent_id is None:
        ids = add_messages(own, id, kept, named)
    ids = ids or own.manager.append_messages(id, kept, parent_id=parent_id, uids=named)
    stored = own.log.messages_by_id(ids)
    return Answer({"results": _messages_json(own, id, [stored[one] for one in ids if one in stored])}, 201)


def _set_pin(own: OwnConversations, id: str, message_id: int, pinned: bool) -> Answer[MessageAnswer]:
    manager = own.manager
    pin = manager.pin_message if pinned else manager.unpin_message
    known = manager.get_message(id, message_id) is not None and pin(message_id)
    stored = manager.get_message(id, message_id) if known else None
    if stored is None:
        raise MessageNotFoundError(f"The conversation {id[:80]!r} has no message {message_id}.")
    return Answer(_messages_json(own, id, [stored])[0])
