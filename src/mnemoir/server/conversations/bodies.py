"""Conversations as JSON, both ways: what the routes accept, and what they answer. Messages are OpenAI's in shape."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, BeforeValidator, Field
from starlette.responses import Response

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.messages import Content, MediaPart, Message, Part, calls_of
from mnemoir.conversations.model_messages import from_model, write_call
from mnemoir.conversations.sessions import (
    ROOT,
    SessionMetadata,
    SessionRecord,
    StoredMessage,
    checked_session_id,
)
from mnemoir.core.clock import to_text
from mnemoir.core.errors import InvalidRequest, NotSupported
from mnemoir.core.scope import entity_name
from mnemoir.server.parameters import LARGEST_ID, Body, UserId
from mnemoir.server.rest import tolerant_json
from mnemoir.wire import openai_messages

Json = dict[str, Any]

_MOST_MESSAGES = 10_000
_MOST_DAYS = 36_500
_LONGEST_TITLE = 1000
_LONGEST_PROMPT = 100_000
_MOST_CUSTOM_BYTES = 64 * 1024
_PREVIEW = 80  # characters
_PREVIEW_AMONG = 8  # messages


def _id(raw: object) -> str:
    try:
        return checked_session_id(entity_name(raw, "id"))
    except InvalidRequest:
        raise ValueError('must be a text of 1 to 256 printable characters, and not "." or ".."') from None


def _small(custom: dict[str, Any]) -> dict[str, Any]:
    if len(orjson.dumps(custom)) > _MOST_CUSTOM_BYTES:
        raise ValueError(f"must be at most {_MOST_CUSTOM_BYTES} bytes of JSON")
    return custom


NewId = Annotated[str, BeforeValidator(_id, json_schema_input_type=str)]
Title = Annotated[str, Field(max_length=_LONGEST_TITLE)]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=256)]], Field(max_length=100)]
Custom = Annotated[dict[str, Any], AfterValidator(_small)]
Prompt = Annotated[str, Field(max_length=_LONGEST_PROMPT)]
MessageId = Annotated[int, Field(ge=1, le=LARGEST_ID)]
MessageBodies = Annotated[list[dict[str, Any]], Field(max_length=_MOST_MESSAGES)]


class ConversationBody(Body):
    """`POST /api/conversations`."""

    user_id: UserId | None = None
    id: NewId | None = None
    title: Title | None = None
    system_prompt: Prompt | None = None
    tags: Tags | None = None
    custom: Custom | None = None
    messages: MessageBodies | None = None

    def metadata(self, user: str) -> SessionMetadata:
        """What is noted about the new conversation."""
        return SessionMetadata(user=user, title=self.title, tags=self.tags or [], custom=self.custom or {})


class ConversationChange(Body):
    """`PATCH /api/conversations/{id}`, any subset. `keep` keeps it from being pruned."""

    title: Title | None = None
    system_prompt: Prompt | None = None
    tags: Tags | None = None
    custom: Custom | None = None
    keep: bool | None = None
    clear_context: bool | None = None

    def applied_to(self, noted: SessionMetadata) -> SessionMetadata:
        """What is noted afterwards. A `keep` that was set stays, whatever else `custom` becomes."""
        given = self.model_fields_set
        kept = {"keep": noted.custom["keep"]} if "keep" in noted.custom else {}
        custom = {**kept, **(self.custom or {})} if "custom" in given else dict(noted.custom)
        if self.keep is not None:
            custom["keep"] = self.keep
        return SessionMetadata(
            user=noted.user,
            title=self.title if "title" in given else noted.title,
            tags=(self.tags or []) if "tags" in given else noted.tags,
            custom=custom,
        )


class HeadBody(Body):
    """`PUT /api/conversations/{id}/head`: the message that the thread is to end with.

    With `to_newest` it goes on from there, to the newest end of the branches behind that message.
    """

    message_id: MessageId
    to_newest: bool = False


class BranchBody(Body):
    """`POST /api/conversations/{id}/branch`: a copy of the thread up to and with that message."""

    message_id: MessageId
    id: NewId | None = None
    title: Title | None = None


class MessagesBody(Body):
    """`POST /api/conversations/{id}/messages`. They go behind `parent_id`: 0 is the beginning, none the head."""

    messages: Annotated[MessageBodies, Field(min_length=1)]
    parent_id: Annotated[int, Field(ge=ROOT, le=LARGEST_ID)] | None = None


class PinBody(Body):
    """`PATCH /api/conversations/{id}/messages/{message_id}`."""

    pinned: bool


class PruneBody(Body):
    """`POST /api/conversations/prune`: those last used more than `days` days ago."""

    user_id: UserId | None = None
    days: Annotated[int, Field(ge=0, le=_MOST_DAYS)]
    dry_run: bool | None = False


class CleanupBody(Body):
    """`POST /api/conversations/node-memory/cleanup`; without days only those of conversations that are gone."""

    user_id: UserId | None = None
    older_than_days: Annotated[int, Field(ge=0, le=_MOST_DAYS)] | None = None
    dry_run: bool = False


def conversation_answer(body: Json, status: int = 200) -> Response:
    """JSON of whatever was stored, odd characters of an imported file among it."""
    return Response(tolerant_json(body), status_code=status, media_type="application/json")


def read_messages(given: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Messages in OpenAI's shape as conversations hold them. Raises InvalidRequest, naming the member."""
    try:
        return [from_model(message) for message in openai_messages.read_messages(list(given))]
    except NotSupported as exc:
        raise InvalidRequest(exc.message, code="validation_error", field=exc.field) from None
    except InvalidRequest as exc:
        raise InvalidRequest(exc.message, code="validation_error", field=exc.field or "messages") from None


