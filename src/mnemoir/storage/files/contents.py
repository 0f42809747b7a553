"""The contents of one project file as an immutable value: readers keep theirs while a writer makes the next.

The file may contain objects that are no memories, and a second record with an id that its user already has: they keep
their place and are never returned.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from mnemoir.core.atomic_file import Stamp
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.storage.files.project_file import FileContent, Record, digest_of, encode
from mnemoir.storage.files.rows import (
    Key,
    Row,
    key_of,
    make_row,
    memory_of,
    newest_first,
    record_of,
    rewritten,
    without_codes,
)
from mnemoir.storage.planning import Effect, Standing, is_within

EntryOf = Callable[[Memory], IndexEntry]


@dataclass(frozen=True)  # no slots: the sorted view is made on first use, and cached
class UserRows:
    """One user's rows in order of `seq`, and their revision (`ports.search_rows.Revision`)."""

    rows: tuple[Row, ...] = ()
    changes: int = 0
    removals: int = 0

    @cached_property
    def by_age(self) -> list[Row]:
        """The rows, newest first."""
        return newest_first(self.rows)

    @cached_property
    def by_seq(self) -> dict[int, Row]:
        """The rows by `seq`, for search."""
        return {row.seq: row for row in self.rows}

    @cached_property
    def facts_by_hash(self) -> dict[bytes, list[Row]]:
        """Facts by the hash of their normal form, in order of storing."""
        found: dict[bytes, list[Row]] = {}
        for row in self.rows:
            if not row.search.is_message:
                found.setdefault(row.content_hash, []).append(row)
        return found


