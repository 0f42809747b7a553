"""One discussion's ledger on disk: read with its stale file, replaced as a whole, or extended by a line.

The view kept in memory leaves out the texts of messages, which are most of a ledger and seldom needed.

In a ledger of lines a stale entry stays where it is. An older server would treat one in its array as not stale, so an
array holds no stale entries; they are stored in `<name>_stale.jsonl`, each with the key of the entry before it.
Replacing the array is the commit: entries are added to the stale file before it and removed from the stale file after
it, and of an entry in both files the array's counts.
"""

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import structlog

from mnemoir.core.atomic_file import Stamp
from mnemoir.core.discussions import DIGEST_CHARACTERS, Block, BlockKey, ChunkSummary, ClientFolder
from mnemoir.storage.discussions.ledger_entries import chunks_in, is_stale, is_summary, with_stored_keys
from mnemoir.storage.discussions.ledger_lines import Entry, LedgerText
from mnemoir.storage.discussions.places import file_at, first_file, places
from mnemoir.storage.files.stored_file import ATTEMPTS, EditedMeanwhile

_log = structlog.get_logger(__name__)
_MOST_BYTES = 64 * 1024 * 1024
_OBJECTS_BYTES = 500  # of a summary and its block without their texts, measured
_DIGEST_BYTES = 60 + DIGEST_CHARACTERS
_BEHIND = "behind"


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
Known = tuple[Path, bytes | None]  # a ledger and the key that its files are encrypted by


class ViewCache:
    """The most recently used views that fit into `most_bytes`; thread-safe."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._views: OrderedDict[Known, tuple[Stamps, LedgerView]] = OrderedDict()
        self._lock = Lock()

    def get(self, ledger: Known, stamps: Stamps) -> LedgerView | None:
        """The view of the ledger; None when it is not cached, or is outdated."""
        with self._lock:
            kept, view = self._views.get(ledger, (None, None))
            if view is None or kept != stamps:
                return None
            self._views.move_to_end(ledger)
            return view

    def put(self, ledger: Known, stamps: Stamps, view: LedgerView) -> None:
        """Cache the view in place of the previous one, and evict the least recently used views."""
        with self._lock:
            self._drop(ledger)
            self._views[ledger] = (stamps, view)
            self._bytes += view.weight
            while self._bytes > self._most_bytes:
                self._drop(next(iter(self._views)))

    def _drop(self, ledger: Known) -> None:
        dropped = self._views.pop(ledger, None)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The content read from disk. `aside` are the entries of the stale file, as stored there."""

    text: LedgerText
    entries: Sequence[Entry]
    aside: Sequence[Entry]
    stamps: Stamps


