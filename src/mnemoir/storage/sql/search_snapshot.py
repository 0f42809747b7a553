"""The rows for search, over one transaction, and those without a vector of the model in use.

Every current memory has a row that names its vector's model, or none; so the rows of all other models are the
backlog, and no other record of it is needed. Second vectors likewise: rows without any are those that need none.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import ListFilter, Unembedded
from mnemoir.ports.search_rows import MOST_CHANGES, Revision, SearchRow, SearchSnapshot
from mnemoir.search.indexing import CONTEXT_MESSAGES, context_of
from mnemoir.storage.sql import lists
from mnemoir.storage.sql.engine import Sql, of_scope, owner_values, queries
from mnemoir.storage.sql.rows import memory_of, replace_vectors

_QUERIES = {**queries("search"), **queries("changes")}
Filled = Sequence[tuple[Unembedded, IndexEntry]]


class SqlSearchSnapshot:
    """The port over one transaction."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self._scopes: dict[Scope, Sql] = {}

    def revision(self, scope: Scope) -> Revision:
        """The scope's revision; zeros for an unknown one."""
        row = self._sql.row(_QUERIES["revision"], **owner_values(scope))
        return Revision(changes=0, removals=0) if row is None else Revision(changes=row[0], removals=row[1])

    def rows_since(self, scope: Scope, changes: int, until: int = MOST_CHANGES) -> Sequence[SearchRow]:
        """Rows written after `changes` and not after `until`, in order of `seq`."""
        found = self._of(scope).each(_QUERIES["rows_since"], changes=changes, until=until)
        return sorted((_search_row(*row) for row in found), key=lambda row: row.seq)

    def rows_after(self, scope: Scope, seq: int, limit: int, *, changes: int = -1) -> Sequence[SearchRow]:
        """The first `limit` rows with a greater `seq`, in its order, of those written after `changes`."""
        found = self._of(scope).each(_QUERIES["rows_after"], seq=seq, changes=changes, limit=limit)
        return [_search_row(*row) for row in found]

    def live(self, scope: Scope) -> Sequence[int]:
        """The `seq` of every current row, ascending."""
        return sorted(seq for (seq,) in self._of(scope).each(_QUERIES["live"]))

    def selected(self, scope: Scope, wanted: ListFilter) -> Sequence[int]:
        """The `seq` of every row that meets the conditions."""
        return lists.selected_seqs(self._of(scope), scope, wanted)

    def token_codes(self, scope: Scope, seqs: Sequence[int]) -> dict[int, bytes]:
        """Token codes by `seq`."""
        return dict(self._of(scope).each(_QUERIES["token_codes"], seqs=_numbers(seqs)))

    def memories(self, scope: Scope, seqs: Sequence[int]) -> dict[int, Memory]:
        """The memories by `seq`."""
        rows = self._of(scope).rows(_QUERIES["memories"], seqs=_numbers(seqs))
        return {row[0]: memory_of(row, scope.user) for row in rows}

    def _of(self, scope: Scope) -> Sql:
        if scope not in self._scopes:
            self._scopes[scope] = of_scope(self._sql, scope)
        return self._scopes[scope]


def _numbers(seqs: Sequence[int]) -> str:
    return json.dumps([int(seq) for seq in seqs])  # a caller may pass numpy integers, which JSON does not support


def _search_row(
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
    second_model: str | None,
    second_vector: bytes | None,
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
        entry=IndexEntry(
            terms=terms,
            model=model,
            vector=vector,
            token_ids=token_ids,
            second_model=second_model,
            second_vector=second_vector,
        ),
    )


_: type[SearchSnapshot] = SqlSearchSnapshot  # checked, never run


@dataclass(frozen=True, slots=True)
class Vectors:
    """The queries of the main vectors or of the second ones; `none` stands for a vector that is to be made."""

    next_model: str
    embedded_with: str
    backlog: str
    none: str | None
    put: Callable[[Sql, Sequence[tuple[int, IndexEntry]]], None]


MAIN = Vectors("next_model", "embedded_with", "backlog", None, replace_vectors)


def without_vector(sql: Sql, model: str, limit: int, vectors: Vectors = MAIN) -> list[Unembedded]:
    """Texts without a vector of the model, by user, oldest first, each with the messages just before it."""
    rows: list[tuple[int, int]] = []  # scope, seq
    for other in _other_models(sql, model, vectors):
        rows += sql.rows(_QUERIES[vectors.embedded_with], model=other, limit=limit)
    return [_unembedded(sql.within(scope_id), seq) for scope_id, seq in nsmallest(limit, rows)]


def put_vectors(sql: Sql, model: str, filled: Filled, vectors: Vectors = MAIN) -> int:
    """Store the vectors whose texts are unchanged; how many."""
    kept: dict[int, list[tuple[int, IndexEntry]]] = {}
    for unembedded, entry in filled:
        row = sql.row(_QUERIES["text_of"], **owner_values(unembedded.scope), id=unembedded.memory_id)
        if row is not None and row[2] == unembedded.text and entry.model == model:
            kept.setdefault(row[1], []).append((row[0], entry))
    for number, entries in kept.items():
        _put_of_scope(sql.within(number), entries, vectors)
    return sum(map(len, kept.values()))


def backlog(sql: Sql, model: str, vectors: Vectors = MAIN) -> tuple[int, int]:
    """(texts without a vector of the model, all texts; of second vectors all that need one)."""
    done, total = sql.row(_QUERIES[vectors.backlog], model=model)
    return total - done, total


def _put_of_scope(sql: Sql, entries: Sequence[tuple[int, IndexEntry]], vectors: Vectors) -> None:
    changes, removals, next_seq, _ = sql.row(_QUERIES["counters"])
    vectors.put(sql, entries)
    marks = [{"seq": seq, "change": changes + number} for number, (seq, _) in enumerate(entries, 1)]
    sql.many(_QUERIES["mark_changed"], marks)
    sql.run(_QUERIES["set_counters"], changes=changes + len(entries), removals=removals, next_seq=next_seq)


def _other_models(sql: Sql, model: str, vectors: Vectors) -> Iterator[str | None]:
    """First what stands for no vector, then the name of every other model that rows have vectors of."""
    yield vectors.none
    after = ""
    while (row := sql.row(_QUERIES[vectors.next_model], after=after)) is not None:
        after = row[0]
        if after != model:
            yield after


def _unembedded(sql: Sql, seq: int) -> Unembedded:
    tenant, project, user, agent, app, conversation, memory_id, text, kind, said_at = sql.row(
        _QUERIES["to_embed"], seq=seq
    )
    place = {"agent": agent, "app": app, "conversation": conversation}
    before: list[Any] = []
    if kind == "message":
        before = sql.rows(_QUERIES["said_before"], **place, seq=seq, limit=CONTEXT_MESSAGES)
    return Unembedded(
        scope=Scope(tenant=tenant, project=project, user=user, agent=agent, app=app, conversation=conversation),
        memory_id=MemoryId(memory_id),
        text=text,
        context=context_of(said_at, before[::-1]),
        is_fact=kind == "fact",
    )
