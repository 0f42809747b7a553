"""What one project file holds, as one immutable value: readers keep using theirs while a writer makes the next.

The file may hold objects that are no memories, and a second record under an id that its user has already: they are
carried along at their place and shown to nobody.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mnemoir.core.atomic_file import Stamp
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.storage.files.project_file import FileContent, Record
from mnemoir.storage.files.records import memory_of
from mnemoir.storage.files.rows import Key, Row, in_scope, key_of, make_row, newest_first, renewed_last

EntryOf = Callable[[Memory], IndexEntry]


@dataclass(frozen=True)  # no slots: the sorted view is made when it is first asked for, and kept
class UserRows:
    """One user's rows in order of `seq`, and how far they have come (`ports.search_rows.Revision`)."""

    rows: tuple[Row, ...] = ()
    changes: int = 0
    removals: int = 0

    @cached_property
    def by_age(self) -> list[Row]:
        """Newest first."""
        return newest_first(self.rows)

    @cached_property
    def by_seq(self) -> dict[int, Row]:
        """For look-ups of search."""
        return {row.seq: row for row in self.rows}

    @cached_property
    def facts_by_hash(self) -> dict[bytes, list[Row]]:
        """Facts by the hash of their normal form, in order of storing."""
        found: dict[bytes, list[Row]] = {}
        for row in self.rows:
            if not row.is_message:
                found.setdefault(row.content_hash, []).append(row)
        return found


_NOBODY = UserRows()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The file at `stamp`. `items` are in the file's order, by a number that grows; a bare record is no memory."""

    stamp: Stamp | None
    epoch: str
    written: int  # the highest number given to an item or a change so far
    items: Mapping[int, Row | Record]
    by_key: Mapping[Key, Row] = field(repr=False)
    by_user: Mapping[str, UserRows] = field(repr=False)

    def of_user(self, user: str) -> UserRows:
        """The user's rows; empty for an unknown one."""
        return self.by_user.get(user, _NOBODY)

    def in_scope(self, scope: Scope) -> list[Row]:
        """The scope's rows in order of storing."""
        return [row for row in self.of_user(scope.user).rows if in_scope(row.memory, scope)]

    def get(self, scope: Scope, memory_id: MemoryId) -> Row | None:
        """The row of that id, if it is the scope's."""
        row = self.by_key.get((scope.user, memory_id))
        return row if row is not None and in_scope(row.memory, scope) else None

    def owner_of(self, memory_id: MemoryId) -> str | None:
        """The user who has a memory of that id; of several the one whose was stored first."""
        rows = (self.by_key.get((user, memory_id)) for user in self.by_user)
        first = min((row for row in rows if row is not None), key=lambda row: row.seq, default=None)
        return None if first is None else first.memory.user

    def same_text(self, scope: Scope, content_hash: bytes) -> Row | None:
        """The scope's fact of that hash; of several the one renewed last."""
        same = self.of_user(scope.user).facts_by_hash.get(content_hash, ())
        return renewed_last(row for row in same if in_scope(row.memory, scope))

    def records(self) -> list[Record]:
        """What is to stand in the file."""
        return [item.record if isinstance(item, Row) else item for item in self.items.values()]


def contents_of(content: FileContent, entry_of: EntryOf) -> Contents:
    """A new epoch from what was read; `entry_of` gives what is stored, or made at once, for a text."""
    items: dict[int, Row | Record] = {}
    by_key: dict[Key, Row] = {}
    for seq, record in enumerate(content.records, start=1):
        memory = memory_of(record)
        if memory is None or key_of(memory) in by_key:
            items[seq] = record
            continue
        items[seq] = by_key[key_of(memory)] = make_row(record, memory, entry_of(memory), seq=seq, changed=seq)
    return Contents(
        stamp=content.stamp,
        epoch=uuid.uuid4().hex,
        written=len(items),
        items=items,
        by_key=by_key,
        by_user=_by_user(by_key.values()),
    )


def _by_user(rows: Iterable[Row]) -> dict[str, UserRows]:
    of_user: dict[str, list[Row]] = {}
    for row in rows:
        of_user.setdefault(row.memory.user, []).append(row)
    return {user: UserRows(tuple(rows), changes=rows[-1].changed) for user, rows in of_user.items()}
