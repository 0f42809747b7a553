"""Structured records of discussions, one SQLite file each, with full-text search."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from typing import TypeVar

from mnemoir.core.clock import Clock, utc_now
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
from mnemoir.ports.discussions import RecordStore
from mnemoir.ports.search_rows import SearchRows
from mnemoir.storage.discussions import record_chunks, record_schema, record_search
from mnemoir.storage.discussions.record_files import RecordFiles
from mnemoir.storage.discussions.record_place import records_file
from mnemoir.storage.discussions.record_rows import RecordRows
from mnemoir.storage.sql.engine import Sql, Value, queries

T = TypeVar("T")
_QUERIES = queries("records/search")
_GREATEST_ID = 2**63 - 1


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
        return await self._listed(discussion, "newest", values)

    async def without_entry(self, discussion: Discussion, model: str, *, limit: int) -> Sequence[Record]:
        """Records without an index entry of that embedding model, oldest first."""
        return await self._listed(discussion, "without_entry", {"model": model, "limit": max(0, limit)})

    async def put_entries(self, discussion: Discussion, entries: Mapping[int, NewRecord]) -> None:
        """Store the index entries of records; deleted records are skipped."""

        def work(sql: Sql) -> None:
            for number, record in entries.items():
                if record.entry is not None:
                    record_chunks.put_entry(sql, number, record.entry)

        if entries:
            await asyncio.to_thread(lambda: self._files.change(records_file(discussion), work))

    def rows(self, discussion: Discussion) -> SearchRows:
        """The search rows of the records, for hybrid search."""
        return RecordRows(self._files, lambda: records_file(discussion))

    async def put_in_place(self, discussion: Discussion, made: Discussion) -> None:
        """Replace the records of `discussion` by those of `made`, in one step."""

        def work() -> None:
            new = records_file(made)
            name = record_chunks.storable(discussion.id)
            self._files.change(new, lambda sql: record_schema.rename(sql, name))
            self._files.replace(records_file(discussion), new)

        await asyncio.to_thread(work)

    async def aclose(self) -> None:
        """Close the open databases."""
        await asyncio.to_thread(self._files.close)

    async def _listed(self, discussion: Discussion, query: str, values: Mapping[str, Value]) -> list[Record]:
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


_: type[RecordStore] = SqliteRecordStore  # checked, never run
