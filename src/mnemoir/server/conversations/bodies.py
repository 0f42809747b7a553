"""The request bodies of the conversation routes. Messages have OpenAI's shape."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, BeforeValidator, Field

from mnemoir.conversations.log.message_rows import from_model
from mnemoir.core.conversations import ROOT, Message, SessionMetadata, checked_session_id
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import OpaquePart
from mnemoir.core.scope import entity_name
from mnemoir.server.body import LARGEST_ID, Body, OtherUser, UserId
from mnemoir.wire import openai_messages

Json = dict[str, Any]

_MOST_MESSAGES = 10_000
_MOST_DAYS = 36_500
_LONGEST_TITLE = 1000
_LONGEST_PROMPT = 100_000
_MOST_CUSTOM_BYTES = 64 * 1024


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
        """The metadata of the new conversation."""
        return SessionMetadata(user=user, title=self.title, tags=self.tags or [], custom=self.custom or {})


class ConversationChange(Body):
    """`PATCH /api/conversations/{id}`, any subset. `keep` protects the conversation from pruning."""

    title: Title | None = None
    system_prompt: Prompt | None = None
    tags: Tags | None = None
    custom: Custom | None = None
    keep: bool | None = None
    clear_context: bool | None = None

    def applied_to(self, noted: SessionMetadata) -> SessionMetadata:
        """The metadata with this change applied. A `keep` that was set stays when `custom` is replaced."""
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
    """`PUT /api/conversations/{id}/head`: the new last message of the thread.

    With `to_newest` the thread continues to the newest end of the branches after that message.
    """

    message_id: MessageId
    to_newest: bool = False


class BranchBody(Body):
    """`POST /api/conversations/{id}/branch`: a copy of the thread up to and including that message."""

    message_id: MessageId
    id: NewId | None = None
    title: Title | None = None


class MessagesBody(Body):
    """`POST /api/conversations/{id}/messages`. They follow `parent_id`: 0 is the beginning, none the head."""

    messages: Annotated[MessageBodies, Field(min_length=1)]
    parent_id: Annotated[int, Field(ge=ROOT, le=LARGEST_ID)] | None = None


class PinBody(Body):
    """`PATCH /api/conversations/{id}/messages/{message_id}`."""

    pinned: bool


class PruneBody(Body):
    """`POST /api/conversations/prune`: conversations last used more than `days` days ago."""

    user_id: OtherUser = None
    days: Annotated[int, Field(ge=0, le=_MOST_DAYS)]
    dry_run: bool = False


class CleanupBody(Body):
    """`POST /api/conversations/node-memory/cleanup`; without days only that of deleted conversations."""

    user_id: OtherUser = None
    older_than_days: Annotated[int, Field(ge=0, le=_MOST_DAYS)] | None = None
    dry_run: bool = False


def read_messages(given: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Convert messages in OpenAI's shape for storage. Raises InvalidRequest, naming the member."""
    try:
        read = openai_messages.read_messages(list(given))
    except InvalidRequest as exc:
        raise InvalidRequest(exc.message, code="validation_error", field=exc.field or "messages") from None
    for number, message in enumerate(read):
        for place, part in enumerate(message.parts):
            if isinstance(part, OpaquePart) and part.kind not in openai_messages.KNOWN_PARTS:
                at = f"messages[{number}].content[{place}].type"
                told = (
                    f"{at} {part.kind!r} is not kept; send text, image_url, {', '.join(openai_messages.KNOWN_PARTS)}."
                )
                raise InvalidRequest(told, code="validation_error", field=at)
    return [from_model(message) for message in read]
