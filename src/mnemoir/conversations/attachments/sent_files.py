"""The list of the files of conversations, each with the message that carries it. No file is read for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemoir.conversations.attachments.attachments import type_of_ending
from mnemoir.conversations.attachments.links import AttachmentLink, attachments_prefix, read_link, session_step
from mnemoir.core.conversations import MediaPart, StoredMessage
from mnemoir.ports.objects import ObjectStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFile:
    """A file of a message. A file that was sent twice is listed with each message."""

    session_id: str
    message_id: int
    name: str  # the last part of its link
    filename: str  # the sender's name for it; "" for none
    mime_type: str
    size_bytes: int
    sent_at: datetime | None


def sent_files(objects: ObjectStore, messages: Sequence[StoredMessage]) -> list[SentFile]:
    """The files of the messages, in the order of the messages; missing files are left out. Blocks."""
    sizes = {id: _sizes(objects, id) for id in {stored.session_id for stored in messages}}
    return [
        SentFile(
            session_id=stored.session_id,
            message_id=stored.id,
            name=name,
            filename=part.filename,
            mime_type=type_of_ending(link.ending),
            size_bytes=sizes[stored.session_id][name],
            sent_at=stored.created_at,
        )
        for stored in messages
        for name, link, part in _linked(stored)
        if name in sizes[stored.session_id]
    ]


def _linked(stored: StoredMessage) -> Iterator[tuple[str, AttachmentLink, MediaPart]]:
    """The links of a message to files of its own session, without duplicates."""
    step, seen = session_step(stored.session_id), set[str]()
    for part in stored.message.content if isinstance(stored.message.content, list) else ():
        link = read_link(part.url) if isinstance(part, MediaPart) else None
        if isinstance(part, MediaPart) and link is not None and link.session == step:
            name = f"{link.digest}.{link.ending}"
            if name not in seen:
                seen.add(name)
                yield name, link, part


def _sizes(objects: ObjectStore, session_id: str) -> dict[str, int]:
    return {entry.key.rpartition("/")[2]: entry.size_bytes for entry in objects.scan(attachments_prefix(session_id))}