def conversation_json(manager: MemoryManager, record: SessionRecord, user: str) -> Json:
    """A conversation, with the number of messages of its thread and its first words. Blocks."""
    metadata = record.metadata
    return {
        "id": record.id,
        "title": metadata.title,
        "user_id": user,
        "tags": metadata.tags,
        "custom": metadata.custom,
        "system_prompt": record.system_prompt,
        "created_at": to_text(record.created_at),
        "updated_at": to_text(record.updated_at),
        "head": record.head,
        "context_after": record.context_after,
        "message_count": manager.get_message_count(record.id),
        "preview": preview(manager, record.id),
    }


def message_json(stored: StoredMessage, siblings: Sequence[int]) -> Json:
    """A stored message. Files whose bytes were put away are given as links."""
    message = stored.message
    return {
        "id": stored.id,
        "parent_id": None if stored.parent_id == ROOT else stored.parent_id,
        "role": message.role,
        "content": _content_json(message.content),
        "tool_calls": _calls_json(message),
        "tool_call_id": message.tool_call_id,
        "name": message.name,
        "created_at": None if stored.created_at is None else to_text(stored.created_at),
        "turn_id": stored.turn_id,
        "run_id": stored.run_id,
        "finish_reason": stored.finish_reason,
        "pinned": stored.pinned,
        "importance": stored.importance,
        "on_thread": stored.is_on_thread,
        "siblings": list(siblings),
    }


def sent_json(message: Message) -> Json:
    """A message as a model is sent it: OpenAI's members alone."""
    further = {
        "tool_calls": _calls_json(message),
        "tool_call_id": message.tool_call_id,
        "name": message.name,
    }
    told: Json = {"role": message.role, "content": _content_json(message.content)}
    return told | {name: value for name, value in further.items() if value is not None}


def preview(manager: MemoryManager, id: str) -> str:
    """The first words of the user; "" where there are none among the first messages."""
    first = manager.storage.load_messages(id, limit=_PREVIEW_AMONG)
    said = next((message.text for message in first if message.role == "user" and message.text.strip()), "")
    return " ".join(said[: _PREVIEW * 10].split())[:_PREVIEW]


def _content_json(content: Content) -> str | list[Json] | None:
    return [_part_json(part) for part in content] if isinstance(content, list) else content


def _part_json(part: Part) -> Json:
    if not isinstance(part, MediaPart):
        return {"type": "text", "text": part.data}
    if part.type == "document":
        return {"type": "file", "file": {"filename": part.filename, "file_data": part.data}}
    detail = {"detail": part.detail} if part.type == "image" else {}
    kind = f"{part.type}_url"
    return {"type": kind, kind: {"url": part.data, **detail}}


def _calls_json(message: Message) -> list[Json] | None:
    return openai_messages.write_tool_calls([write_call(call) for call in calls_of(message)]) or None
