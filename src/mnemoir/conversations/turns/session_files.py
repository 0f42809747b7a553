"""Files of stored messages for histories that show them again; a file's id is its message's id and its index."""

from collections.abc import Callable, Sequence

from mnemoir.conversations.log.files import (
    FilePayload,
    FileRef,
    FileResolver,
    FileTransferMethod,
    FileUnavailable,
    StoredFile,
)
from mnemoir.core.conversations import MediaPart, Message, StoredMessage
from mnemoir.ports.log import Log
from mnemoir.ports.turns import Attachment

_MOST_DIGITS = 19  # of an integer column
BringBack = Callable[[Sequence[Message]], Sequence[Message]]  # with the bytes of files in place of links to them


def attachments_of(message: StoredMessage) -> list[Attachment]:
    """The files of a message, in order, as attachments of the turn that it begins."""
    return [
        Attachment(
            id=f"{message.id}#{place}",
            message_id=str(message.id),
            type=part.type,
            transfer_method=FileTransferMethod.LOCAL_FILE,
            upload_file_id=f"{message.id}#{place}",
            belongs_to="user" if message.message.role == "user" else "assistant",
        )
        for place, part in enumerate(_media(message.message))
    ]


def read_number(text: str) -> int | None:
    """A message id from a text; None for any other text."""
    return int(text) if text.isdecimal() and len(text) < _MOST_DIGITS else None


class SessionFiles:
    """A FileResolver for the attachments of `attachments_of`. The store is one user's, so no tenant is checked.

    `bring_back` replaces links in messages by the bytes of the files.
    """

    def __init__(self, storage: Log, bring_back: BringBack = list) -> None:
        self._storage = storage
        self._bring_back = bring_back

    def find(self, ref: FileRef, *, tenant_id: str) -> StoredFile:
        """The file. Raises FileUnavailable when its message was deleted or has no such file."""
        part = self._part(ref.upload_file_id)
        return StoredFile(
            id=ref.id,
            tenant_id=tenant_id,
            type=part.type,
            transfer_method=ref.transfer_method,
            related_id=ref.upload_file_id,
            filename=part.filename,
            extension=f".{part.format}" if part.format else "",
            mime_type=part.mime_type,
        )

    def payload(self, file: StoredFile) -> FilePayload:
        """The content of a file for a model. Raises FileUnavailable when its bytes are missing."""
        part = self._part(file.related_id)
        brought = _media(self._bring_back([Message("user", [part])])[0])
        if not brought:
            raise FileUnavailable(f"The bytes of the file {file.related_id} are missing.")
        return FilePayload(url=brought[0].url, base64_data=brought[0].base64_data, tokens=part.tokens)

    def _part(self, name: str | None) -> MediaPart:
        message, _, place = (name or "").partition("#")
        message_id, index = read_number(message), read_number(place)
        if message_id is not None and index is not None:
            stored = self._storage.messages_by_id([message_id]).get(message_id)
            parts = _media(stored.message) if stored else []
            if index < len(parts):
                return parts[index]
        raise FileUnavailable(f"The file {name!r:.80} does not exist any more: its message was deleted.")


def _media(message: Message) -> list[MediaPart]:
    content = message.content
    return [part for part in content if isinstance(part, MediaPart)] if isinstance(content, list) else []


_: type[FileResolver] = SessionFiles
