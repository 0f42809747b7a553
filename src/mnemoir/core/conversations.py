"""Messages as conversation memory holds them and gives them out: the public values of `mnemoir.conversations`.

One shape serves both designs. Content is a text, a list of parts (files first, the text last), or None for an
assistant message that only calls tools.

A session's system prompt is stored in the session's row and is never one of its messages. Times are naive UTC, to the
microsecond. Messages form a tree: each is a child of its parent, and a regenerated answer or an edited question is a
sibling of the earlier one. One path through the tree is the session's thread; it ends with the head. On every path
messages are ordered by time, then by id.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal

from mnemoir.core.errors import Conflict, InvalidRequest, NotFound
from mnemoir.core.errors import StorageBusyError as StorageBusyError
from mnemoir.core.text import size_of

Role = Literal["system", "user", "assistant", "tool"]
MediaType = Literal["image", "audio", "video", "document"]
ImportFormat = Literal[
    "auto", "jsonl", "json", "open-webui", "chatgpt", "claude", "deepseek", "librechat", "big-agi", "lm-studio",
    "jan", "sillytavern", "openai", "harombe",
]  # fmt: skip  # of files that conversations are imported from
_LONGEST_ID = 512
_MOST_ID_BYTES = 1024  # an index of a database has a bound for its keys
ROOT = 0  # the parent of a message that begins a thread
HEAD = -1  # in place of a message's id: the last message of the thread


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text within a list of parts."""

    data: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaPart:
    """A file that a model is shown; `data` is its URL, else a data URL of its bytes. `detail` is for images."""

    type: MediaType
    mime_type: str = ""
    url: str = ""
    base64_data: str = field(default="", repr=False)
    format: str = ""
    filename: str = ""
    detail: Literal["low", "high"] = "low"
    tokens: int | None = None  # its declared cost, where it is known

    @property
    def data(self) -> str:
        return self.url or f"data:{self.mime_type};base64,{self.base64_data}"


Part = TextPart | MediaPart
Content = str | list[Part] | None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that an assistant message asks for."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Message:
    """One role-tagged piece of a conversation."""

    role: Role
    content: Content = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """Its text parts, or its content; "" for none."""
        if isinstance(self.content, list):
            return "".join(part.data for part in self.content if isinstance(part, TextPart))
        return self.content or ""


def calls_of(message: Message) -> Sequence[ToolCall]:
    """The calls it asks for; none for most messages."""
    return message.tool_calls or ()


class SessionExistsError(Conflict):
    """There is already a session with that id."""

    code = "session_exists"


class MessageNotFoundError(NotFound):
    """The session has no message with that id."""

    code = "message_not_found"


