"""A ledger as readers see it, kept in memory as long as its files stay the same.

It leaves out the texts of the messages, which are most of a ledger and seldom needed.
"""

import sys
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from mnemoir.core.atomic_file import Stamp
from mnemoir.core.discussions import DIGEST_CHARACTERS, Block, ChunkSummary

_MOST_BYTES = 64 * 1024 * 1024
_OBJECTS_BYTES = 500  # of a summary and its block without their texts, measured
_DIGEST_BYTES = 60 + DIGEST_CHARACTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerView:
    """All summaries in the order of the conversation. `end` and `is_open` are those of `ledger_lines.LedgerText`."""

    chunks: Sequence[ChunkSummary] = ()
    blocks: Sequence[Block] = field(default=(), repr=False)
    highest: int = 0  # number
    is_array: bool = False
    end: int = 0
    is_open: bool = False
    weight: int = 0  # bytes in memory, about

    def newest(self, count: int) -> list[ChunkSummary]:
        """The last `count` summaries with `ChunkSummary.is_read`, oldest of them first."""
        newest: list[ChunkSummary] = []
        for chunk in reversed(self.chunks):
            if len(newest) >= count:
                break
            if chunk.is_read:
                newest.append(chunk)
        return newest[::-1]

    def with_last(self, chunk: ChunkSummary, end: int) -> "LedgerView":
        """A copy with one more summary at the end, and the new end of the file."""
        return LedgerView(
            chunks=(*self.chunks, chunk),
            blocks=(*self.blocks, _block(chunk)),
            highest=max(self.highest, chunk.number),
            end=end,
            weight=self.weight + _weight(chunk),
        )


def view_of(chunks: Sequence[ChunkSummary], *, is_array: bool, end: int, is_open: bool) -> LedgerView:
    """The view of the parsed summaries."""
    return LedgerView(
        chunks=tuple(chunks),
        blocks=tuple(map(_block, chunks)),
        highest=max((chunk.number for chunk in chunks), default=0),
        is_array=is_array,
        end=end,
        is_open=is_open,
        weight=sum(map(_weight, chunks)),
    )


Stamps = tuple[Stamp | None, ...]  # of the files of one ledger


class ViewCache:
    """The most recently used views that fit into `most_bytes`; thread-safe."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._views: OrderedDict[Path, tuple[Stamps, LedgerView]] = OrderedDict()
        self._lock = Lock()

    def get(self, path: Path, stamps: Stamps) -> LedgerView | None:
        """The view of the ledger at `path`; None when it is not cached, or is outdated."""
        with self._lock:
            kept, view = self._views.get(path, (None, None))
            if view is None or kept != stamps:
                return None
            self._views.move_to_end(path)
            return view

    def put(self, path: Path, stamps: Stamps, view: LedgerView) -> None:
        """Cache the view in place of the previous one, and evict the least recently used views."""
        with self._lock:
            self._drop(path)
            self._views[path] = (stamps, view)
            self._bytes += view.weight
            while self._bytes > self._most_bytes:
                self._drop(next(iter(self._views)))

    def _drop(self, path: Path) -> None:
        dropped = self._views.pop(path, None)
        if dropped is not None:
            self._bytes -= dropped[1].weight


def _block(chunk: ChunkSummary) -> Block:
    return Block(
        key=chunk.id,
        hash=chunk.hash,
        digests=chunk.digests,
        is_stale=chunk.stale_since is not None,
        is_forgotten=chunk.forgotten_at is not None,
    )


def _weight(chunk: ChunkSummary) -> int:
    return _OBJECTS_BYTES + sys.getsizeof(chunk.text) + sys.getsizeof(chunk.hash) + _DIGEST_BYTES * len(chunk.digests)
