"""Short words for tests of records: chunks, records, and files as the releases of WilmerAI leave them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

from mnemoir.core.discussions import ChunkSource, Discussion, NewRecord, SourceMessage

THEIR_TABLES = """
CREATE TABLE memories (id INTEGER PRIMARY KEY, discussion_id TEXT NOT NULL, memory_text TEXT NOT NULL,
    date_added TEXT NOT NULL, metadata_json TEXT);
CREATE VIRTUAL TABLE memories_fts USING fts5(
    title, summary, entities, key_phrases, memory_text_unweighted, tokenize='porter');
"""
TRACKER_2025 = """
CREATE TABLE vector_memory_tracker (discussion_id TEXT PRIMARY KEY, last_checked_message_hash TEXT NOT NULL,
    last_updated TIMESTAMP NOT NULL);
"""
LOG_2026 = """
CREATE TABLE vector_memory_hash_log (id INTEGER PRIMARY KEY AUTOINCREMENT, discussion_id TEXT NOT NULL,
    message_hash TEXT NOT NULL, timestamp DATETIME NOT NULL);
CREATE TABLE memory_embeddings (memory_id INTEGER, model TEXT, dim INTEGER, vector BLOB,
    PRIMARY KEY (memory_id, model));
"""
THEN = "2026-01-02T03:04:05+00:00"


def source(name: str, *more: str) -> ChunkSource:
    """A chunk of messages of these names, which also name their hashes."""
    names = (name, *more)
    return ChunkSource(
        hash=f"hash of {names[-1]}",
        digests=tuple(f"digest of {name}" for name in names),
        messages=tuple(SourceMessage(role="user", text=f"said {name}") for name in names),
    )


def record(summary: str, title: str = "", **more: Any) -> NewRecord:
    return NewRecord(metadata={"title": title, "summary": summary, "entities": [], "key_phrases": [], **more})


def connected(path: Path) -> apsw.Connection:
    """As another program opens the file; it must be closed."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(5000)
    return connection


def asked(path: Path, query: str) -> list[tuple[Any, ...]]:
    connection = connected(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def file_of(discussion: Discussion) -> Path:
    return discussion.root / f"{discussion.id}_vector_memory.db"


def remember_as_theirs(connection: apsw.Connection, summary: str) -> None:
    """Store a record as another program does."""
    metadata = json.dumps({"title": "Theirs", "summary": summary, "entities": ["Mira"], "key_phrases": ["old days"]})
    connection.execute(
        "INSERT INTO memories (discussion_id, memory_text, date_added, metadata_json) VALUES ('tea', ?, ?, ?)",
        (summary, THEN, metadata),
    )
    connection.execute(
        "INSERT INTO memories_fts (rowid, title, summary, entities, key_phrases, memory_text_unweighted)"
        " VALUES (?, 'Theirs', ?, 'Mira', 'old days', ?)",
        (connection.last_insert_rowid(), summary, summary),
    )


def their_file_of_2025(path: Path, summaries: Sequence[str], last: str) -> None:
    connection = _made(path, THEIR_TABLES + TRACKER_2025, summaries)
    connection.execute("INSERT INTO vector_memory_tracker VALUES ('tea', ?, ?)", (last, THEN))
    connection.close()


def their_file_of_2026(path: Path, summaries: Sequence[str], logged: Sequence[str]) -> None:
    connection = _made(path, THEIR_TABLES + LOG_2026, summaries)
    for hash_ in logged:
        log_as_theirs(connection, hash_)
    connection.close()


def log_as_theirs(connection: apsw.Connection, hash_: str) -> None:
    connection.execute(
        "INSERT INTO vector_memory_hash_log (discussion_id, message_hash, timestamp) VALUES ('tea', ?, ?)",
        (hash_, THEN),
    )


def _made(path: Path, tables: str, summaries: Sequence[str]) -> apsw.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = connected(path)
    connection.execute(tables)
    for summary in summaries:
        remember_as_theirs(connection, summary)
    return connection