class _Members(Mapping[str, Any]):
    """A dataclass that can also be read like a mapping of its members: `x["id"]`, `x.get("id")`, `dict(x)`."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:  # each member has a type of its own
        if name not in _names(self):
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(_names(self))

    def __len__(self) -> int:
        return len(_names(self))


def _names(members: _Members) -> Sequence[str]:
    return [member.name for member in fields(members)]  # type: ignore[arg-type]  # each is a dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMetadata(_Members):
    """A program's metadata of a session. `custom.keep` protects the session from pruning.

    It can also be read like a mapping, in which a key of `custom` that is no member's name is found as well.
    """

    user: str | None = None
    tags: list[str] = field(default_factory=list)
    title: str | None = None
    custom: dict[str, Any] = field(default_factory=dict)  # JSON

    @property
    def is_kept(self) -> bool:
        """True when pruning never deletes the session, at any age."""
        return bool(self.custom.get("keep"))

    def __getitem__(self, name: str) -> Any:
        is_own = name in self.custom and name not in _names(self)
        return self.custom[name] if is_own else _Members.__getitem__(self, name)

    def to_json(self) -> str:
        """The metadata as JSON text. Raises InvalidRequest for values that JSON cannot represent."""
        members = {member.name: getattr(self, member.name) for member in fields(self)}
        try:
            return json.dumps(members, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as exc:
            raise InvalidRequest(f"The metadata of a session must be JSON: {exc}.", field="metadata") from exc


_KNOWN = frozenset(member.name for member in fields(SessionMetadata))


def metadata_of(given: SessionMetadata | Mapping[str, Any] | None) -> SessionMetadata:
    """The metadata given by a caller; unknown keys of a mapping go to `custom`.

    Raises InvalidRequest naming the member for a value of the wrong type.
    """
    if isinstance(given, SessionMetadata):
        return given
    members = dict(given or {})
    others = {key: members.pop(key) for key in list(members) if key not in _KNOWN}
    user, title = _text_or_none(members, "user"), _text_or_none(members, "title")
    tags, custom = members.get("tags") or [], members.get("custom") or {}
    if not isinstance(tags, list | tuple | set | frozenset) or not all(isinstance(tag, str) for tag in tags):
        raise _wrong("tags", "a list of texts", tags)
    if not isinstance(custom, Mapping):
        raise _wrong("custom", "a mapping", custom)
    in_order = sorted(tags) if isinstance(tags, set | frozenset) else list(tags)
    return SessionMetadata(user=user, tags=in_order, title=title, custom={**custom, **others})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord(_Members):
    """A session. It can also be read like a mapping: `record["id"]`, `record.get("id")`, `dict(record)`."""

    id: str
    created_at: datetime
    updated_at: datetime  # of its last activity
    system_prompt: str
    metadata: SessionMetadata
    context_after: int | None = None  # windows begin after the message of this id
    head: int | None = None  # the newest message of the thread; None before the first


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord:
    """The row of a message. `tool_calls` and `files` are JSON texts.

    Without a time it gets the time of saving. It is never older than its parent. Without a parent it is placed after
    the head of its session, or on the thread by its time. `finish_reason` is the end of an answer as models name it
    (`stop`, `length`, `tool_calls`, `content_filter`), or `incomplete` for an answer that was cut off.
    """

    session_id: str
    role: str
    content: str | None = None
    tool_calls: str | None = None
    tool_call_id: str | None = None
    name: str | None = None
    created_at: datetime | None = None
    id: int | None = None  # given by the store
    parent_id: int | None = None
    turn_id: str | None = None
    token_count: int | None = None
    importance: float | None = None  # 0 to 1
    pinned: bool = False
    files: str | None = None
    run_id: str | None = None  # the run that answered
    finish_reason: str | None = None
    uid: str | None = None  # without one it gets a new one

    @property
    def is_embeddable(self) -> bool:
        """True when semantic search finds the message: it has a text and is no system message."""
        return self.role != "system" and bool(self.content and self.content.strip())


@dataclass(slots=True, kw_only=True)  # not frozen: a window makes hundreds, and each would cost half as much again
class StoredMessage:
    """A message with its position in the store. The thread is the path from the first message to the head.

    `id` is a number within its file; `uid` identifies the message across files, and is part of exports.

    A strategy may add messages that are not stored, such as a summary: they are marked by `made`, and their `id` is
    that of the message before them, or ROOT.
    """

    id: int
    session_id: str
    message: Message
    created_at: datetime | None  # None when the stored time cannot be read
    parent_id: int | None = None  # ROOT at the beginning; None before a branch mattered in a file of another program
    turn_id: str | None = None
    token_count: int | None = None
    importance: float | None = None
    pinned: bool = False
    run_id: str | None = None
    finish_reason: str | None = None
    is_on_thread: bool = True
    uid: str | None = None
    made: bool = False


def messages_of(stored: Iterable[StoredMessage]) -> list[Message]:
    """The messages without their positions."""
    return [one.message for one in stored]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The result of aligning a client's history with the tree.

    `ids` are the ids of its messages, in order; `added` are those that are new. `parent_id` is the parent of the
    first new message, or of the next one if none is new: ROOT at the beginning.
    """

    ids: list[int]
    added: list[int]
    parent_id: int


Resumed = Placed  # its name in `mnemoir.conversations`


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The summary of a session's messages up to and including the message `upto_message_id`."""

    upto_message_id: int
    text: str
    token_count: int
    model: str
    created_at: datetime | None = None  # None means the time of saving


def checked_session_id(session_id: str) -> str:
    """The id itself. Raises InvalidRequest if it is no text, empty, too long, not storable, "." or "..".

    Clients remove "." and ".." from the path of a URL, so a session with such an id could not be requested.
    """
    if not isinstance(session_id, str) or not 0 < len(session_id) <= _LONGEST_ID:
        raise InvalidRequest(
            f"A session's id is a text of 1 to {_LONGEST_ID} characters, not {session_id!r:.80}.", field="session_id"
        )
    if "\0" in session_id or not session_id.isprintable():
        raise InvalidRequest(f"A session's id has printable characters only: {session_id!a:.80}.", field="session_id")
    if size_of(session_id) > _MOST_ID_BYTES:
        raise InvalidRequest(
            f"A session's id has at most {_MOST_ID_BYTES} bytes in UTF-8, not {size_of(session_id)}.",
            field="session_id",
        )
    if session_id in (".", ".."):
        raise InvalidRequest(
            f"A session cannot be called {session_id!r}: no address could name it. Choose another id.",
            field="session_id",
        )
    return session_id


def naive_utc(instant: datetime) -> datetime:
    """The instant in UTC without a zone; an instant without a zone is taken as UTC."""
    return instant.astimezone(UTC).replace(tzinfo=None) if instant.tzinfo else instant


def _text_or_none(members: Mapping[str, Any], name: str) -> str | None:
    value = members.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong(name, "a text or None", value)
    return value


def _wrong(name: str, wanted: str, found: object) -> InvalidRequest:
    return InvalidRequest(
        f"The member {name} of a session's metadata must be {wanted}, not {type(found).__name__}.", field=name
    )
