"""The rows for search, over one transaction."""

import json
import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from mnemoir.core.memories import IndexEntry, Memory, Space
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import ListFilter
from mnemoir.ports.search_rows import MOST_CHANGES, Revision, SearchRow, SearchSnapshot
from mnemoir.storage.sql import lists
from mnemoir.storage.sql.engine import Sql, of_scope, owner_values, queries
from mnemoir.storage.sql.rows import NO_VECTORS, NOWHERE, further_vectors, memory_of

_QUERIES = queries("search")
_DENSE = 4  # rows by number in a range for each that is wanted: up to there one walk is faster than looking up each
_OF_ALL_TIMES = {
    "rows_since": _QUERIES["rows_since_of_all_times"],
    "rows_after": _QUERIES["rows_after_of_all_times"],
    "live": _QUERIES["live_of_all_times"],
    "memories": _QUERIES["memories_of_all_times"],
}


class SqlSearchSnapshot:
    """The port over one transaction: the current rows, or those of all times."""

    def __init__(self, sql: Sql, *, of_all_times: bool = False) -> None:
        self._sql = sql
        self._queries = _OF_ALL_TIMES if of_all_times else _QUERIES
        self._scopes: dict[Scope, Sql] = {}

    def revision(self, scope: Scope) -> Revision:
        """The scope's revision; zeros for an unknown one."""
        row = self._sql.row(_QUERIES["revision"], **owner_values(scope))
        scope_id, changes, removals = row or (None, 0, 0)
        self._scopes[scope] = self._sql.within(scope_id)
        return Revision(changes=changes, removals=removals)

    def rows_since(self, scope: Scope, changes: int, until: int = MOST_CHANGES) -> Sequence[SearchRow]:
        """Rows written after `changes` and not after `until`, in order of `seq`."""
        found = self._of(scope).rows(self._queries["rows_since"], changes=changes, until=until)
        return self._search_rows(scope, sorted(found, key=itemgetter(0)))

    def rows_after(self, scope: Scope, seq: int, limit: int, *, changes: int = -1) -> Sequence[SearchRow]:
        """The first `limit` rows with a greater `seq`, in its order, of those written after `changes`."""
        found = self._of(scope).rows(self._queries["rows_after"], seq=seq, changes=changes, limit=limit)
        return self._search_rows(scope, found)

    def live(self, scope: Scope) -> Sequence[int]:
        """The `seq` of every current row, ascending."""
        return sorted(seq for (seq,) in self._of(scope).each(self._queries["live"]))

    def matching_seqs(self, scope: Scope, wanted: ListFilter) -> Sequence[int]:
        """The `seq` of every row that meets the conditions."""
        return lists.selected_seqs(self._of(scope), scope, wanted)

    def token_codes(self, scope: Scope, seqs: Sequence[int]) -> dict[int, bytes]:
        """Token codes by `seq`."""
        return dict(self._of(scope).each(_QUERIES["token_codes"], seqs=_numbers(seqs)))

    def memories(self, scope: Scope, seqs: Sequence[int]) -> dict[int, Memory]:
        """The memories by `seq`."""
        rows = self._of(scope).rows(self._queries["memories"], seqs=_numbers(seqs))
        return {row[0]: memory_of(row, scope.user) for row in rows}

    def _search_rows(self, scope: Scope, found: Sequence[Any]) -> list[SearchRow]:
        """Rows as stored, in order of `seq`, with their vectors in further spaces, which few users have."""
        sql = self._of(scope)
        if not found or sql.row(_QUERIES["has_vectors"]) is None:
            return [_search_row(NO_VECTORS, NOWHERE, *row) for row in found]
        seqs = [row[0] for row in found]
        if seqs[-1] - seqs[0] < _DENSE * len(seqs):
            stored = sql.each(_QUERIES["vectors"], first=seqs[0], last=seqs[-1])
        else:
            stored = sql.each(_QUERIES["vectors_of_rows"], seqs=_numbers(seqs))
        vectors, waits = further_vectors((seq, space, model, vector) for seq, space, model, vector, _ in stored)
        return [_search_row(vectors.get(row[0], NO_VECTORS), waits.get(row[0], NOWHERE), *row) for row in found]

    def _of(self, scope: Scope) -> Sql:
        if scope not in self._scopes:
            self._scopes[scope] = of_scope(self._sql, scope)
        return self._scopes[scope]


def _numbers(seqs: Sequence[int]) -> str:
    return json.dumps([int(seq) for seq in seqs])  # a caller may pass numpy integers, which JSON does not support


def _search_row(
    vectors: Mapping[Space, bytes],
    waits: frozenset[str],
    seq: int,
    kind: str,
    speaker: str | None,
    agent: str | None,
    app: str | None,
    conversation: str | None,
    effective_at: float | None,
    said_at: float | None,
    expires_at: float | None,
    terms: bytes,
    model: str | None,
    vector: bytes | None,
    token_ids: bytes | None,
    names: bytes | None,
    valid_from: float | None = None,
    valid_until: float | None = None,
) -> SearchRow:
    return SearchRow(
        seq=seq,
        is_message=kind == "message",
        speaker=speaker,
        agent=agent,
        app=app,
        conversation=conversation,
        effective_at=math.inf if effective_at is None else effective_at,
        said_at=math.nan if said_at is None else said_at,
        expires_at=math.inf if expires_at is None else expires_at,
        valid_from=-math.inf if valid_from is None else valid_from,
        valid_until=math.inf if valid_until is None else valid_until,
        entry=IndexEntry(
            terms=terms,
            names=names or b"",
            model=model,
            vector=vector,
            token_ids=token_ids,
            vectors=vectors,
            waits=waits,
        ),
    )


_: type[SearchSnapshot] = SqlSearchSnapshot  # checked, never run
