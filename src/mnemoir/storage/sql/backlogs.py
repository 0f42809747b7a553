"""What search lacks of stored memories: vectors of the models in use, and terms by the rules in use.

Every memory has a row that names its vector's model, or none; so the rows of all other models are the backlog, and no
other record of it is needed. In a further space only memories that need a vector there have a row. And so terms, by
the name of the rules that made them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from heapq import nsmallest
from typing import Any

from mnemoir.core.errors import KeyUnavailable
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry
from mnemoir.core.scope import Scope
from mnemoir.core.text import CONTEXT_MESSAGES, context_of
from mnemoir.ports.memory_store import MainVectors, Unembedded
from mnemoir.storage.sql.engine import Engine, Sql, hold_number, hold_scope, owner_values, queries
from mnemoir.storage.sql.rows import Entries, replace_terms, replace_vectors, vector_length

_QUERIES = {**queries("search"), **queries("changes")}
Filled = Sequence[tuple[Unembedded, IndexEntry]]
_FORGOTTEN_AT_ONCE = 500  # rows of a transaction


@dataclass(frozen=True, slots=True)
class Vectors:
    """The queries of the main vectors, of those of a further `space`, or of terms.

    `put` stores entries by `seq`, and returns those that search must read again.
    """

    next_model: str
    embedded_with: str
    backlog: str
    put: Callable[[Sql, Entries], Entries]
    space: str | None = None


MAIN = Vectors("next_model", "embedded_with", "backlog", replace_vectors)
TERMS = Vectors("next_terms", "with_terms_by", "terms_backlog", replace_terms)


class SqlBacklog:
    """The port over the tables of memories, for one kind of vectors, or for terms."""

    def __init__(self, db: Engine, vectors: Vectors) -> None:
        self._db = db
        self._vectors = vectors

    async def without_vector(self, model: str, *, limit: int) -> list[Unembedded]:
        """Texts whose vector of `model` is to be made, of all scopes, oldest first."""
        return await self._db.read(None, lambda sql: _without_vector(sql, model, limit, self._vectors))

    async def put_vectors(self, model: str, filled: Filled) -> int:
        """Store vectors of texts that have not changed since; how many were stored."""
        return await self._db.write(None, lambda sql: _put_vectors(sql, model, filled, self._vectors))

    async def backlog(self, model: str) -> tuple[int, int]:
        """(texts whose vector of `model` is to be made, texts that need one)."""
        return await self._db.read(None, lambda sql: _backlog(sql, model, self._vectors))


class SqlMainVectors(SqlBacklog):
    """The port for the vectors of the embedding model."""

    def __init__(self, db: Engine) -> None:
        super().__init__(db, MAIN)

    async def forget_other_lengths(self, model: str, length: int) -> int:
        """Forget the vectors of the model, if they have another length; how many there were."""
        if await self._db.read(None, lambda sql: _length_of(sql, model)) in (None, length):
            return 0
        forgotten = 0
        while count := await self._db.write(None, lambda sql: _forget_vectors(sql, model)):
            forgotten += count
        return forgotten


_: type[MainVectors] = SqlMainVectors  # checked, never run


def _length_of(sql: Sql, model: str) -> int | None:
    """The length of the model's oldest vector that can be read; None without one."""
    for scope_id, seq in sql.rows(_QUERIES["embedded_with"], model=model, limit=_FORGOTTEN_AT_ONCE):
        with suppress(KeyUnavailable):
            return vector_length(sql.within(scope_id), seq)
    return None


def _forget_vectors(sql: Sql, model: str) -> int:
    """Have the vectors of some rows made anew; how many. Those whose key is not there stay."""
    by_scope: dict[int, list[tuple[int, IndexEntry]]] = {}
    for scope_id, seq in sql.rows(_QUERIES["embedded_with"], model=model, limit=_FORGOTTEN_AT_ONCE):
        by_scope.setdefault(scope_id, []).append((seq, IndexEntry(terms=b"")))
    forgotten = 0
    for scope_id, entries in sorted(by_scope.items()):
        with suppress(KeyUnavailable):
            _put_of_scope(hold_number(sql, scope_id), entries, MAIN)
            forgotten += len(entries)
    return forgotten


def _without_vector(sql: Sql, model: str, limit: int, vectors: Vectors) -> list[Unembedded]:
    """Texts without a vector of the model, by user, oldest first, each with the messages just before it."""
    rows: list[tuple[int, int]] = []  # scope, seq
    for other in _other_models(sql, model, vectors):
        rows += sql.rows(_QUERIES[vectors.embedded_with], space=vectors.space, model=other, limit=limit)
    found: list[Unembedded] = []
    for scope_id, seq in nsmallest(limit, rows):
        with suppress(KeyUnavailable):  # those of other users do not wait for this one's key
            found.append(_unembedded_memory(sql.within(scope_id), seq))
    return found


def _put_vectors(sql: Sql, model: str, filled: Filled, vectors: Vectors) -> int:
    """Store the vectors whose texts are unchanged; how many."""
    for scope in sorted({unembedded.scope.owner for unembedded, _ in filled}, key=astuple):
        hold_scope(sql, scope)
    kept: dict[int, list[tuple[int, IndexEntry]]] = {}
    for unembedded, entry in filled:
        row = sql.row(_QUERIES["text_of"], **owner_values(unembedded.scope), id=unembedded.memory_id)
        if row is not None and row[2] == unembedded.text and entry.model == model:
            kept.setdefault(row[1], []).append((row[0], entry))
    for number, entries in kept.items():
        _put_of_scope(sql.within(number), entries, vectors)
    return sum(map(len, kept.values()))


def _backlog(sql: Sql, model: str, vectors: Vectors) -> tuple[int, int]:
    """(texts without a vector of the model, all texts; of a further space all that need one there)."""
    done, total = sql.row(_QUERIES[vectors.backlog], space=vectors.space, model=model)
    return total - done, total


def _put_of_scope(sql: Sql, entries: Entries, vectors: Vectors) -> None:
    changes, removals, next_seq, _ = sql.row(_QUERIES["counters"])
    entries = vectors.put(sql, entries)
    marks = [{"seq": seq, "change": changes + number} for number, (seq, _) in enumerate(entries, 1)]
    sql.many(_QUERIES["mark_changed"], marks)
    sql.run(_QUERIES["set_counters"], changes=changes + len(entries), removals=removals, next_seq=next_seq)


def _other_models(sql: Sql, model: str, vectors: Vectors) -> Iterator[str | None]:
    """First None for no vector, then the name of every other model that rows have vectors of."""
    yield None
    after = ""
    while (row := sql.row(_QUERIES[vectors.next_model], space=vectors.space, after=after)) is not None:
        after = row[0]
        if after != model:
            yield after


def _unembedded_memory(sql: Sql, seq: int) -> Unembedded:
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
        context=context_of(said_at, [(said, at) for said, at, _ in before[::-1]]),
        is_fact=kind == "fact",
    )
