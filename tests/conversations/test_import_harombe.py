"""The database of harombe: read from its bytes, in any state, and never written."""

from pathlib import Path

import pytest

from mnemoir.conversations import MemoryManager, Message, ToolCall
from mnemoir.conversations.transfer import import_sessions
from mnemoir.conversations.transfer.copies import InvalidImport
from tests.conversations.session_kit import behind_the_back
from tests.conversations.transfer_kit import exported, texts

TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL,
    system_prompt TEXT NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT, tool_calls TEXT, tool_call_id TEXT, name TEXT, created_at TIMESTAMP NOT NULL,
    FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE);
"""
ROWS = """
INSERT INTO sessions VALUES
    ('s', '2025-01-02T03:04:05', '2025-01-02T04:00:00.000007', 'Be kind.', '{"tags": ["x"], "title": "T"}'),
    ('t', 'soon', '2025-01-03T00:00:00', '', 'damaged');
INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, name, created_at) VALUES
    ('s', 'user', 'hi', NULL, NULL, NULL, '2025-01-02T03:04:05'),
    ('s', 'tool', 'seen', NULL, 'c', 'look', '2025-01-02T03:04:07'),
    ('s', 'assistant', '', '[{"id":"c","name":"look","arguments":{"at":1}}]', NULL, NULL, '2025-01-02T03:04:06'),
    ('t', 'narrator', 'nobody said it', NULL, NULL, NULL, '2025-01-03T00:00:00'),
    ('t', 'user', CAST(x'ff41' AS TEXT), 'damaged', NULL, NULL, 'yesterday'),
    ('gone', 'user', 'orphan', NULL, NULL, NULL, '2025-01-02T03:04:06');
"""
MANY = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 300)
INSERT INTO messages (session_id, role, content, created_at)
SELECT 's', 'user', printf('%0300d', n), '2025-01-03' FROM numbers;
"""
ENDLESS = """
DROP TABLE messages;
CREATE VIEW messages AS WITH RECURSIVE endless (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM endless)
SELECT id FROM endless
"""


@pytest.fixture
def store(tmp_path):
    with MemoryManager(tmp_path / "own" / "memory.db") as manager:
        yield manager


def database(tmp_path: Path, sql: str) -> bytes:
    path = tmp_path / "theirs.db"
    with behind_the_back(path) as file:
        file.execute(sql)
    return path.read_bytes()


def test_its_sessions_are_imported_and_damaged_fields_are_left_out(store, tmp_path):
    report = import_sessions(store, database(tmp_path, TABLES + ROWS), user="ann")
    assert (sorted(report.ids), report.messages) == (["s", "t"], 4)
    assert store.load_session("s") == [
        Message("user", "hi"),
        Message("assistant", "", [ToolCall("c", "look", {"at": 1})]),
        Message("tool", "seen", tool_call_id="c", name="look"),
    ]
    session = store.get_session("s")
    assert (session.system_prompt, session.metadata.title, session.metadata.user) == ("Be kind.", "T", "ann")
    assert (session.created_at.isoformat(), session.updated_at.microsecond) == ("2025-01-02T03:04:05", 7)
    assert texts(store, "t") == ["\ufffdA"]
    assert b'"finish_reason":null' in exported(store, "s")


def test_the_file_is_left_as_it_was(store, tmp_path):
    data = database(tmp_path, TABLES + ROWS)
    path = tmp_path / "theirs.db"
    path.chmod(0o400)
    import_sessions(store, path)
    assert path.read_bytes() == data
    assert [each.name for each in tmp_path.glob("theirs*")] == ["theirs.db"]
    assert len(import_sessions(store, path).skipped) == 2


@pytest.mark.parametrize(
    ("sql", "cause"),
    [
        ("CREATE TABLE bookmarks (id)", "without the tables"),
        (TABLES + "PRAGMA user_version = 2", "of another program, or of Mnemoir"),
        (TABLES + ROWS + "PRAGMA journal_mode = wal", "a log file next to it"),
        (TABLES + ENDLESS, "without the tables"),
        (
            TABLES + "ALTER TABLE messages ADD COLUMN bomb TEXT AS (hex(zeroblob(1000000000)))",
            "without the tables",
        ),
        (TABLES + "DROP TABLE messages; CREATE VIRTUAL TABLE messages USING fts5 (id)", "without the tables"),
        (
            TABLES + "DROP TABLE sessions; CREATE TABLE sessions (id)",
            "damaged: .*no column|damaged: .*no such column",
        ),
    ],
)
def test_another_database_is_refused(store, tmp_path, sql, cause):
    with pytest.raises(InvalidImport, match=cause):
        import_sessions(store, database(tmp_path, sql))
    assert store.list_sessions() == []


def test_a_page_that_many_others_share_is_damage(store, tmp_path):
    data = bytearray(database(tmp_path, TABLES + ROWS + MANY))
    [page] = [at for at in range(4096, len(data), 4096) if data[at] == 5]  # the inner one of the messages
    cells = [int.from_bytes(data[at : at + 2]) for at in range(page + 12, page + 30, 2)]
    for cell in cells:
        data[page + cell : page + cell + 4] = data[page + cells[0] : page + cells[0] + 4]
    with pytest.raises(InvalidImport, match="damaged"):
        import_sessions(store, bytes(data))


def test_constraints_of_a_file_are_not_computed(store, tmp_path):
    costly = TABLES.replace("role TEXT NOT NULL", "role TEXT NOT NULL CHECK (length(randomblob(900000000)) > 0)")
    rows = (
        "PRAGMA ignore_check_constraints = 1; "
        "INSERT INTO sessions VALUES ('s', '2025-01-02', '2025-01-02', '', '{}'); "
        "INSERT INTO messages (session_id, role, content, created_at) VALUES ('s', 'user', 'hi', '2025-01-02')"
    )
    assert import_sessions(store, database(tmp_path, costly + rows)).messages == 1


@pytest.mark.slow
def test_a_damaged_database_is_refused_or_read_and_never_half_stored(store, tmp_path):
    data = database(tmp_path, TABLES + ROWS + MANY)
    refused = 0
    for at in range(0, len(data), len(data) // 40):
        damaged = data[:at] + bytes(255 - byte for byte in data[at : at + 50]) + data[at + 50 :]
        try:
            import_sessions(store, damaged)
        except InvalidImport:
            refused += 1
            assert store.list_sessions() == []
        for session in store.list_sessions(100):
            store.delete_session(session.id)
    assert refused > 2
    for size in (16, 99, 100, 512, len(data) // 2, len(data) - 1):
        with pytest.raises(InvalidImport):
            import_sessions(store, data[:size])
