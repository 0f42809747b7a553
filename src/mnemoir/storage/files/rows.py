"""A record as it is kept in memory: parsed once, with what reads and search ask of it at hand."""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from mnemoir.core.errors import NotSupported
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import Visible
from mnemoir.ports.search_rows import SearchRow
from mnemoir.storage.files.project_file import Record
from mnemoir.storage.memory_times import effective_at, expires_at, seconds_of

Key = tuple[str, MemoryId]  # user and id: two users of an edited file may have the same id


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`record` is the object of the file that `memory` was read from; `entry` comes without token codes.

    `seq` is the order of storing, `changed` counts writes in the project: both hold within one epoch. Times are as
    `SearchRow` has them. `text_hash` is of the very text, `content_hash` of its normal form.
    """

    seq: int
    changed: int
    record: Record
    memory: Memory
    entry: IndexEntry
    text_hash: bytes
    content_hash: bytes
    effective_at: float
    said_at: float
    expires_at: float

    @property
    def key(self) -> Key:
        """Names the memory within the project."""
        return key_of(self.memory)

    @property
    def is_message(self) -> bool:
        """Kept word for word, not derived."""
        return self.memory.kind == "message"


def make_row(record: Record, memory: Memory, entry: IndexEntry, *, seq: int, changed: int) -> Row:
    """The row of a record."""
    effective, said, expires = effective_at(memory), seconds_of(memory.created_at), expires_at(memory)
    return Row(
        seq=seq,
        changed=changed,
        record=record,
        memory=memory,
        entry=replace(entry, token_codes=None) if entry.token_codes is not None else entry,
        text_hash=text_hash(memory.text),
        content_hash=content_hash(memory.text),
        effective_at=math.inf if effective is None else effective,
        said_at=math.nan if said is None else said,
        expires_at=math.inf if expires is None else expires,
    )


def search_row(row: Row) -> SearchRow:
    """The row as search keeps it."""
    memory = row.memory
    return SearchRow(
        seq=row.seq,
        is_message=row.is_message,
        speaker=memory.speaker,
        agent=memory.agent,
        app=memory.app,
        conversation=memory.conversation,
        effective_at=row.effective_at,
        said_at=row.said_at,
        expires_at=row.expires_at,
        entry=row.entry,
    )


def key_of(memory: Memory) -> Key:
    """What names the memory within its project."""
    return memory.user, memory.id


def text_hash(text: str) -> bytes:
    """16 bytes that tell whether a text is still the very same."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def visible_rows(rows: Iterable[Row], visible: Visible) -> Iterable[Row]:
    """Those that have neither decayed nor expired. Raises NotSupported for a look into the past."""
    if visible.at is not None:
        raise NotSupported(
            "Project files hold only what is current, so no earlier state can be shown. "
            "Set STORAGE_BACKEND=sqlite to keep superseded memories."
        )
    horizon = -math.inf if visible.horizon is None else visible.horizon.timestamp()
    now = visible.now.timestamp()
    return (row for row in rows if row.effective_at >= horizon and row.expires_at > now)


def newest_first(rows: Iterable[Row]) -> list[Row]:
    """By `created_at`, newest first, unreadable ones last; ties by id descending."""
    return sorted(rows, key=_age, reverse=True)


def _age(row: Row) -> tuple[float, str]:
    return (-math.inf if math.isnan(row.said_at) else row.said_at, row.memory.id)
