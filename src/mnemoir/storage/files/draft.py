"""The next contents of a project file, built change by change from the present ones. Pure: writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mnemoir.core.clock import Clock, to_text
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.ids import MemoryId, new_memory_id
from mnemoir.core.memories import (
    UNCHANGED,
    Add,
    Applied,
    Change,
    ChangeEvent,
    IndexEntry,
    Memory,
    Remove,
    Restore,
    Update,
)
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import StaleChange
from mnemoir.storage.files.contents import Contents, UserRows
from mnemoir.storage.files.records import record_of, rewritten
from mnemoir.storage.files.rows import Key, Row, in_scope, key_of, make_row, renewed_last


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One change made, and why. `entry` is whole, with token codes; None when the text is gone or still the same."""

    applied: Applied
    reason: str
    entry: IndexEntry | None


class Draft:
    """Changes to one user's memories on top of `base`; `done` tells what has been changed so far.

    `removed` holds memories that may be taken back.
    """

    def __init__(
        self, base: Contents, scope: Scope, clock: Clock, removed: Mapping[MemoryId, Memory] | None = None
    ) -> None:
        self.done: list[Done] = []
        self.base = base
        self._scope = scope
        self._removed = removed or {}
        self._now = to_text(clock())
        self._items = dict(base.items)
        self._by_key = dict(base.by_key)
        self._user = base.of_user(scope.user)
        self._hidden = _hidden(base)
        self._fresh: dict[bytes, list[Key]] = {}  # facts of this draft, by content hash
        self._written = base.written
        self._changes, self._removals = self._user.changes, self._user.removals

    def make(self, change: Change, *, degrade: bool) -> None:
        """Apply one change. Raises StaleChange for a target that reads otherwise, unless `degrade`."""
        if isinstance(change, Add):
            self._add(change.memory, change.entry, change.reason)
            return
        if isinstance(change, Restore):
            self._restore(change, degrade=degrade)
            return
        row = self._target(change)
        if row is None and not degrade:
            raise StaleChange(f"Memory {change.target} changed or vanished since it was read.")
        if isinstance(change, Update):
            self._update(change, row)
        elif row is not None:
            self.remove(row, change.reason)

    def remove(self, row: Row, reason: str) -> None:
        """Take a row out of the file, with any hidden record of the same id and user."""
        memory = row.memory
        del self._items[row.seq], self._by_key[row.key]
        for seq in self._hidden.pop((repr(memory.id), repr(memory.user)), ()):
            del self._items[seq]
        self._removals += 1
        self._note("DELETE", memory, memory.text, reason, None)

    def contents(self) -> Contents:
        """What the file is to hold, with the stamp of the base: the caller knows the new one."""
        base_rows = self._user.rows
        kept = [row for old in base_rows if (row := self._row_at(old.seq)) is not None]
        added = [row for seq in range(self.base.written + 1, self._written + 1) if (row := self._row_at(seq))]
        user = UserRows((*kept, *added), changes=self._changes, removals=self._removals)
        return replace(
            self.base,
            written=self._written,
            items=self._items,
            by_key=self._by_key,
            by_user={**self.base.by_user, self._scope.user: user},
        )

    def _add(self, memory: Memory, entry: IndexEntry, reason: str) -> None:
        memory = self._placed(memory)
        if key_of(memory) in self._by_key or (memory.kind == "fact" and self._same_text(memory.text)):
            return
        self._written += 1
        self._put(make_row(record_of(memory), memory, entry, seq=self._written, changed=self._written))
        self._note("ADD", memory, None, reason, entry)

    def _restore(self, change: Restore, *, degrade: bool) -> None:
        memory = self._removed.get(change.target)
        if (
            memory is None
            or memory.text != change.expected
            or key_of(memory) in self._by_key
            or (memory.kind == "fact" and self._same_text(memory.text))
        ):
            if not degrade:
                raise StaleChange(f"Memory {change.target} is not to be taken back as it was read.")
            return
        self._add(memory, change.entry, change.reason)

    def _update(self, change: Update, row: Row | None) -> None:
        if row is None:
            self._add(self._new_fact(change.text), change.entry, change.reason)
            return
        same = None if row.is_message or change.text == change.expected else self._same_text(change.text)
        if same is not None and same.seq != row.seq:
            self.remove(row, change.reason)  # two facts became one
            self._rewrite(same, same.memory, None, change.reason)
            return
        metadata = row.memory.metadata if change.metadata is UNCHANGED else change.metadata
        entry = None if change.text == change.expected else change.entry
        self._rewrite(row, replace(row.memory, text=change.text, metadata=metadata), entry, change.reason)

    def _rewrite(self, row: Row, memory: Memory, entry: IndexEntry | None, reason: str) -> None:
        """Give the row the memory's text and metadata as of now; a renewed one keeps the entry it has."""
        self._written += 1
        record = rewritten(row.record, text=memory.text, updated_at=self._now)
        if memory.metadata != row.memory.metadata:
            record |= {"metadata": None if memory.metadata is None else dict(memory.metadata)}
        memory = replace(memory, updated_at=self._now)
        self._put(make_row(record, memory, entry or row.entry, seq=row.seq, changed=self._written))
        self._note("UPDATE", memory, row.memory.text, reason, entry)

    def _put(self, row: Row) -> None:
        self._items[row.seq] = self._by_key[row.key] = row
        self._changes = row.changed
        if not row.is_message:
            self._fresh.setdefault(row.content_hash, []).append(row.key)

    def _same_text(self, text: str) -> Row | None:
        """The scope's fact of this normal form as things stand now."""
        wanted = content_hash(text)
        before = [row.key for row in self._user.facts_by_hash.get(wanted, ())]
        rows = (self._by_key.get(key) for key in (*before, *self._fresh.get(wanted, ())))
        return renewed_last(
            row
            for row in rows
            if row is not None and row.content_hash == wanted and in_scope(row.memory, self._scope)
        )

    def _target(self, change: Update | Remove) -> Row | None:
        row = self._by_key.get((self._scope.user, change.target))
        if row is None or not in_scope(row.memory, self._scope) or row.memory.text != change.expected:
            return None
        as_of = change.as_of if isinstance(change, Update) else None
        return row if as_of in (None, row.memory.updated_at or row.memory.created_at) else None

    def _new_fact(self, text: str) -> Memory:
        now = self._now
        return Memory(id=new_memory_id(), text=text, user=self._scope.user, created_at=now, updated_at=now)

    def _placed(self, memory: Memory) -> Memory:
        """The memory with the scope's inner levels where it leaves them open. Raises InvalidRequest outside it."""
        scope = self._scope
        placed = replace(
            memory,
            agent=memory.agent if memory.agent is not None else scope.agent,
            app=memory.app if memory.app is not None else scope.app,
            conversation=memory.conversation if memory.conversation is not None else scope.conversation,
        )
        if not in_scope(placed, scope):
            raise InvalidRequest(
                f"Memory {memory.id} belongs to another user, agent, app or conversation than the one it was to be "
                "stored for."
            )
        return placed

    def _row_at(self, seq: int) -> Row | None:
        item = self._items.get(seq)
        return item if isinstance(item, Row) else None

    def _note(
        self, event: ChangeEvent, memory: Memory, previous: str | None, reason: str, entry: IndexEntry | None
    ) -> None:
        applied = Applied(event=event, memory=memory, previous_text=previous if event == "UPDATE" else None)
        self.done.append(Done(applied=applied, reason=reason, entry=entry))


