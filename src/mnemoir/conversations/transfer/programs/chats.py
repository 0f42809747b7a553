"""A chat of another program on its way to a session, and the reading of files of such chats.

Each chat is read whole or not at all: one that cannot be read is named with the reason, and keeps no other out.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any

from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.transfer.bounded_json import MARK, MOST_BYTES, array_items, first_byte
from mnemoir.conversations.transfer.branched_json import read_conversation
from mnemoir.conversations.transfer.copies import (
    BEGINNING,
    InvalidImport,
    MessageCopy,
    SessionCopy,
    SkippedSession,
)
from mnemoir.conversations.transfer.foreign_trees import ForeignNode, in_order
from mnemoir.conversations.transfer.members import session_id_of
from mnemoir.conversations.transfer.programs.left_out import LeftOut
from mnemoir.conversations.transfer.programs.loose import Loose, words_in
from mnemoir.core.conversations import MediaPart, Message, SessionMetadata
from mnemoir.core.errors import InvalidRequest

Item = SessionCopy | SkippedSession
ITEM = "Conversation"
_LONGEST_SHOWN = 200
INCOMPLETE = "incomplete"


@dataclass(slots=True, kw_only=True)
class ForeignChat:
    """One chat: its tree by names, the name of its newest message, and what is known of it."""

    nodes: dict[str, ForeignNode] = field(default_factory=dict)
    head: str | None = None
    id: str | None = None
    title: str = ""
    system_prompt: str = ""
    tags: list[str] = field(default_factory=list)
    custom: dict[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None
    left_out: LeftOut = field(default_factory=LeftOut)
    models: dict[str, None] = field(default_factory=dict)  # in their order

    def objects(self, chat: Loose, name: str) -> Iterator[Loose]:
        """The messages in a list; values that are none are left out."""
        for value in chat.values(name):
            if isinstance(value, dict):
                yield Loose(value)
            else:
                self.leave_out(value)

    def leave_out(self, value: object) -> None:
        """Count a value that is no message but holds words."""
        self.left_out.note("messages", value)

    def add(
        self,
        name: str,
        parent: str | None,
        messages: Iterable[Message],
        *,
        created_at: datetime | None = None,
        finish_reason: str | None = None,
        children: Iterable[str] = (),
    ) -> None:
        """Add a message, or one that is left out where it has no `messages`. The reason is that of its last one."""
        said = list(messages)
        copies = [
            MessageCopy(
                message=message,
                parent=BEGINNING,
                place=name,
                is_foreign=True,
                finish_reason=finish_reason if at == len(said) else None,
            )
            for at, message in enumerate(said, start=1)
        ]
        self.nodes[name] = ForeignNode(parent=parent, copies=copies, children=[*children], created_at=created_at)

    def add_in_a_row(self, messages: Iterable[Message], **more: Any) -> None:
        """Add what follows the message that was added last."""
        last = next(reversed(self.nodes), None)
        self.add(f"{len(self.nodes) + 1}", last, messages, **more)

    def model(self, name: str) -> None:
        """Note a model that answered."""
        if name:
            self.models[name] = None


def session_of(chat: ForeignChat, told: Any, program: str, place: str, raw: bytes) -> SessionCopy:
    """The session of a chat. Raises InvalidImport for one in which nothing was said, or that cannot be stored."""
    custom = {"imported_from": program, **({"models": [*chat.models]} if chat.models else {}), **chat.custom}
    metadata = SessionMetadata(title=chat.title or None, tags=chat.tags, custom=custom)
    messages = list(in_order(chat.nodes, chat.head))
    if not messages:
        raise InvalidImport("No message in it can be read." if chat.nodes else "It has no messages.")
    try:
        metadata.to_json()
        for copy in messages:
            record_of("", copy.message)
    except InvalidRequest as exc:
        raise InvalidImport(exc.message) from None
    about = [chat.title, chat.system_prompt, words_in(custom), *chat.tags]
    chat.left_out.note_rest(told, [*about, *(text for copy in messages for text in _texts(copy.message))])
    return SessionCopy(
        messages=iter(messages),
        place=place,
        id=session_id_of(chat.id, raw),
        system_prompt=chat.system_prompt,
        metadata=metadata,
        created_at=chat.created_at or chat.updated_at,
        updated_at=chat.updated_at,
        left_out=+chat.left_out.counts,
    )


def _texts(message: Message) -> Iterator[str]:
    """All words of a message, those of its documents as well."""
    yield message.text
    yield message.name or ""
    for part in message.content if isinstance(message.content, list) else ():
        if isinstance(part, MediaPart):
            yield part.filename
            yield part.url if not part.url.startswith("data:") else ""
            if part.type == "document":
                yield b64decode(part.base64_data).decode("utf-8", "replace")
    for call in message.tool_calls or ():
        yield call.name
        yield words_in(dict(call.arguments))


def read_one(raw: bytes, place: str, program: str, read: Callable[[Loose], ForeignChat]) -> Item:
    """The session in one JSON value, or why there is none."""
    try:
        told = read_conversation(raw, place)
    except InvalidImport as exc:
        return SkippedSession(id="", title=place, why=exc.message)
    return chat_in(told, raw, place, program, read)


def chat_in(told: Any, raw: bytes, place: str, program: str, read: Callable[[Loose], ForeignChat]) -> Item:
    """The session in a value that was read from `raw`, or why there is none."""
    try:
        if not isinstance(told, dict | list):
            raise InvalidImport("It is no conversation.")
        chat = read(Loose(told if isinstance(told, dict) else {"messages": told}))
        return session_of(chat, told, program, place, raw)
    except InvalidImport as exc:
        about = Loose(told)
        title = about.text("title", "name", "userTitle") or about.object("chat").text("title")
        id = about.name("conversation_id", "uuid", "conversationId", "id") or ""
        return SkippedSession(id=id[:_LONGEST_SHOWN], title=title[:_LONGEST_SHOWN] or place, why=exc.message)


def read_chats(file: IO[bytes], program: str, read: Callable[[Loose], ForeignChat]) -> Iterator[Item]:
    """The chats of a file: one, or a list of them."""
    if first_byte(file) != b"[":
        yield read_one(file.read(MOST_BYTES + 1).removeprefix(MARK), f"{ITEM} 1", program, read)
        return
    for number, raw in enumerate(array_items(file, ITEM), start=1):
        yield read_one(raw, f"{ITEM} {number}", program, read)


def told_flags(about: Loose, *names: str) -> Mapping[str, Any]:
    """The marks of a chat that are set: `{"pinned": True}`."""
    return {name.removeprefix("is_"): True for name in names if about.flag(name)}
