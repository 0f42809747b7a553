"""A store over plain lists that keeps the whole contract of `ports.search_rows`, for the tests of search."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mnemoir.core.clock import from_text
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import ListFilter
from mnemoir.ports.search_rows import MOST_CHANGES, Revision, SearchRow

T = TypeVar("T")


@dataclass
class _Stored:
    memory: Memory
    row: SearchRow
    change: int


@dataclass
class _User:
    stored: dict[int, _Stored] = field(default_factory=dict)
    changes: int = 0
    removals: int = 0
    next_seq: int = 1


class ListedRows:
    """Users by scope; it is its own snapshot, as nothing is written while a search runs."""

    def __init__(self) -> None:
        self._users: dict[Scope, _User] = {}
        self.epoch = ""
        self.rows_read = 0

    # -- writing

    def add(self, scope: Scope, memory: Memory, entry: IndexEntry) -> int:
        user = self._users.setdefault(scope.owner, _User())
        seq, user.next_seq = user.next_seq, user.next_seq + 1
        self._write(user, seq, memory, entry)
        return seq

    def rewrite(self, scope: Scope, seq: int, memory: Memory, entry: IndexEntry) -> None:
        self._write(self._users[scope.owner], seq, memory, entry)

    def remove(self, scope: Scope, seq: int) -> None:
        user = self._users[scope.owner]
        del user.stored[seq]
        user.removals += 1

    def _write(self, user: _User, seq: int, memory: Memory, entry: IndexEntry) -> None:
        user.changes += 1
        user.stored[seq] = _Stored(memory, _row(seq, memory, entry), user.changes)

    # -- the port

    async def reading(self, work: Callable[["ListedRows"], T]) -> T:
        return work(self)

    def revision(self, scope: Scope) -> Revision:
        user = self._user(scope)
        return Revision(changes=user.changes, removals=user.removals, epoch=self.epoch)

    def rows_since(self, scope: Scope, changes: int, until: int = MOST_CHANGES) -> Sequence[SearchRow]:
        rows = [s.row for s in self._user(scope).stored.values() if changes < s.change <= until]
        self.rows_read += len(rows)
        return sorted((replace(r, entry=replace(r.entry, token_codes=None)) for r in rows), key=lambda r: r.seq)

    def rows_after(self, scope: Scope, seq: int, limit: int, *, changes: int = -1) -> Sequence[SearchRow]:
        read = self.rows_read
        rows = [row for row in self.rows_since(scope, changes) if row.seq > seq][:limit]
        self.rows_read = read + len(rows)
        return rows

    def live(self, scope: Scope) -> Sequence[int]:
        return sorted(self._user(scope).stored)

    def matching_seqs(self, scope: Scope, wanted: ListFilter) -> Sequence[int]:
        raise NotImplementedError("lists with conditions are for real stores")

    def token_codes(self, scope: Scope, seqs: Sequence[int]) -> dict[int, bytes]:
        stored = self._user(scope).stored
        return {seq: code for seq in seqs if seq in stored and (code := stored[seq].row.entry.token_codes)}

    def memories(self, scope: Scope, seqs: Sequence[int]) -> dict[int, Memory]:
        stored = self._user(scope).stored
        return {seq: stored[seq].memory for seq in seqs if seq in stored}

    def _user(self, scope: Scope) -> _User:
        assert scope == scope.owner, "search asks for whole users"
        return self._users.get(scope, _User())


def _row(seq: int, memory: Memory, entry: IndexEntry) -> SearchRow:
    effective, said = _seconds(memory.updated_at or memory.created_at), _seconds(memory.created_at)
    expires = _seconds(memory.expires_on)
    return SearchRow(
        seq=seq,
        is_message=memory.kind == "message",
        speaker=memory.speaker,
        agent=memory.agent,
        app=memory.app,
        conversation=memory.conversation,
        effective_at=math.inf if effective is None else effective,
        said_at=math.nan if said is None else said,
        expires_at=math.inf if expires is None else expires + 86400,
        entry=entry,
    )


def _seconds(text: str | None) -> float | None:
    instant = from_text(text)
    return instant.timestamp() if instant else None


def fact(id: str, text: str, *, at: str = "2026-01-10T12:00:00.000Z", **members: Any) -> Memory:
    return Memory(id=MemoryId(id), text=text, user="mira", created_at=at, **members)


def message(id: str, text: str, *, at: str = "2026-01-10T12:00:00.000Z", **members: object) -> Memory:
    return fact(id, text, at=at, kind="message", role="user", **members)
