"""Structured records of discussions, one SQLite file each, with full-text search."""

import asyncio
import math
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import TypeVar

import orjson

from mnemoir.core.clock import Clock, from_text, utc_now
from mnemoir.core.discussions import (
    Block,
    BlockChanges,
    BlockKey,
    ChunkSource,
    Discussion,
    NewRecord,
    Record,
    SourceMessage,
)
from mnemoir.core.errors import NotSupported
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.discussions import RecordStore
from mnemoir.ports.memory_store import ListFilter
from mnemoir.ports.search_rows import MOST_CHANGES, Revision, SearchRow, SearchRows, SearchSnapshot
from mnemoir.search import terms_of
from mnemoir.storage.discussions import record_chunks, record_schema, record_search
from mnemoir.storage.discussions.record_files import RecordFiles, records_file
from mnemoir.storage.discussions.record_search import records
from mnemoir.storage.sql.engine import Sql, Value, queries

T = TypeVar("T")
_QUERIES = queries("records/search")
_GREATEST_ID = 2**63 - 1


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

    def matching_seqs(self, scope: Scope, wanted: ListFilter) -> Sequence[int]:
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


__: type[SearchRows] = RecordRows


class SqliteRecordStore:
    """Reads create nothing; an acknowledged append survives a kill and a loss of power."""

    def __init__(self, clock: Clock = utc_now, *, most_idle: int = 16) -> None:
        self._clock = clock
        self._files = RecordFiles(most_idle)

    async def begin(self, discussion: Discussion) -> bool:
        """Create the file, or complete its tables; True when there was one before."""
        return await asyncio.to_thread(lambda: self._files.begin(records_file(discussion)))

    async def blocks(self, discussion: Discussion) -> Sequence[Block]:
        """Our chunks, and other programs' logged blocks, without digests; in the order of the conversation."""
        return await self._read(discussion, record_chunks.blocks)

    async def change(self, discussion: Discussion, changes: BlockChanges) -> None:
        """Apply all of the changes or none; does nothing without a file."""
        work = self._on_chunks(discussion, lambda chunks: chunks.change(changes))
        if changes:
            await asyncio.to_thread(lambda: self._files.change(records_file(discussion), work))

    async def sources(self, discussion: Discussion) -> Mapping[BlockKey, Sequence[SourceMessage]]:
        """The messages of our chunks, in the order of the conversation."""
        return await self._read(discussion, record_chunks.sources)

    async def append(
        self,
        discussion: Discussion,
        records: Sequence[NewRecord],
        source: ChunkSource,
        *,
        before: BlockKey | None = None,
        made_by: str = "",
    ) -> BlockKey:
        """Store the records of a chunk and mark the chunk as processed, in one transaction."""
        return await self._write(discussion, lambda chunks: chunks.append(records, source, before, made_by))

    async def forget(self, discussion: Discussion, key: BlockKey) -> bool:
        """Delete the records and messages of a chunk of ours; their bytes are overwritten."""
        if not any(block.key == key and not block.is_forgotten for block in await self.blocks(discussion)):
            return False  # a write would create a missing file
        return await self._write(discussion, lambda chunks: chunks.forget(key))

    async def search(
        self, discussion: Discussion, keywords: Sequence[str], *, limit: int, weights: Sequence[float] = ()
    ) -> Sequence[Record]:
        """Records that contain any of the phrases, best first by bm25; if none, any of their words."""
        return await self._read(discussion, lambda sql: record_search.search(sql, keywords, limit, weights))

    async def newest(self, discussion: Discussion, *, limit: int, before: int | None = None) -> Sequence[Record]:
        """A page of records, newest first, without those of stale chunks."""
        values: dict[str, Value] = {"limit": max(0, limit), "before": _GREATEST_ID if before is None else before}
        return await self._records_of_query(discussion, "newest", values)

    async def without_entry(self, discussion: Discussion, model: str, *, limit: int) -> Sequence[Record]:
        """Records without an index entry of that embedding model, oldest first."""
        return await self._records_of_query(discussion, "without_entry", {"model": model, "limit": max(0, limit)})

    async def put_entries(self, discussion: Discussion, entries: Mapping[int, NewRecord]) -> None:
        """Store the index entries of records; deleted records are skipped."""

        def put_each_entry(sql: Sql) -> None:
            for number, record in entries.items():
                if record.entry is not None:
                    record_chunks.put_entry(sql, number, record.entry)

        if entries:
            await asyncio.to_thread(lambda: self._files.change(records_file(discussion), put_each_entry))

    def rows(self, discussion: Discussion) -> SearchRows:
        """The search rows of the records, for hybrid search."""
        return RecordRows(self._files, lambda: records_file(discussion))

    async def put_in_place(self, discussion: Discussion, made: Discussion) -> None:
        """Replace the records of `discussion` by those of `made`, in one step."""

        def replace_records() -> None:
            new = records_file(made)
            name = record_chunks.storable(discussion.id)
            self._files.change(new, lambda sql: record_schema.rename(sql, name))
            self._files.replace(records_file(discussion), new)

        await asyncio.to_thread(replace_records)

    async def aclose(self) -> None:
        """Close the open databases."""
        await asyncio.to_thread(self._files.close)

    async def _records_of_query(
        self, discussion: Discussion, query: str, values: Mapping[str, Value]
    ) -> list[Record]:
        return await self._read(
            discussion, lambda sql: [*map(record_search.record_of, sql.rows(_QUERIES[query], **values))]
        )

    async def _read(self, discussion: Discussion, work: Callable[[Sql], T]) -> T:
        return await asyncio.to_thread(lambda: self._files.read(records_file(discussion), work))

    async def _write(self, discussion: Discussion, work: Callable[[record_chunks.Chunks], T]) -> T:
        on_chunks = self._on_chunks(discussion, work)
        return await asyncio.to_thread(lambda: self._files.write(records_file(discussion), on_chunks))

    def _on_chunks(self, discussion: Discussion, work: Callable[[record_chunks.Chunks], T]) -> Callable[[Sql], T]:
        def write(sql: Sql) -> T:
            now = self._clock().astimezone(UTC).isoformat()
            chunks = record_chunks.Chunks(sql, discussion.id, now)
            outcome = work(chunks)
            chunks.finish()
            return outcome

        return write


_: tuple[type[SearchSnapshot], type[RecordStore]] = (RecordSnapshot, SqliteRecordStore)  # checked, never run
