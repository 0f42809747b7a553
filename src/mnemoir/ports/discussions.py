"""Where discussions are kept: chunk summaries, the rolling summary, records, and the right to make more of them.

Nothing here makes or changes a file when something is only read. Only who holds `DiscussionFiles.making` may write
chunks. All methods raise StorageUnavailable; a file that cannot be understood is never written over.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from mnemoir.core.discussions import (
    Block,
    BlockChanges,
    BlockKey,
    ChunkSource,
    ChunkSummary,
    Discussion,
    DiscussionListed,
    NewRecord,
    Record,
    RollingSummary,
    SourceMessage,
)
from mnemoir.ports.search_rows import SearchRows


class ChunkStore(Protocol):
    """What the stores of chunk summaries and of records have in common: which chunks of a discussion are done."""

    async def begin(self, discussion: Discussion) -> bool:
        """Make an empty file where there is none; whether there was one before."""

    async def blocks(self, discussion: Discussion) -> Sequence[Block]:
        """All chunks, stale ones too, in the order of the conversation; none without a file."""

    async def change(self, discussion: Discussion, changes: BlockChanges) -> None:
        """All of the changes or none."""

    async def sources(self, discussion: Discussion) -> Mapping[BlockKey, Sequence[SourceMessage]]:
        """The words of the chunks, as far as they were kept; in the order of the conversation."""

    async def forget(self, discussion: Discussion, key: BlockKey) -> bool:
        """Remove for good what was made of a chunk, and its words; the block stays, so that it is not made again.

        False when there is no such chunk, or when it was forgotten before. Only under `DiscussionFiles.making`.
        """


class ChunkLedger(ChunkStore, Protocol):
    """Chunk summaries, one line each, in the order of the conversation."""

    async def append(
        self,
        discussion: Discussion,
        text: str,
        source: ChunkSource,
        *,
        before: BlockKey | None = None,
        made_by: str = "",
        created_at: str = "",
    ) -> ChunkSummary:
        """Store a summary durably, in front of the block `before`, else at the end; "" for made now."""

    async def all(self, discussion: Discussion) -> Sequence[ChunkSummary]:
        """All, also stale and forgotten ones, in the order of the conversation."""

    async def newest(self, discussion: Discussion, count: int) -> Sequence[ChunkSummary]:
        """The last `count` that are neither stale nor forgotten, oldest first; cheap however long the ledger is."""

    async def put_in_place(self, discussion: Discussion, made: Discussion) -> None:
        """Make the ledger of `made`, another discussion of the same root, that of `discussion`, in one step."""


class RollingSummaries(Protocol):
    """One rolling summary for each discussion."""

    async def load(self, discussion: Discussion) -> RollingSummary | None:
        """None where there is none yet."""

    async def save(self, discussion: Discussion, summary: RollingSummary) -> None:
        """In place of the one before, in one step."""

    async def remove(self, discussion: Discussion) -> None:
        """Take it away; harmless when there is none."""


class RecordStore(ChunkStore, Protocol):
    """Structured records, found by words."""

    async def append(
        self,
        discussion: Discussion,
        records: Sequence[NewRecord],
        source: ChunkSource,
        *,
        before: BlockKey | None = None,
        made_by: str = "",
    ) -> BlockKey:
        """Store the records of a chunk, and that the chunk is done, in one step; a chunk may have none."""

    async def search(
        self, discussion: Discussion, keywords: Sequence[str], *, limit: int, weights: Sequence[float] = ()
    ) -> Sequence[Record]:
        """Records that hold any of the phrases, best first by bm25; `weights` are those of the five columns.

        A phrase is a word or several that stand side by side, whatever characters it has: it is data, never syntax.
        Where no phrase is found at all, the single words are looked for. Records of stale chunks are not found.
        """

    async def newest(self, discussion: Discussion, *, limit: int, before: int | None = None) -> Sequence[Record]:
        """A page of those that are not of stale chunks, newest first, from the id `before` downwards."""

    async def without_entry(self, discussion: Discussion, model: str, *, limit: int) -> Sequence[Record]:
        """Records that have no index entry of that embedding model yet."""

    async def put_entries(self, discussion: Discussion, entries: Mapping[int, NewRecord]) -> None:
        """Give records, by their ids, the index entries of `NewRecord.entry`."""

    def rows(self, discussion: Discussion) -> SearchRows:
        """The records as hybrid search reads them; a record's `seq` is its id."""

    async def put_in_place(self, discussion: Discussion, made: Discussion) -> None:
        """Make the records of `made`, another discussion of the same root, those of `discussion`, in one step."""

    async def aclose(self) -> None:
        """Close the databases that are kept open; at most a few are at any time."""


class DiscussionFiles(Protocol):
    """The files of discussions as a whole."""

    def making(self, discussion: Discussion, *, patience_s: float = 0.0) -> AbstractAsyncContextManager[bool]:
        """Be the only one, in all processes, who makes memories of it; False when another is, after `patience_s`."""

    async def listed(self, root: Path, legacy: Path | None = None) -> Sequence[DiscussionListed]:
        """The discussions of a user, by name. One that cannot be read is listed with what is known of it."""

    async def problems(self, root: Path, legacy: Path | None = None) -> Sequence[str]:
        """One line for each file of a user's discussions that is not whole, with its path and what is wrong."""

    async def entry(self, discussion: Discussion) -> DiscussionListed | None:
        """The discussion as the list has it, without reading the others; None where nothing is kept of it."""

    async def exists(self, discussion: Discussion) -> bool:
        """Whether anything is kept of it."""

    async def state_document(self, discussion: Discussion) -> str | None:
        """The text that tells what is true now, which WilmerAI writes and we only read; None where there is none."""

    async def remove(self, discussion: Discussion) -> bool:
        """Take away all that is kept of it, times too; False where there was nothing. Only under `making`."""