class LedgerFile:
    """The ledger at its existing place, or at the place of a new one. All methods block, raise StorageUnavailable."""

    def __init__(self, root: Path, name: str, client: ClientFolder | None = None) -> None:
        """`name` is the name of the discussion's files (`Discussion.file_name`)."""
        candidates = places(name, "memories", client)
        at = first_file(root, candidates, client)
        self.exists = at is not None
        self.file = at or file_at(root, candidates[-1], client)
        asides = places(name, "stale", client)
        self._aside = first_file(root, asides, client) or file_at(root, asides[-1], client)

    @property
    def path(self) -> Path:
        """The whole path of the file."""
        return self.file.path

    @property
    def known_as(self) -> Known:
        """The key of its view in the cache: what one key decrypts is not for another one."""
        return self.file.path, self.file.secret

    def view(self, cache: ViewCache) -> LedgerView:
        """The view for readers; empty without a file."""
        view = cache.get(self.known_as, self.stamps()) if self.exists else LedgerView()
        if view is None:
            ledger = self.read()
            view = _view(ledger)
            cache.put(self.known_as, ledger.stamps, view)
        return view

    def read(self) -> Ledger:
        """All entries, unchanged; empty without a file."""
        for _ in range(ATTEMPTS):
            main, aside = self.file.read(), self._aside.read()
            if aside is None or main is None or self.file.stamp() == main[1]:  # both are of one moment
                break
        text = self.file.understand(main[0] if main else b"")
        outside = self._aside.understand(aside[0]).entries if text.is_array and aside else ()
        return Ledger(
            text=text,
            entries=_merged_entries(text.entries, outside),
            aside=outside,
            stamps=(main and main[1], aside and aside[1]),
        )

    def rewrite(self, edit: Callable[[list[Entry]], Sequence[Entry]]) -> None:
        """Replace the entries by `edit` of the settled entries; the file keeps its form, array or lines."""
        for _ in range(ATTEMPTS):
            before = self.read()
            with self.file.content_errors():  # an entry may be nested too deeply to be taken apart
                entries = edit(with_stored_keys(before.entries))
            with suppress(EditedMeanwhile):
                self._replace(entries, before)
                return
        raise self.file.concurrent_edit_error()

    def grow(self, line: bytes, view: LedgerView) -> tuple[Stamps, int]:
        """Append a line durably to a ledger of lines with this `view`. Returns its new stamps and length.

        A line that a killed writer left unfinished is cut off first. A line that cannot be written wholly is undone.
        """
        now, aside = self.stamps()
        if now is not None and now.size > view.end:
            cut = now.size - view.end
            _log.warning("unfinished line of a killed writer is cut off", file=self.file.name, bytes=cut)
        stamp = self.file.append(b"\n" + line if view.is_open else line, end=view.end)
        return (stamp, aside), stamp.size

    def create(self) -> None:
        """Create an empty ledger unless there is one."""
        if self.exists:
            return
        if self.file.is_array:  # an empty one would be no array
            with suppress(EditedMeanwhile):
                self.file.replace(self.file.content_of([], as_array=True), over=None)
        else:
            self.file.append(b"", end=self.file.size())  # another writer may have made it meanwhile

    def stamps(self) -> Stamps:
        """The stamps of the ledger and of the stale file; None for a missing one."""
        return self.file.stamp(), self._aside.stamp()

    def _replace(self, entries: Sequence[Entry], before: Ledger) -> None:
        if not before.text.is_array:
            self.file.replace(self.file.content_of(entries, as_array=False), over=before.stamps[0])
            return
        aside = _outside(entries)
        staying = {entry.value["id"] for entry in aside}
        leaving = [entry for entry in before.aside if _has_key(entry) and entry.value["id"] not in staying]
        if aside and aside != before.aside:
            self._aside.replace(self._aside.content_of([*aside, *leaving], as_array=False))
        inside = [_inside(entry) for entry in entries if not is_stale(entry)]
        self.file.replace(self.file.content_of(inside, as_array=True), over=before.stamps[0])
        if leaving and aside:
            self._aside.replace(self._aside.content_of(aside, as_array=False))
        elif leaving:
            self._aside.remove()


def _view(ledger: Ledger) -> LedgerView:
    chunks = [chunk for chunk in chunks_in(ledger.entries) if chunk is not None]
    text = ledger.text
    return view_of(chunks, is_array=text.is_array, end=text.end, is_open=text.is_open)


def _merged_entries(inside: Sequence[Entry], outside: Sequence[Entry]) -> list[Entry]:
    """The entries of an array merged with the stale ones, each after the entry it followed, else at the end."""
    if not outside:
        return list(inside)
    keys = [chunk.id if chunk else None for chunk in chunks_in(inside)]
    left = {entry.value["id"]: entry for entry in outside if _has_key(entry) and entry.value["id"] not in keys}
    behind: dict[BlockKey, list[BlockKey]] = {}
    for key, entry in left.items():
        behind.setdefault(str(entry.value.get(_BEHIND)), []).append(key)
    merged: list[Entry] = list(_take_entries_after("", behind, left))
    for key, entry in zip(keys, inside, strict=True):
        merged += [entry, *(_take_entries_after(key, behind, left) if key else ())]
    return [*merged, *left.values()]


def _take_entries_after(
    start: BlockKey, behind: Mapping[BlockKey, list[BlockKey]], left: dict[BlockKey, Entry]
) -> Iterator[Entry]:
    """The entries after `start`, and those after them in turn, removed from `left`."""
    waiting = behind.get(start, [])[::-1]
    while waiting:
        key = waiting.pop()
        if key in left:
            yield left.pop(key)
            waiting += behind.get(key, [])[::-1]


def _outside(entries: Sequence[Entry]) -> list[Entry]:
    """The stale ones of settled entries, each with the key of the entry before it."""
    outside, key = [], ""
    for entry in entries:
        if is_stale(entry):
            is_known = entry.value.get(_BEHIND) == key
            outside.append(entry if is_known else entry.with_members(**{_BEHIND: key}))
        key = entry.value["id"] if is_summary(entry.value) else key
    return outside


def _inside(entry: Entry) -> Entry:
    return entry.with_members(without=[_BEHIND]) if is_summary(entry.value) and _BEHIND in entry.value else entry


def _has_key(entry: Entry) -> bool:
    return is_summary(entry.value) and isinstance(entry.value.get("id"), str)
