"""Session files for tests: times in a row, messages in short, and the file opened behind the store's back."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

from mnemoir.conversations.messages import Message, ToolCall
from mnemoir.conversations.sessions import MessageRecord
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


class Hands:
    """A clock that shows what it is set to."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> None:
        self.now += timedelta(**by)


def said(text: str, session_id: str = "s", role: str = "user", **more) -> MessageRecord:
    return MessageRecord(session_id=session_id, role=role, content=text, **more)


def user(text: str) -> Message:
    return Message("user", text)


def assistant(text: str | None, *calls: ToolCall) -> Message:
    return Message("assistant", text, tool_calls=list(calls) or None)


def texts(storage: MemoryStorage, session_id: str = "s", **page) -> list[str]:
    return [message.text for message in storage.load_messages(session_id, **page)]


@contextmanager
def behind_the_back(path: Path) -> Iterator[apsw.Connection]:
    """The file as another program has it."""
    connection = apsw.Connection(str(path))
    try:
        yield connection
    finally:
        connection.close()


def all_bytes(folder: Path) -> bytes:
    """What stands in the files of a folder, whatever they are called."""
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file())
