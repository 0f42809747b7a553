"""Conversations and messages as JSON. Messages have OpenAI's shape."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from mnemoir.conversations.log.message_rows import write_call
from mnemoir.core.clock import to_text
from mnemoir.core.conversations import (
    ROOT,
    Content,
    MediaPart,
    Message,
    Part,
    Role,
    SessionRecord,
    StoredMessage,
    calls_of,
)
from mnemoir.core.text import beginning
from mnemoir.ports.log import Log
from mnemoir.server.answer import JsonObject

_PREVIEW = 80  # characters
_PREVIEW_AMONG = 8  # messages
_READ_AT_ONCE = 50  # conversations, because each message may have megabytes


class ConversationAnswer(JsonObject):
    """A conversation. `head` is the last message of its thread; windows begin after the message `context_after`.

    `title_pending` is there, and true, while a title is being made.
    """

    id: str
    title: str | None
    user_id: str
    tags: list[str]
    custom: dict[str, Any]
    system_prompt: str
    created_at: str
    updated_at: str
    head: int | None
    context_after: int | None
    message_count: int
    preview: str
    title_pending: NotRequired[bool]


class TextPartAnswer(JsonObject):
    """A text in a list of parts."""

    type: Literal["text"]
    text: str


class MediaUrl(JsonObject):
    """The URL of a picture, sound or film: on the web, or `mnemoir:attachments/{conversation}/{name}`."""

    url: str
    detail: NotRequired[str]


class ImagePartAnswer(JsonObject):
    """A picture."""

    type: Literal["image_url"]
    image_url: MediaUrl


class AudioPartAnswer(JsonObject):
    """A sound."""

    type: Literal["audio_url"]
    audio_url: MediaUrl


class VideoPartAnswer(JsonObject):
    """A film."""

    type: Literal["video_url"]
    video_url: MediaUrl


class FileData(JsonObject):
    """A document."""

    filename: str
    file_data: str


class FilePartAnswer(JsonObject):
    """A document as a part of a message."""

    type: Literal["file"]
    file: FileData


PartAnswer = Annotated[
    TextPartAnswer | ImagePartAnswer | AudioPartAnswer | VideoPartAnswer | FilePartAnswer, Field(discriminator="type")
]
ContentAnswer = str | list[PartAnswer] | None


class FunctionAnswer(JsonObject):
    """The name of a tool and its arguments: JSON, or the model's text where it wrote something else."""

    name: str
    arguments: str


class ToolCallAnswer(JsonObject):
    """A tool call requested by a model."""

    id: str
    type: Literal["function"]
    function: FunctionAnswer


class MessageAnswer(JsonObject):
    """A stored message. `parent_id` is null at the beginning; `on_thread` is true where it leads to the head.

    `uid` is its globally unique id, kept in exports. `siblings` are the ids of all children of its parent, its own
    included.
    """

    id: int
    uid: str | None
    parent_id: int | None
    role: Role
    content: ContentAnswer
    tool_calls: list[ToolCallAnswer] | None
    tool_call_id: str | None
    name: str | None
    created_at: str | None
    turn_id: str | None
    run_id: str | None
    finish_reason: str | None
    pinned: bool
    importance: float | None
    on_thread: bool
    siblings: list[int]


class SentMessage(JsonObject):
    """A message as it is sent to a model; members that are null are left out."""

    role: Role
    content: ContentAnswer
    tool_calls: NotRequired[list[ToolCallAnswer]]
    tool_call_id: NotRequired[str]
    name: NotRequired[str]


def conversations_json(log: Log, records: Sequence[SessionRecord], user: str) -> list[ConversationAnswer]:
    """Conversations, each with the number of messages in its thread and its first words. Blocks."""
    told: list[ConversationAnswer] = []
    for start in range(0, len(records), _READ_AT_ONCE):
        some = records[start : start + _READ_AT_ONCE]
        begun = log.beginnings([record.id for record in some], _PREVIEW_AMONG)
        told += (_conversation_json(record, user, *begun[record.id]) for record in some)
    return told


def first_words(log: Log, ids: Sequence[str]) -> dict[str, str]:
    """The beginning of each conversation by its id; "" where its first messages include none of the user. Blocks."""
    begun = log.beginnings(ids, _PREVIEW_AMONG)
    return {id: _preview(first) for id, (_, first) in begun.items()}


def _conversation_json(record: SessionRecord, user: str, count: int, first: Sequence[Message]) -> ConversationAnswer:
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
        "message_count": count,
        "preview": _preview(first),
    }


def message_json(stored: StoredMessage, siblings: Sequence[int]) -> MessageAnswer:
    """A stored message. Files stored as attachments are given as links."""
    message = stored.message
    return {
        "id": stored.id,
        "uid": stored.uid,
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


def sent_json(message: Message) -> SentMessage:
    """A message as it is sent to a model: OpenAI's members only."""
    told: SentMessage = {"role": message.role, "content": _content_json(message.content)}
    if calls := _calls_json(message):
        told["tool_calls"] = calls
    if message.tool_call_id is not None:
        told["tool_call_id"] = message.tool_call_id
    if message.name is not None:
        told["name"] = message.name
    return told


def _preview(first: Sequence[Message]) -> str:
    """The first words of the user."""
    said = next((message.text for message in first if message.role == "user" and message.text.strip()), "")
    return beginning(said, _PREVIEW)


def _content_json(content: Content) -> ContentAnswer:
    return [_part_json(part) for part in content] if isinstance(content, list) else content


def _part_json(part: Part) -> PartAnswer:
    if not isinstance(part, MediaPart):
        return {"type": "text", "text": part.data}
    if part.type == "document":
        return {"type": "file", "file": {"filename": part.filename, "file_data": part.data}}
    if part.type == "audio":
        return {"type": "audio_url", "audio_url": {"url": part.data}}
    if part.type == "video":
        return {"type": "video_url", "video_url": {"url": part.data}}
    return {"type": "image_url", "image_url": {"url": part.data, "detail": part.detail}}


def _calls_json(message: Message) -> list[ToolCallAnswer] | None:
    calls = [write_call(call) for call in calls_of(message)]
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ] or None