_NOBODY = UserRows()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The file at `stamp`. `items` are in the file's order, by an ascending number; a bare record is no memory.

    `digest` is that of the bytes read; None for contents that were written here.
    """

    stamp: Stamp | None
    digest: bytes | None
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
        return [row for row in self.of_user(scope.user).rows if is_within(row.memory, scope)]

    def get(self, scope: Scope, memory_id: MemoryId) -> Row | None:
        """The row of that id; None without one in the scope."""
        row = self.by_key.get((scope.user, memory_id))
        return row if row is not None and is_within(row.memory, scope) else None

    def owner_of(self, memory_id: MemoryId) -> str | None:
        """The user with a memory of that id; of several the one whose memory was stored first."""
        rows = (self.by_key.get((user, memory_id)) for user in self.by_user)
        first = min((row for row in rows if row is not None), key=lambda row: row.seq, default=None)
        return None if first is None else first.memory.user

    def same_text(self, scope: Scope, content_hash: bytes) -> list[Memory]:
        """The scope's facts of that hash, in order of storing."""
        same = self.of_user(scope.user).facts_by_hash.get(content_hash, ())
        return [row.memory for row in same if is_within(row.memory, scope)]

    def is_of(self, content: FileContent) -> bool:
        """True when the file read has these contents, byte for byte."""
        own = digest_of(encode(self.records())) if self.digest is None else self.digest
        return content.stamp is not None and self.stamp is not None and content.digest == own

    def records(self) -> list[Record]:
        """The records to write to the file."""
        return [item.record if isinstance(item, Row) else item for item in self.items.values()]

    def after(self, user: str, effects: Sequence[Effect]) -> "Contents":
        """The contents after the effects of one user's commit. The caller sets the new stamp."""
        items, by_key, written = dict(self.items), dict(self.by_key), self.written
        before = self.of_user(user)
        changes, removals = before.changes, before.removals
        rows = {row.seq: row for row in before.rows}
        hidden = self._hidden_items() if any(effect.event == "DELETE" for effect in effects) else {}
        for effect in effects:
            key = key_of(effect.memory)
            if effect.event == "DELETE":
                seq = by_key.pop(key).seq
                for gone in (seq, *hidden.pop((repr(effect.memory.id), repr(user)), ())):
                    del items[gone]
                del rows[seq]
                removals += 1
                continue
            changes = written = written + 1
            row = _row_after(effect, by_key.get(key), written)
            items[row.seq] = by_key[key] = rows[row.seq] = row
        by_user = {**self.by_user, user: UserRows(tuple(rows.values()), changes=changes, removals=removals)}
        return replace(self, digest=None, written=written, items=items, by_key=by_key, by_user=by_user)

    def with_entries(self, entries: Mapping[Key, IndexEntry]) -> "Contents":
        """The same memories with other index entries; unknown keys are skipped."""
        items, by_key, written = dict(self.items), dict(self.by_key), self.written
        renewed = {key: by_key[key] for key in entries if key in by_key}
        for key, row in renewed.items():
            written += 1
            search = replace(row.search, entry=without_codes(entries[key]))
            row = replace(row, search=search, changed=written)
            items[row.seq] = by_key[key] = row
        by_user = dict(self.by_user)
        for user in {user for user, _ in renewed}:
            rows = tuple(by_key[row.key] for row in by_user[user].rows)
            by_user[user] = UserRows(rows, changes=written, removals=by_user[user].removals)
        return replace(self, written=written, items=items, by_key=by_key, by_user=by_user)

    def _hidden_items(self) -> dict[tuple[str, str], list[int]]:
        """Items that are no memories, by their members for id and user."""
        found: dict[tuple[str, str], list[int]] = {}
        for seq, item in self.items.items():
            if not isinstance(item, Row):
                found.setdefault((repr(item.get("id")), repr(item.get("user_id"))), []).append(seq)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeOfFile:
    """A scope's memories in a file, for the planner. `taken_back` are removed ones that may be restored."""

    contents: Contents
    scope: Scope
    taken_back: Mapping[MemoryId, Memory] = field(default_factory=dict)

    def memories(self) -> list[Memory]:
        """All memories of the scope, in order of storing."""
        return [row.memory for row in self.contents.in_scope(self.scope)]

    def find(self, memory_id: MemoryId) -> Memory | None:
        """By id."""
        row = self.contents.by_key.get((self.scope.user, memory_id))
        return None if row is None else row.memory

    def same_text(self, content_hash: bytes) -> list[Memory]:
        """Facts of the scope."""
        return self.contents.same_text(self.scope, content_hash)

    def memory_at_removal(self, memory_id: MemoryId) -> Memory | None:
        """The removed memory, which the caller read from the history; None for others."""
        return self.taken_back.get(memory_id)

    def in_past(self, memory: Memory) -> None:
        """A file keeps no past."""


def contents_of(content: FileContent, entry_of: EntryOf) -> Contents:
    """The contents read from a file, as a new epoch; `entry_of` returns the stored entry of a text, or makes one."""
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
        digest=content.digest,
        epoch=uuid.uuid4().hex,
        written=len(items),
        items=items,
        by_key=by_key,
        by_user=_by_user(by_key.values()),
    )


def _row_after(effect: Effect, row: Row | None, written: int) -> Row:
    """The row of a memory after an ADD or an UPDATE, which leaves the entry as it is when it brings none."""
    memory = effect.memory
    if row is None:
        assert effect.entry is not None  # a new memory comes with one
        return make_row(record_of(memory), memory, effect.entry, seq=written, changed=written)
    record = rewritten(row.record, memory)
    if memory.expires_on != row.memory.expires_on:
        record.pop("expiration_date", None)
        record |= {} if memory.expires_on is None else {"expiration_date": memory.expires_on}
    if memory.metadata is not row.memory.metadata:
        record["metadata"] = None if memory.metadata is None else dict(memory.metadata)
    return make_row(record, memory, effect.entry or row.search.entry, seq=row.seq, changed=written)


def _by_user(rows: Iterable[Row]) -> dict[str, UserRows]:
    of_user: dict[str, list[Row]] = {}
    for row in rows:
        of_user.setdefault(row.memory.user, []).append(row)
    return {user: UserRows(tuple(rows), changes=rows[-1].changed) for user, rows in of_user.items()}


_: type[Standing] = ScopeOfFile  # checked, never run
