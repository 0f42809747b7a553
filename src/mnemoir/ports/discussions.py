"""Stores of discussion memory: chunk summaries, the rolling summary, records, and the lock for making them.

Reading never creates or changes a file. Only the holder of `DiscussionFiles.making` may write chunks. All methods
raise StorageUnavailable; a file that cannot be parsed is never overwritten.
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
    ClientFolder,
    Discussion,
    DiscussionListed,
    NewRecord,
    Record,
    RollingSummary,
    SourceMessage,
)
from mnemoir.ports.search_rows import SearchRows


class ChunkStore(Protocol):
    """The common part of the stores of chunk summaries and of records: the processed chunks of a discussion."""

    async def begin(self, discussion: Discussion) -> bool:
        """Create an empty file if there is none. True when there was one already."""

    async def blocks(self, discussion: Discussion) -> Sequence[Block]:
        """All chunks, including stale and forgotten ones, in the order of the conversation; [] without a file."""

    async def change(self, discussion: Discussion, changes: BlockChanges) -> None:
        """Apply the changes atomically."""

    async def sources(self, discussion: Discussion) -> Mapping[BlockKey, Sequence[SourceMessage]]:
        """The messages of the chunks that have them stored, in the order of the conversation."""

    async def forget(self, discussion: Discussion, key: BlockKey) -> bool:
        """Delete the memories and the messages of a chunk for good; the block stays, so that it is not made again.

        False for an unknown chunk, or one already forgotten. Requires `DiscussionFiles.making`.
        """


class ChunkLedger(ChunkStore, Protocol):
    """The chunk summaries of discussions, in the order of the conversation."""

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
        """Store a summary durably, in front of the block `before`, else at the end. `created_at` "" means now."""

    async def all(self, discussion: Discussion) -> Sequence[ChunkSummary]:
        """All summaries, including stale and forgotten ones, in the order of the conversation."""

    async def newest(self, discussion: Discussion, count: int) -> Sequence[ChunkSummary]:
        """The last `count` summaries that are neither stale nor forgotten, oldest first.

        The cost does not depend on the length of the ledger.
        """

    async def put_in_place(self, discussion: Discussion, made: Discussion) -> None:
        """Replace the ledger of `discussion` by that of `made`, a discussion of the same root, atomically."""


class RollingSummaries(Protocol):
    """The rolling summaries of discussions, one each."""

    async def load(self, discussion: Discussion) -> RollingSummary | None:
        """The rolling summary; None when there is none yet."""

    async def save(self, discussion: Discussion, summary: RollingSummary) -> None:
        """Replace the rolling summary atomically."""

    async def remove(self, discussion: Discussion) -> None:
        """Delete the rolling summary, if there is one."""


class RecordStore(ChunkStore, Protocol):
    """The structured records of discussions, with keyword search."""

    async def append(
        self,
        discussion: Discussion,
        records: Sequence[NewRecord],
        source: ChunkSource,
        *,
        before: BlockKey | None = None,
        made_by: str = "",
    ) -> BlockKey:
        """Store the records of a chunk and mark the chunk as processed, atomically. `records` may be empty."""

    async def search(
        self, discussion: Discussion, keywords: Sequence[str], *, limit: int, weights: Sequence[float] = ()
    ) -> Sequence[Record]:
        """Records that contain any of the phrases, best first by bm25 with one weight for each of the five columns.

        A phrase is one word or several adjacent words; its characters are data, never query syntax. When no record
        contains a phrase, the search is repeated with its single words. Records of stale chunks are not found.
        """

    async def newest(self, discussion: Discussion, *, limit: int, before: int | None = None) -> Sequence[Record]:
        """At most `limit` records of chunks that are not stale, newest first, with ids below `before`."""

    async def without_entry(self, discussion: Discussion, model: str, *, limit: int) -> Sequence[Record]:
        """At most `limit` records without an index entry of that embedding model."""

    async def put_entries(self, discussion: Discussion, entries: Mapping[int, NewRecord]) -> None:
        """Store the index entries (`NewRecord.entry`) of the records with these ids."""

    def rows(self, discussion: Discussion) -> SearchRows:
        """The records as search rows for hybrid search; the `seq` of a row is the record's id."""

    async def put_in_place(self, discussion: Discussion, made: Discussion) -> None:
        """Replace the records of `discussion` by those of `made`, a discussion of the same root, atomically."""

    async def aclose(self) -> None:
        """Close the open databases, of which there are a few at most."""


class DiscussionFiles(Protocol):
    """The files of whole discussions: naming, locking, listing, checking and deletion."""

    async def named_discussion(
        self, root: Path, id: str, legacy: Path | None = None, client: ClientFolder | None = None
    ) -> Discussion:
        """The discussion with the name of its files, stored or not. Ids that differ have names that differ.

        `client` is given when `root` is the folder of a client's key.
        """

    async def client_folder(self, client_key: str, user: str | None) -> ClientFolder:
        """The folder of a client's key, for files that are encrypted for a config user; plain ones without a user."""

    async def client_folders(self, root: Path) -> Sequence[ClientFolder]:
        """The folders of clients' keys in a directory of discussions, without the secrets of their files."""

    async def move(self, source: Discussion, target: Discussion) -> bool:
        """Move all files of a discussion to another place and key, atomically.

        False, with nothing changed, when the target has any files or the source has none. Raises KeyUnavailable, and
        StorageUnavailable also while memories of one of the two are being made.
        """

    def making(self, discussion: Discussion, *, patience_s: float = 0.0) -> AbstractAsyncContextManager[bool]:
        """Hold the lock for making memories of the discussion, across all processes.

        Gives False when another holder keeps it for `patience_s` seconds.
        """

    async def discussions_in(
        self, root: Path, legacy: Path | None = None, client: ClientFolder | None = None
    ) -> Sequence[DiscussionListed]:
        """The discussions of a user, ordered by name. An unreadable one is listed with the values that are known."""

    async def problems(self, root: Path, legacy: Path | None = None) -> Sequence[str]:
        """One line for each damaged file of a user's discussions, with its path and the damage."""

    async def entry(self, discussion: Discussion) -> DiscussionListed | None:
        """The discussion as `discussions_in` gives it, without reading the others; None when it has no files."""

    async def exists(self, discussion: Discussion) -> bool:
        """True when the discussion has any file."""

    async def stored_files(self, discussion: Discussion) -> Mapping[str, bytes]:
        """Its files by name, as they are stored, also encrypted ones."""

    async def state_document(self, discussion: Discussion) -> str | None:
        """The state document, a text that WilmerAI writes and Mnemoir only reads; None without one."""

    async def remove(self, discussion: Discussion) -> bool:
        """Delete all files of the discussion, including its times; False when it had none. Requires `making`."""
