"""Texts that still lack a vector of the model in use. Every current memory has a row that names its model, or none;
so the rows of all other models are the backlog, and nothing else needs keeping.
"""

from collections.abc import Iterator, Sequence
from heapq import nsmallest
from typing import Any

import apsw

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Unembedded
from mnemoir.search.context import CONTEXT_MESSAGES, context_of
from mnemoir.storage.sqlite.places import put_vector
from mnemoir.storage.sqlite.queries import queries
from mnemoir.storage.sqlite.rows import owner_values

Filled = Sequence[tuple[Unembedded, IndexEntry]]
_QUERIES = {**queries("changes"), **queries("search")}


def without_vector(connection: apsw.Connection, model: str, limit: int) -> list[Unembedded]:
    """The oldest texts without a vector of the model, each with what was said just before it."""
    seqs: list[int] = []
    for other in _other_models(connection, model):
        rows = connection.execute(_QUERIES["embedded_with"], {"model": other, "limit": limit})
        seqs += [row[0] for row in rows]
    return [_unembedded(connection, seq) for seq in nsmallest(limit, seqs)]


def put_vectors(connection: apsw.Connection, model: str, filled: Filled) -> int:
    """Keep those whose text still reads the same; how many."""
    kept: dict[int, list[tuple[int, IndexEntry]]] = {}
    for unembedded, entry in filled:
        which = {**owner_values(unembedded.scope), "id": unembedded.memory_id, "text": unembedded.text}
        row = connection.execute(_QUERIES["unchanged"], which).fetchone()
        if row is not None and entry.model == model:
            kept.setdefault(row[1], []).append((row[0], entry))
    for number, entries in kept.items():
        _put_of_scope(connection, number, entries)
    return sum(map(len, kept.values()))


def backlog(connection: apsw.Connection, model: str) -> tuple[int, int]:
    """(texts without a vector of the model, all texts)."""
    ((done, total),) = connection.execute(_QUERIES["backlog"], {"model": model})
    return total - done, total


def _put_of_scope(connection: apsw.Connection, number: int, entries: Sequence[tuple[int, IndexEntry]]) -> None:
    ((changes, removals),) = connection.execute(_QUERIES["counters"], {"scope_id": number})
    for seq, entry in entries:
        changes += 1
        put_vector(connection, seq, entry)
        connection.execute(_QUERIES["mark_changed"], {"seq": seq, "change": changes})
    counters = {"scope_id": number, "changes": changes, "removals": removals}
    connection.execute(_QUERIES["set_counters"], counters)


def _other_models(connection: apsw.Connection, model: str) -> Iterator[str | None]:
    """None first, for rows without any vector, then the name of every other model that rows have vectors of."""
    yield None
    after = ""
    while (row := connection.execute(_QUERIES["next_model"], {"after": after}).fetchone()) is not None:
        after = row[0]
        if after != model:
            yield after


def _unembedded(connection: apsw.Connection, seq: int) -> Unembedded:
    ((tenant, project, user, agent, app, conversation, memory_id, text, kind, said_at, number),) = connection.execute(
        _QUERIES["to_embed"], {"seq": seq}
    )
    place = {"scope_id": number, "agent": agent, "app": app, "conversation": conversation}
    before: Any = []  # what apsw gives is a tuple of whatever the query says
    if kind == "message":
        before = connection.execute(
            _QUERIES["said_before"], {**place, "seq": seq, "limit": CONTEXT_MESSAGES}
        ).fetchall()
    return Unembedded(
        scope=Scope(tenant=tenant, project=project, user=user, agent=agent, app=app, conversation=conversation),
        memory_id=MemoryId(memory_id),
        text=text,
        context=context_of(said_at, before[::-1]),
    )
