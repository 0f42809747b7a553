"""Chunk summaries of discussions in files that other programs read too: `<name>_memories.jsonl`, or as found.

Reading creates nothing and takes no lock: files are only replaced as a whole or extended by a line. Only the holder
of `FileDiscussionFiles.making` writes. A summary is durable when `append` returns.
"""

import asyncio
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.discussions import (
    Block,
    BlockChanges,
    BlockKey,
    ChunkSource,
    ChunkSummary,
    Discussion,
    SourceMessage,
)
from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.discussions import ChunkLedger
from mnemoir.storage.discussions.ledger_entries import (
    chunks_in,
    complete_chunk,
    entry_for_discussion,
    is_summary,
    messages_in,
    new_entry,
    with_changes,
    with_stored_keys,
    without_block,
)
from mnemoir.storage.discussions.ledger_file import LedgerFile, LedgerView, ViewCache
from mnemoir.storage.discussions.ledger_lines import Entry, begins_as_array, is_unfinished, line_of, loads
from mnemoir.storage.discussions.places import PlacedFile

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a named pipe must not stop the reader
_STEP = 64 * 1024  # bytes; a few summaries with their messages
_HEAD = 64


def newest_in(file: PlacedFile, count: int) -> list[ChunkSummary] | None:
    """The last `count` summaries with `ChunkSummary.is_read`, oldest of them first.

    None when the end is not enough: an array, an encrypted file, entries without key or number, a file that shrank
    during the read. Raises StorageUnavailable.
    """
    with file.open_folder("read") as folder:
        if folder is None or not file.grows:
            return None
        opened = os.open(file.file, _READ, dir_fd=folder)
        try:
            if begins_as_array(os.pread(opened, _HEAD, 0)):
                return None
            with file.content_errors():
                return _newest(_lines_from_end(opened), count)
        except (_Shrunk, _Incomplete):
            return None
        finally:
            os.close(opened)


class _Shrunk(Exception):
    pass


class _Incomplete(Exception):
    pass


def _newest(lines: Iterator[bytes], count: int) -> list[ChunkSummary]:
    newest: list[ChunkSummary] = []
    for distance, line in enumerate(lines):
        if len(newest) == count:
            break
        chunk = _chunk(line, is_last=distance == 0)
        if chunk is not None and chunk.is_read:
            newest.append(chunk)
    return newest[::-1]


def _chunk(line: bytes, *, is_last: bool) -> ChunkSummary | None:
    if not line.strip() or (is_last and is_unfinished(line)):
        return None
    value = loads(line)
    if not is_summary(value):
        return None
    chunk = complete_chunk(value)
    if chunk is None:
        raise _Incomplete
    return chunk


def _lines_from_end(file: int) -> Iterator[bytes]:
    """The lines, last first; the first of them is the text after the last line end."""
    at, step, rest = os.fstat(file).st_size, _STEP, b""
    while at > 0:
        start = max(0, at - step)
        block = os.pread(file, at - start, start)
        if len(block) < at - start:
            raise _Shrunk
        rest, *lines = (block + rest).split(b"\n")
        yield from reversed(lines)
        at, step = start, step * 2  # a line longer than a step costs no more than its length
    yield rest


