"""Texts without a vector of the model in use. Every current memory has a row that names its vector's model, or none;
so the rows of all other models are the backlog, and no other record of it is needed. Second vectors likewise: there
the rows without any are those that need none.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Unembedded
from mnemoir.search.indexing import CONTEXT_MESSAGES, context_of
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.entries import put_second_vectors, replace_vectors
from mnemoir.storage.sql.queries import queries
from mnemoir.storage.sql.scopes import owner_values

Filled = Sequence[tuple[Unembedded, IndexEntry]]
_QUERIES = {**queries("changes"), **queries("search")}


@dataclass(frozen=True, slots=True)
class Vectors:
    """The queries of the main vectors or of the second ones; `none` stands for a vector that is to be made."""

    next_model: str
    embedded_with: str
    backlog: str
    none: str | None
    put: Callable[[Sql, Sequence[tuple[int, IndexEntry]]], None]


MAIN = Vectors("next_model", "embedded_with", "backlog", None, replace_vectors)
SECOND = Vectors("next_second_model", "embedded_with_second", "second_backlog", "", put_second_vectors)


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
    )
