"""A chat application for tests: its turns, its files, and models that count by letters or by messages."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from mnemoir.conversations.log.files import FilePayload, FileRef, FileUnavailable, StoredFile
from mnemoir.conversations.turns.turns import Conversation, TurnLog
from mnemoir.core.conversations import MediaType, Message
from mnemoir.ports.turns import Attachment, Turn

NOON = datetime(2026, 1, 7, 12, tzinfo=UTC)
IMAGES_ON = {"file_upload": {"image": {"enabled": True, "detail": "low"}}}


def turn(seq: int, parent: int | str | None = None, answer: str | None = None, **more) -> Turn:
    """Turn `t{seq}` with the question `q{seq}` and the answer `a{seq}`, a minute after the one before."""
    return Turn(
        id=f"t{seq}",
        conversation_id="c",
        parent_message_id=f"t{parent}" if isinstance(parent, int) else parent,
        query=more.pop("query", f"q{seq}"),
        answer=f"a{seq}" if answer is None else answer,
        created_at=NOON + timedelta(minutes=seq),
        seq=seq,
        **more,
    )


def line(count: int) -> list[Turn]:
    """A conversation without branches."""
    return [turn(seq, seq - 1 if seq else None) for seq in range(count)]


def attachment(turn: str, name: str, type: str = "image", **more) -> Attachment:
    usual = {"transfer_method": "local_file", "upload_file_id": name, "belongs_to": "user"}
    return Attachment(id=f"at-{name}", message_id=turn, type=type, **{**usual, **more})


def chat(
    turns: Sequence[Turn], *attachments: Attachment, mode: str = "chat", files=None, features=None, **more
) -> Conversation:
    """The conversation `c` of tenant `me`."""
    return Conversation(
        id="c",
        app_id="app",
        tenant_id="me",
        mode=mode,
        model_config=more.get("model_config", IMAGES_ON),
        rows=TurnLog(turns, attachments=attachments, features=features),
        files=files,
    )


@dataclass
class Shelf:
    """Files by their upload ids. `sealed` ones are found and cannot be opened; `opened` tells which were."""

    files: dict[str, StoredFile]
    sealed: Collection[str] = ()
    opened: list[str] = field(default_factory=list)

    def find(self, ref: FileRef, *, tenant_id: str) -> StoredFile:
        found = self.files.get(ref.upload_file_id or ref.tool_file_id or "")
        if found is None or found.tenant_id != tenant_id:
            raise FileUnavailable("the file is gone")
        return found

    def payload(self, file: StoredFile) -> FilePayload:
        if file.related_id in self.sealed:
            raise FileUnavailable("the file cannot be read")
        self.opened.append(file.related_id or "")
        return FilePayload(base64_data="QUJD", tokens=7)


def shelf(*names: str, sealed: Collection[str] = (), tenant_id: str = "me") -> Shelf:
    """Files such as `cat.png`, of the type that their names end in; `.bin` is of none."""
    types = {"png": ("image", "image/png"), "mp3": ("audio", "audio/mpeg"), "pdf": ("document", "application/pdf")}
    files = {}
    for name in names:
        ending = name.rpartition(".")[2]
        kind, mime_type = types.get(ending, ("custom", "application/octet-stream"))
        files[name] = StoredFile(
            tenant_id=tenant_id,
            type=kind,
            transfer_method="local_file",
            related_id=name,
            filename=name,
            extension=f".{ending}",
            mime_type=mime_type,
        )
    return Shelf(files, sealed)


@dataclass
class LetterModel:
    """Counts a token for each letter, and ten for each file; says which media it takes."""

    accepted_media: Collection[MediaType] | None = None

    def get_llm_num_tokens(self, messages: Sequence[Message]) -> int:
        files = sum(len(message.content) - 1 for message in messages if isinstance(message.content, list))
        return sum(len(message.text) for message in messages) + 10 * files


def spoken(messages: Sequence[Message]) -> list[str]:
    """The texts of the messages, without what they were said with."""
    return [message.text for message in messages]
