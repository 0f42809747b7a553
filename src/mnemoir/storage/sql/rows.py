"""Rows of memories: conversion of memories, history and receipts to rows and back, and the entries for search."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from types import MappingProxyType
from typing import Any, TypeVar

from mnemoir.core.errors import NotSupported
from mnemoir.core.ids import ChangeId, MemoryId
from mnemoir.core.memories import Applied, HistoryEntry, IndexEntry, Memory, SourceTurn, Space
from mnemoir.core.proposals import Proposal
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.search.terms import TERMS_VERSION
from mnemoir.storage.planning import effective_at, expires_at, seconds_of
from mnemoir.storage.sql.engine import Damaged, Sql, Value, queries
from mnemoir.storage.statement_names import statement_names

K = TypeVar("K")
Vectors = Mapping[K, Mapping[Space, bytes]]
Waits = Mapping[K, frozenset[str]]
NO_VECTORS: Mapping[Space, bytes] = MappingProxyType({})
NOWHERE: frozenset[str] = frozenset()
_QUERIES, _SEARCH = queries("changes"), queries("search")
Entries = Sequence[tuple[int, IndexEntry]]  # by `seq`
Values = dict[str, Value]
_NUMBER_BYTES = 2  # of a stored vector
_ENTRY = ("terms", "terms_by", "names", "model", "vector", "token_ids")
_VECTOR = ("space", "part", "model", "vector")
_NOT_OF_STATE = frozenset(("id", "text", "user"))


def narrowing(scope: Scope) -> dict[str, str | None]:
    """The inner levels; NULL does not narrow. Raises NotSupported for a node, as memories have no such level."""
    if scope.node is not None:
        raise NotSupported("Memories are not kept by workflow node, so none can be asked for by one.")
    return {"agent": scope.agent, "app": scope.app, "conversation": scope.conversation}


def memory_of(row: Any, user: str) -> Memory:
    """The memory of a row with the columns of all memory queries, in their order."""
    return Memory(
        id=MemoryId(row[1]),
        text=row[2],
        user=user,
        created_at=row[3],
        updated_at=row[4],
        metadata=None if row[5] is None else from_json(row[5]),
        kind=row[6],
        agent=row[7],
        app=row[8],
        conversation=row[9],
        role=row[10],
        speaker=row[11],
        expires_on=row[12],
        valid_to=row[13],
        replaced_by=row[14],
        extra={} if row[15] is None else from_json(row[15]),
        given_origin=row[16],
    )


def memory_values(memory: Memory) -> dict[str, Any]:
    """Every column of a memory except `scope_id` and `change`."""
    created = seconds_of(memory.created_at)
    return {
        "id": memory.id,
        "kind": memory.kind,
        "agent": memory.agent,
        "app": memory.app,
        "conversation": memory.conversation,
        "role": memory.role,
        "speaker": memory.speaker,
        "said_at": created,
        "effective_at": effective_at(memory),
        "expires_at": expires_at(memory),
        "valid_from": created,
        "valid_until": seconds_of(memory.valid_to),
        "content_hash": content_hash(memory.text),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_on": memory.expires_on,
        "valid_to": memory.valid_to,
        "replaced_by": memory.replaced_by,
        **words_of(memory),
    }


def words_of(memory: Memory) -> dict[str, Value]:
    """The columns with what somebody said."""
    return {
        "text": memory.text,
        "metadata": None if memory.metadata is None else as_json(memory.metadata),
        "extra": as_json(memory.extra) if memory.extra else None,
        "origin": memory.given_origin,
    }


def history_of(row: Any) -> HistoryEntry:
    """The history entry of a row of query `history`."""
    return HistoryEntry(
        id=f"hist_{row[0]}",
        memory_id=MemoryId(row[1]),
        event=row[2],
        old_text=row[3],
        new_text=row[4],
        at=row[5],
        reason=row[6],
        model=row[7],
        turns=() if row[8] is None else tuple(SourceTurn(**turn) for turn in from_json(row[8])),
        session=row[9],
        change=ChangeId(row[11]),
    )


def state_as_json(memory: Memory) -> str:
    """The state of a memory besides its text, as JSON for `before_of`."""
    return as_json({name: value for name, value in _members(memory).items() if name not in _NOT_OF_STATE})


def removed_of(row: Any, memory_id: MemoryId, user: str) -> Memory | None:
    """The removed memory of a row of query `last_event`; None when it was not removed, or is forgotten."""
    return None if row is None or row[0] != "DELETE" else before_of(row[1], row[2], memory_id, user)


def before_of(text: str | None, state: str | None, memory_id: MemoryId, user: str) -> Memory | None:
    """The memory before an event, of its text and `state_as_json`; None when one of them is not kept."""
    if text is None or state is None:
        return None
    return Memory(id=memory_id, text=text, user=user, **from_json(state))


def turns_as_json(turns: Iterable[SourceTurn]) -> str:
    """The turns of a commit as JSON for `history_of`; a missing uid is left out."""
    members = (asdict(turn).items() for turn in turns)
    return as_json([{name: value for name, value in one if name != "message_uid" or value} for one in members])


def applied_as_json(applied: Iterable[Applied]) -> str:
    """The outcome of a commit as JSON for `applied_of`."""
    return as_json(
        [{"event": one.event, "previous_text": one.previous_text, "memory": _members(one.memory)} for one in applied]
    )


def applied_of(text: str) -> list[Applied]:
    """The outcome that `applied_as_json` stored."""
    return [
        Applied(event=one["event"], previous_text=one["previous_text"], memory=Memory(**one["memory"]))
        for one in from_json(text)
    ]


def proposed_as_json(proposed: Iterable[Proposal]) -> str:
    """What a commit proposed as JSON for `proposed_of`."""
    return as_json([{**_members(one), "memory": _members(one.memory)} for one in proposed])


def proposed_of(text: str) -> list[Proposal]:
    """The proposals that `proposed_as_json` stored."""
    return [Proposal(**{**one, "memory": Memory(**one["memory"])}) for one in from_json(text)]


def as_json(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """The value as JSON, members in order; by the standard library, as orjson has no integers over 64 bits."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> Any:
    """The value that `as_json` stored. Raises Damaged, as only a damaged file makes it unreadable."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as exc:
        raise Damaged(f"stored JSON cannot be read: {exc}") from exc


def _members(value: Memory | Proposal) -> dict[str, Any]:
    """The members by name, without copies of what they hold."""
    return {member.name: getattr(value, member.name) for member in fields(value)}


def further_vectors(
    rows: Iterable[tuple[K, str, str | None, bytes]],
) -> tuple[Vectors[K], Mapping[K, frozenset[str]]]:
    """The vectors in further spaces by the key of their memory, and the spaces in which one is to be made.

    A row is (key, space, model, vector), without a model for a vector that is to be made. The parts of one space come
    in their order, and stand one behind the other.
    """
    vectors: dict[K, dict[Space, bytes]] = {}
    waits: dict[K, frozenset[str]] = {}
    spaces: dict[tuple[str, str], Space] = {}  # one value for each: there may be tens of thousands of rows
    for key, name, model, vector in rows:
        if model is None:
            waits[key] = waits.get(key, NOWHERE) | {name}
            continue
        if (space := spaces.get((name, model))) is None:
            space = spaces[name, model] = Space(name, model)
        if key not in vectors:
            vectors[key] = {space: vector}
        else:
            vectors[key][space] = vectors[key].get(space, b"") + vector
    return vectors, waits


def put_entry(sql: Sql, seq: int, entry: IndexEntry) -> None:
    """Write or replace the entry. A row without a vector belongs to the backlog; so does one in a further space."""
    vector = {"model": entry.model, "vector": entry.vector, "token_ids": entry.token_ids}
    words: dict[str, Value] = {"terms": entry.terms, "terms_by": TERMS_VERSION, "names": entry.names or None}
    sql.run(_QUERIES["put_entry"], seq=seq, **words, **vector)
    sql.many(_QUERIES["want_vector"], [{"seq": seq, "space": space} for space in entry.waits])
    if entry.token_codes is None:
        sql.run(_QUERIES["drop_codes"], seq=seq)
    else:
        sql.run(_QUERIES["put_codes"], seq=seq, codes=entry.token_codes)


def replace_vectors(sql: Sql, entries: Entries) -> Entries:
    """Replace vectors and token codes of memories by `seq`; all of them."""
    for seq, entry in entries:
        if (stored := _entry_of(sql, seq)) is not None:
            vector: Values = {"model": entry.model, "vector": entry.vector, "token_ids": entry.token_ids}
            sql.run(_QUERIES["put_entry"], seq=seq, **{**stored, **vector})
    sql.many(_QUERIES["drop_codes"], [{"seq": seq} for seq, entry in entries if entry.token_codes is None])
    codes: list[Values] = [
        {"seq": seq, "codes": entry.token_codes} for seq, entry in entries if entry.token_codes is not None
    ]
    sql.many(_QUERIES["put_codes"], codes)
    return entries


def copy_entry(sql: Sql, seq: int, copy_seq: int) -> None:
    """Give a closed copy of a memory its words, names, vectors and token codes."""
    if (stored := _entry_of(sql, seq)) is not None:
        sql.run(_QUERIES["put_entry"], seq=copy_seq, **stored)
    for row in sql.rows(_QUERIES["vectors_of"], seq=seq):
        _put_vector(sql, copy_seq, dict(zip(_VECTOR, row, strict=False)))
    codes = sql.value(_QUERIES["codes"], seq=seq)
    if codes is not None:
        sql.run(_QUERIES["put_codes"], seq=copy_seq, codes=codes)


def put_vectors_in(sql: Sql, space: str, entries: Entries) -> Entries:
    """Write the vectors of entries as those of a further space, by `seq`; all of them."""
    for seq, entry in entries:
        _put_vector(sql, seq, {"space": space, "part": 0, "model": entry.model, "vector": entry.vector})
    return entries


def replace_terms(sql: Sql, entries: Entries) -> Entries:
    """Replace the terms of memories by `seq`, and their names; those that have other ones now."""
    changed = []
    rows = sql.rows(_SEARCH["memories_of_all_times"], seqs=json.dumps([seq for seq, _ in entries]))
    names = {row[0]: statement_names(memory_of(row, "")) for row in rows}
    for seq, entry in entries:
        if (stored := _entry_of(sql, seq)) is not None:
            words: Values = {"terms": entry.terms, "terms_by": TERMS_VERSION, "names": names.get(seq) or None}
            sql.run(_QUERIES["put_entry"], seq=seq, **{**stored, **words})
            if (stored["terms"], stored["names"]) != (words["terms"], words["names"]):
                changed.append((seq, entry))
    return changed


def _put_vector(sql: Sql, seq: int, vector: Values) -> None:
    place = f"{seq} {vector['space']!s} {vector['part']!s}"  # that an encrypted vector is bound to
    sql.run(_QUERIES["put_vector"], seq=seq, place=place, **vector)


def vector_length(sql: Sql, seq: int) -> int | None:
    """The number of numbers in the vector of a memory; None without one."""
    vector = (_entry_of(sql, seq) or {}).get("vector")
    return len(vector) // _NUMBER_BYTES if isinstance(vector, bytes) else None


def _entry_of(sql: Sql, seq: int) -> Values | None:
    row = sql.row(_QUERIES["entry"], seq=seq)
    return None if row is None else dict(zip(_ENTRY, row, strict=True))
