"""Baselines of the conversation benchmarks: plain implementations, and an embedding model that takes no time."""

import sqlite3
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mnemoir.core.conversations import Message
from mnemoir.ports.embedding import Embedding, FloatArray, Passage

DIMENSION = 384
_WORDS = 4096
_FUSED = 50


class Words:
    """An embedding model with token vectors from a table; a text's vector is their mean."""

    name = "table"
    dimension = DIMENSION
    reads_context = False

    def __init__(self) -> None:
        rows = np.random.default_rng(1).standard_normal((_WORDS, DIMENSION)).astype(np.float32)
        self._rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        return [self.of(passage.text) for passage in passages]

    async def warm(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    def of(self, text: str) -> Embedding:
        """The embedding of a text."""
        ids = np.array([zlib.crc32(word.encode()) % _WORDS for word in text.lower().split()], np.uint16)
        mean = self._rows[ids].mean(axis=0)
        return Embedding(vector=mean / np.linalg.norm(mean), token_ids=ids, token_vectors=self._rows[ids])


WORDS = Words()


def plain_table(folder: Path) -> sqlite3.Connection:
    """A table of messages as a plain program has it, with the same durability."""
    db = sqlite3.connect(folder / "plain.db", check_same_thread=False)
    db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
    db.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, session TEXT, role TEXT, body TEXT, at REAL)")
    db.execute("CREATE INDEX by_session ON messages (session, id)")
    return db


def save_plainly(db: sqlite3.Connection, messages: Sequence[Message], session: str = "s") -> None:
    """Insert the messages in one transaction."""
    rows = [(session, message.role, message.text, time.time()) for message in messages]
    with db:
        db.executemany("INSERT INTO messages (session, role, body, at) VALUES (?, ?, ?, ?)", rows)


class PlainSearch:
    """A plain search: FTS5 and a matrix, both in memory, combined by reciprocal rank."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE f USING fts5(body, tokenize = 'porter unicode61')")
        self._db.executemany("INSERT INTO f (rowid, body) VALUES (?, ?)", enumerate(wanted))
        self._matrix: FloatArray = np.stack([WORDS.of(text).vector for text in wanted])

    def find(self, question: str) -> list[int]:
        """The ten best messages, best first."""
        words = " OR ".join(f'"{word}"' for word in question.rstrip("?").split()[1:])
        query = "SELECT rowid FROM f WHERE f MATCH ? ORDER BY rank LIMIT ?"
        by_words = [row for (row,) in self._db.execute(query, (words, _FUSED))]
        cosines = self._matrix @ WORDS.of(question).vector
        near = np.argpartition(-cosines, _FUSED)[:_FUSED]
        scores: dict[int, float] = {}
        for ranking in (by_words, near[np.argsort(-cosines[near])].tolist()):
            for rank, row in enumerate(ranking, start=1):
                scores[row] = scores.get(row, 0.0) + 1 / (60 + rank)
        return sorted(scores, key=lambda row: -scores[row])[:10]
