"""Session files for tests: times in a row, messages in short, and the file opened behind the store's back."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import apsw
import pytest

from mnemoir.core.conversations import Message, MessageRecord, ToolCall
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.sqlite import conversation_file, shared_file

HAROMBE = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL,
                       system_prompt TEXT NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
                       content TEXT, tool_calls TEXT, tool_call_id TEXT, name TEXT, created_at TIMESTAMP NOT NULL,
                       FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE);
CREATE INDEX idx_messages_session ON messages(session_id);
INSERT INTO sessions VALUES ('s', '2025-01-02T03:04:05', '2025-01-02T03:04:05.5', 'be kind',
                             '{"user": null, "tags": ["x"], "title": null, "custom": {}}');
INSERT INTO messages (session_id, role, content, tool_calls, created_at) VALUES
    ('s', 'user', 'hi', NULL, '2025-01-02T03:04:05'),
    ('s', 'assistant', '', '[{"id": "c", "name": "look", "arguments": {"at": 1}}]', '2025-01-02T03:04:05.000001'),
    ('gone', 'user', 'orphan', NULL, '2025-01-02T03:04:06');
"""

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
    connection.set_busy_timeout(60_000)  # a server may be writing
    try:
        yield connection
    finally:
        connection.close()


def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the five tries at a busy file follow one another at once."""
    monkeypatch.setattr(conversation_file, "BUSY_MS", 1)
    monkeypatch.setattr(shared_file, "_LOG_BUSY_MS", 1)
    monkeypatch.setattr(conversation_file, "_WAITS_S", (0.0,) * len(conversation_file._WAITS_S))


def all_bytes(folder: Path) -> bytes:
    """What stands in the files of a folder, whatever they are called."""
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file())


def damage_a_page(path: Path) -> None:
    """Overwrite the page in the middle of the messages, in a file that nobody has open."""
    with behind_the_back(path) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT pageno, pgsize FROM dbstat WHERE name = 'messages' AND pagetype = 'leaf' ORDER BY path"
        pages = file.execute(query).fetchall()
    number, size = cast(tuple[int, int], pages[len(pages) // 2])
    with path.open("r+b") as raw:
        raw.seek((number - 1) * size)
        raw.write(bytes(size))
