"""Attachments: an object store holds the bytes of files, and stored messages hold links to them.

A chat client sends all pictures again with every turn. Each file is stored once per session and loaded again for the
model. The first bytes of a file determine its type; no file is decoded, and no web address is requested. For a
missing or damaged file its part is left out with a warning; the message stays.
"""

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from mnemoir.conversations.attachments.links import (
    ATTACHMENTS,
    AttachmentLink,
    FileBytes,
    attachments_prefix,
    bytes_of,
    digest_of,
    links_of,
    read_link,
    session_step,
)
from mnemoir.core.conversations import MediaPart, Message, Part, StoredMessage
from mnemoir.core.errors import MnemoirError, TooLarge
from mnemoir.ports.objects import ObjectNotFound, ObjectStore

_log = structlog.get_logger(__name__)
MOST_BYTES = 20 * 1024 * 1024
_UNKNOWN = "bin"  # the ending for bytes of an unknown type
_UNKNOWN_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """A file type, recognised by the first bytes."""

    begins: re.Pattern[bytes]
    ending: str
    mime_type: str


def _kind(begins: bytes, ending: str, mime_type: str) -> FileKind:
    return FileKind(begins=re.compile(begins, re.DOTALL), ending=ending, mime_type=mime_type)


_KINDS: Sequence[FileKind] = (
    _kind(rb"\x89PNG\r\n\x1a\n", "png", "image/png"),
    _kind(rb"\xff\xd8\xff", "jpg", "image/jpeg"),
    _kind(rb"GIF8[79]a", "gif", "image/gif"),
    _kind(rb"RIFF.{4}WEBP", "webp", "image/webp"),
    _kind(rb"BM.{4}\0{4}", "bmp", "image/bmp"),
    _kind(rb"II\*\0|MM\0\*", "tiff", "image/tiff"),
    _kind(rb".{4}ftypavi[fs]", "avif", "image/avif"),
    _kind(rb".{4}ftyp(?:hei[cs]|mif1)", "heic", "image/heic"),
    _kind(rb".{4}ftypM4A ", "m4a", "audio/mp4"),
    _kind(rb".{4}ftypqt  ", "mov", "video/quicktime"),
    _kind(rb".{4}ftyp", "mp4", "video/mp4"),
    _kind(rb"\x1aE\xdf\xa3", "webm", "video/webm"),
    _kind(rb"RIFF.{4}WAVE", "wav", "audio/wav"),
    _kind(rb"ID3|\xff[\xfb\xf3\xf2]", "mp3", "audio/mpeg"),
    _kind(rb"OggS", "ogg", "audio/ogg"),
    _kind(rb"fLaC", "flac", "audio/flac"),
    _kind(rb"%PDF-", "pdf", "application/pdf"),
)


