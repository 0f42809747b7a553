"""Records as rows in memory: parsed once, with the values that reads and search need."""

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from mnemoir.core.errors import NotSupported
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import Visible
from mnemoir.ports.search_rows import SearchRow
from mnemoir.storage.files.project_file import Record
from mnemoir.storage.planning import effective_at, expires_at, seconds_of

Key = tuple[str, MemoryId]  # user and id: two users of an edited file may have the same id


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A memory as a search row, with its JSON object from the file.

    `search.seq` is the order of storing, `changed` counts writes in the project: both are valid within one epoch.
    `text_hash` is of the exact text, `content_hash` of its normal form.
    """

    changed: int
    record: Record
    memory: Memory
    search: SearchRow
    text_hash: bytes
    content_hash: bytes

    @property
    def seq(self) -> int:
        """The order of storing."""
        return self.search.seq

    @property
    def key(self) -> Key:
        """The memory's key within the project."""
        return key_of(self.memory)


def make_row(record: Record, memory: Memory, entry: IndexEntry, *, seq: int, changed: int) -> Row:
    """The row of a record."""
    effective, said, expires = effective_at(memory), seconds_of(memory.created_at), expires_at(memory)
    search = SearchRow(
        seq=seq,
        is_message=memory.kind == "message",
        speaker=memory.speaker,
        agent=memory.agent,
        app=memory.app,
        conversation=memory.conversation,
        effective_at=math.inf if effective is None else effective,
        said_at=math.nan if said is None else said,
        expires_at=math.inf if expires is None else expires,
        entry=without_codes(entry),
    )
    return Row(
        changed=changed,
        record=record,
        memory=memory,
        search=search,
        text_hash=text_hash(memory.text),
        content_hash=content_hash(memory.text),
    )


def without_codes(entry: IndexEntry) -> IndexEntry:
    """The entry without token codes, which are not kept in memory."""
    return entry if entry.token_codes is None else replace(entry, token_codes=None)


def key_of(memory: Memory) -> Key:
    """The memory's key within its project."""
    return memory.user, memory.id


def text_hash(text: str) -> bytes:
    """A hash of 16 bytes, to detect a change of the text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def is_shown(visible: Visible) -> Callable[[Row], bool]:
    """A predicate for rows that have neither decayed nor expired. Raises NotSupported for a past instant."""
    if visible.at is not None:
        raise NotSupported(
            "Project files hold only what is current, so no earlier state can be shown. "
            "Set STORAGE_BACKEND=sqlite to keep superseded memories."
        )
    horizon = -math.inf if visible.horizon is None else visible.horizon.timestamp()
    now = visible.now.timestamp()
    return lambda row: row.search.effective_at >= horizon and row.search.expires_at > now


def newest_first(rows: Iterable[Row]) -> list[Row]:
    """By `created_at`, newest first, unreadable ones last; ties by id descending."""
    return sorted(rows, key=lambda row: place_of(row.search.said_at, row.memory.id), reverse=True)


def place_of(at: float | None, memory_id: MemoryId, *, ascending: bool = False) -> tuple[float, str]:
    """The sort key of a row in the direction of a list. Rows without a finite time come last."""
    has_time = at is not None and math.isfinite(at)
    return (at if at is not None and has_time else math.inf if ascending else -math.inf), memory_id