class FileChunkLedger:
    """The ledgers of all discussions; the most recently used views are kept in memory."""

    def __init__(self, clock: Clock = utc_now) -> None:
        self._clock = clock
        self._views = ViewCache()

    async def begin(self, discussion: Discussion) -> bool:
        """See the port."""
        return await asyncio.to_thread(self._begin, discussion)

    async def blocks(self, discussion: Discussion) -> Sequence[Block]:
        """See the port."""
        return (await asyncio.to_thread(self._view, discussion)).blocks

    async def all(self, discussion: Discussion) -> Sequence[ChunkSummary]:
        """See the port."""
        return (await asyncio.to_thread(self._view, discussion)).chunks

    async def newest(self, discussion: Discussion, count: int) -> Sequence[ChunkSummary]:
        """See the port."""
        return await asyncio.to_thread(self._newest, discussion, count)

    async def sources(self, discussion: Discussion) -> Mapping[BlockKey, Sequence[SourceMessage]]:
        """See the port; read from disk each time."""
        return await asyncio.to_thread(self._sources, discussion)

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
        """See the port; an unknown block `before` means the end."""
        chunk = ChunkSummary(
            id=f"chunk_{uuid.uuid4().hex}",
            text=text,
            hash=source.hash,
            number=0,  # known under the lock
            created_at=created_at or to_text(self._clock()),
            digests=tuple(source.digests),
            made_by=made_by,
            forgotten_at=None if text else "",  # as it will be read
        )
        return await asyncio.to_thread(self._append, discussion, chunk, source, before)

    async def change(self, discussion: Discussion, changes: BlockChanges) -> None:
        """See the port; unknown blocks are skipped."""
        await asyncio.to_thread(self._change, discussion, changes)

    async def forget(self, discussion: Discussion, key: BlockKey) -> bool:
        """See the port; its entry loses the members of other programs."""
        return await asyncio.to_thread(self._forget, discussion, key)

    async def put_in_place(self, discussion: Discussion, made: Discussion) -> None:
        """See the port."""
        await asyncio.to_thread(self._put_in_place, discussion, made)

    def _begin(self, discussion: Discussion) -> bool:
        ledger = _file(discussion)
        ledger.create()
        return ledger.exists

    def _view(self, discussion: Discussion) -> LedgerView:
        return _file(discussion).view(self._views)

    def _newest(self, discussion: Discussion, count: int) -> Sequence[ChunkSummary]:
        ledger = _file(discussion)
        if not ledger.exists or count <= 0:
            return ()
        newest = newest_in(ledger.file, count)
        return ledger.view(self._views).newest(count) if newest is None else newest

    def _sources(self, discussion: Discussion) -> dict[BlockKey, list[SourceMessage]]:
        entries = _file(discussion).read().entries
        return {
            chunk.id: messages
            for chunk, entry in zip(chunks_in(entries), entries, strict=True)
            if chunk is not None and (messages := messages_in(entry.value))
        }

    def _append(
        self, discussion: Discussion, chunk: ChunkSummary, source: ChunkSource, before: BlockKey | None
    ) -> ChunkSummary:
        ledger = _file(discussion)
        view = ledger.view(self._views)
        chunk = replace(chunk, number=view.highest + 1)
        entry = new_entry(discussion, chunk, source)
        if view.is_array or not ledger.file.grows or any(block.key == before for block in view.blocks):
            ledger.rewrite(lambda entries: _with(entries, entry, before))
        else:
            stamps, end = ledger.grow(line_of(entry.value), view)
            self._views.put(ledger.known_as, stamps, view.with_last(chunk, end))
        return chunk

    def _change(self, discussion: Discussion, changes: BlockChanges) -> None:
        ledger = _file(discussion)
        if changes and ledger.exists:
            ledger.rewrite(lambda entries: with_changes(entries, changes, self._clock()))

    def _forget(self, discussion: Discussion, key: BlockKey) -> bool:
        ledger = _file(discussion)
        if not any(chunk.id == key and not chunk.forgotten_at for chunk in ledger.view(self._views).chunks):
            return False
        ledger.rewrite(lambda entries: without_block(entries, key, self._clock()))
        return True

    def _put_in_place(self, discussion: Discussion, made: Discussion) -> None:
        source, target = _file(made), _file(discussion)
        if not source.exists:
            raise StorageUnavailable(f"{source.file.name} is not there to be put in place. Make the memories again.")
        entries = with_stored_keys(source.read().entries)
        target.rewrite(lambda _: [entry_for_discussion(entry, discussion) for entry in entries])
        source.file.remove()


def _with(entries: Sequence[Entry], new: Entry, before: BlockKey | None) -> list[Entry]:
    keys = [chunk.id if chunk else None for chunk in chunks_in(entries)]
    at = keys.index(before) if before is not None and before in keys else len(entries)
    return [*entries[:at], new, *entries[at:]]


def _file(discussion: Discussion) -> LedgerFile:
    return LedgerFile(discussion.root, discussion.file_name, discussion.client)


_: type[ChunkLedger] = FileChunkLedger  # checked, never run
