"""The rows of one discussion's records for hybrid search."""

import asyncio
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import orjson

from mnemoir.core.clock import from_text
from mnemoir.core.errors import NotSupported
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import ListFilter
from mnemoir.ports.search_rows import MOST_CHANGES, Revision, SearchRow, SearchRows, SearchSnapshot
from mnemoir.search import terms_of
from mnemoir.storage.discussions.record_files import RecordFiles
from mnemoir.storage.discussions.record_search import records
from mnemoir.storage.sql.engine import Sql, queries

T = TypeVar("T")
_QUERIES = queries("records/search")


class RecordRows:
    """Search rows of the record database at `path`. The scope is ignored: one file holds one user's discussion."""

    def __init__(self, files: RecordFiles, path: Callable[[], Path]) -> None:
        self._files = files
        self._path = path

    async def reading(self, work: Callable[[SearchSnapshot], T]) -> T:
        """Run `work` in a thread over one snapshot. Raises StorageUnavailable, or what `work` raises."""
        return await asyncio.to_thread(lambda: self._files.read(self._path(), lambda sql: work(RecordSnapshot(sql))))


class RecordSnapshot:
    """The port over one open transaction."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def revision(self, scope: Scope) -> Revision:
        """The revision of the records; another file is another epoch."""
        changes, removals, epoch = self._sql.row(_QUERIES["revision"])
        return Revision(changes=changes, removals=removals, epoch=epoch or _identity(self._sql))

    def rows_since(self, scope: Scope, changes: int, until: int = MOST_CHANGES) -> Sequence[SearchRow]:
        """Rows written after `changes` and not after `until`, in order of `seq`."""
        found = self._sql.rows(_QUERIES["rows_since"], changes=changes, until=until)
        rows = [_search_row(*row) for row in found]
        return sorted(rows, key=lambda row: row.seq)

    def rows_after(self, scope: Scope, seq: int, limit: int, *, changes: int = -1) -> Sequence[SearchRow]:
        """All such rows without `limit`, in order of `seq`: a discussion has few."""
        return [row for row in self.rows_since(scope, changes) if row.seq > seq]

    def live(self, scope: Scope) -> Sequence[int]:
        """The `seq` of every record that is not of a stale chunk, ascending."""
        return [seq for (seq,) in self._sql.rows(_QUERIES["live"])]

    def selected(self, scope: Scope, wanted: ListFilter) -> Sequence[int]:
        """Records have no lists with conditions."""
        raise NotSupported("Records of a discussion are not listed by conditions, so none narrows their search.")

    def token_codes(self, scope: Scope, seqs: Sequence[int]) -> dict[int, bytes]:
        """Token codes by `seq`; records without any are left out."""
        wanted = orjson.dumps([int(seq) for seq in seqs]).decode()  # a caller may pass numpy integers
        return dict(self._sql.rows(_QUERIES["token_codes"], ids=wanted))

    def memories(self, scope: Scope, seqs: Sequence[int]) -> dict[int, Memory]:
        """The records as memories, by `seq`."""
        return {
            record.id: Memory(
                id=MemoryId(str(record.id)),
                text=record.text,
                user=scope.user,
                created_at=record.created_at,
                metadata=record.metadata,
            )
            for record in records(self._sql, [int(seq) for seq in seqs])
        }


def _search_row(
    number: int,
    text: str,
    created_at: str,
    terms: bytes | None,
    model: str | None,
    vector: bytes | None,
    token_ids: bytes | None,
) -> SearchRow:
    instant = from_text(created_at)
    return SearchRow(
        seq=number,
        is_message=False,
        speaker=None,
        agent=None,
        app=None,
        conversation=None,
        effective_at=math.inf if instant is None else instant.timestamp(),
        said_at=math.nan if instant is None else instant.timestamp(),
        expires_at=math.inf,
        entry=IndexEntry(
            terms=terms_of(text) if terms is None else terms, model=model, vector=vector, token_ids=token_ids
        ),
    )


def _identity(sql: Sql) -> str:
    """An identity that differs between a file not yet written by us and its replacement; "" for no file."""
    (path,) = sql.row(_QUERIES["file"])
    if not path:
        return ""
    status = os.stat(path)
    return f"{status.st_dev} {status.st_ino}"


_: type[SearchSnapshot] = RecordSnapshot  # checked, never run
__: type[SearchRows] = RecordRows