class Attachments:
    """The attachments of one user in an object store.

    All methods block and raise StorageUnavailable; only `bring_back` leaves out unreadable files instead.
    """

    def __init__(self, objects: ObjectStore, *, most_bytes: int = MOST_BYTES) -> None:
        self._objects = objects
        self._most_bytes = most_bytes

    def put_away(self, message: Message, session_id: str) -> Message:
        """Save all files of a message; the message to store, with links in place of the files.

        A file of another session is copied and the link points to the copy; web addresses stay unchanged. Raises
        TooLarge for a file over the limit and InvalidRequest for invalid base64; then no file is saved.
        """
        if not isinstance(message.content, list):
            return message
        step = session_step(session_id)
        # all are decoded before the first is saved
        files = [self._file(part) if isinstance(part, MediaPart) else None for part in message.content]
        content: list[Part] = []
        for part, file in zip(message.content, files, strict=True):
            content.append(self._put_away(part, file, step) if isinstance(part, MediaPart) else part)
        return replace(message, content=content)

    def bring_back(self, messages: Sequence[Message]) -> list[Message]:
        """The messages for a model, with the bytes of files in place of links.

        A message whose files are all missing becomes its plain text; its content is [] when it has no text.
        """
        return [self._brought_back(message) for message in messages]

    def read(self, session_id: str, name: str) -> FileBytes | None:
        """A file of a session by the last part of its link, with the type of its first bytes.

        None when the file is missing or damaged.
        """
        link = read_link(f"{links_of(session_id)}{name}")
        content = None if link is None or not self._objects.exists(link.key) else self._content(link)
        if content is None:
            return None
        kind = _kind_of(content)
        return FileBytes(content=content, mime_type=kind.mime_type if kind else _UNKNOWN_TYPE)

    def copy(self, session_id: str, new_session_id: str) -> None:
        """Copy all files of a session to another one, for messages that were copied there."""
        prefix, step = attachments_prefix(session_id), session_step(new_session_id)
        for entry in list(self._objects.scan(prefix)):
            self._copy(entry.key, f"{ATTACHMENTS}/{step}/{entry.key.removeprefix(prefix)}")

    def delete(self, session_id: str) -> int:
        """Delete all files of a session; their number."""
        return self._delete(entry.key for entry in self._objects.scan(attachments_prefix(session_id)))

    def _file(self, part: MediaPart) -> FileBytes | None:
        # base64 is longer than its bytes, so a far too long text need not be decoded
        if len(part.url) > 4 * self._most_bytes or len(part.base64_data) > 4 * self._most_bytes:
            raise self._too_large(max(len(part.url), len(part.base64_data)) * 3 // 4)
        file = bytes_of(part)
        if file is not None and len(file.content) > self._most_bytes:
            raise self._too_large(len(file.content))
        return file

    def _too_large(self, size_bytes: int) -> TooLarge:
        return TooLarge(
            f"An attachment has {size_bytes} bytes; {self._most_bytes} are allowed. Send a smaller one.",
            field="messages",
        )

    def _put_away(self, part: MediaPart, file: FileBytes | None, step: str) -> MediaPart:
        if file is None:
            return self._own(part, step)
        kind = _kind_of(file.content)
        link = AttachmentLink(session=step, digest=digest_of(file.content), ending=kind.ending if kind else _UNKNOWN)
        if not self._objects.exists(link.key):
            self._objects.save(link.key, file.content)
        mime_type = kind.mime_type if kind else file.mime_type or _UNKNOWN_TYPE
        return replace(part, url=link.url, base64_data="", mime_type=mime_type, format=link.ending)

    def _own(self, part: MediaPart, step: str) -> MediaPart:
        """The stored form of a part without inline bytes; a link to another session's file becomes one to a copy.

        `base64_data` is cleared, because `MediaPart.data` prefers the URL.
        """
        link = read_link(part.url)
        if link is None or link.session == step:
            return replace(part, base64_data="")
        own = replace(link, session=step)
        self._copy(link.key, own.key)
        return replace(part, url=own.url, base64_data="")

    def _copy(self, key: str, new_key: str) -> None:
        if self._objects.exists(new_key):
            return
        try:
            self._objects.save(new_key, self._objects.load_once(key))
        except ObjectNotFound as exc:
            _left_out(key, exc.code)

    def _brought_back(self, message: Message) -> Message:
        if not isinstance(message.content, list):
            return message
        parts = [part for given in message.content if (part := self._part(given)) is not None]
        is_whole = len(parts) == len(message.content)
        has_files = any(isinstance(part, MediaPart) for part in parts)
        return replace(message, content=parts if is_whole or has_files or not parts else message.text)

    def _part(self, part: Part) -> Part | None:
        if not isinstance(part, MediaPart) or not part.url.startswith("mnemoir:"):
            return part
        link = read_link(part.url)
        content = None if link is None else self._content(link)
        if content is None:
            return None
        encoded = b64encode(content).decode("ascii")
        return replace(part, url="", base64_data=encoded, mime_type=part.mime_type or _UNKNOWN_TYPE)

    def _content(self, link: AttachmentLink) -> bytes | None:
        try:
            content = self._objects.load_once(link.key)
        except MnemoirError as exc:
            _left_out(link.key, exc.code)
            return None
        if digest_of(content) != link.digest:
            _left_out(link.key, "damaged")
            return None
        return content

    def _delete(self, keys: Iterator[str]) -> int:
        found = list(keys)
        for key in found:
            self._objects.delete(key)
        return len(found)


def type_of_ending(ending: str) -> str:
    """The MIME type of stored files with this ending, which was chosen by their first bytes."""
    return next((kind.mime_type for kind in _KINDS if kind.ending == ending), _UNKNOWN_TYPE)


def _kind_of(content: bytes) -> FileKind | None:
    return next((kind for kind in _KINDS if kind.begins.match(content)), None)


def _left_out(key: str, cause: str) -> None:
    _log.warning("attachment left out", key=key, cause=cause)


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
        for name, link, part in _links_of(stored)
        if name in sizes[stored.session_id]
    ]


def _links_of(stored: StoredMessage) -> Iterator[tuple[str, AttachmentLink, MediaPart]]:
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