def _hidden(contents: Contents) -> dict[tuple[str, str], list[int]]:
    """Items that are no memories, by what they say of their id and user."""
    found: dict[tuple[str, str], list[int]] = {}
    for seq, item in contents.items.items():
        if not isinstance(item, Row):
            found.setdefault((repr(item.get("id")), repr(item.get("user_id"))), []).append(seq)
    return found


def with_entries(contents: Contents, entries: Mapping[Key, IndexEntry]) -> Contents:
    """The same memories with other index entries; keys that are not there are passed over."""
    items, by_key, by_user, written = (
        dict(contents.items),
        dict(contents.by_key),
        dict(contents.by_user),
        contents.written,
    )
    touched: set[str] = set()
    for key, entry in entries.items():
        row = by_key.get(key)
        if row is None:
            continue
        written += 1
        renewed = replace(row, entry=replace(entry, token_codes=None), changed=written)
        items[row.seq] = by_key[key] = renewed
        touched.add(row.memory.user)
    for user in touched:
        by_user[user] = _renewed(by_user[user], by_key, written)
    return replace(contents, written=written, items=items, by_key=by_key, by_user=by_user)


def _renewed(user: UserRows, by_key: Mapping[Key, Row], written: int) -> UserRows:
    rows: Sequence[Row] = [by_key[row.key] for row in user.rows]
    return UserRows(tuple(rows), changes=written, removals=user.removals)
