"""The tables of a file of vectors: rows in, rows out; each function is part of its caller's transaction."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import orjson

from mnemoir.conversations.search.vectors import (
    DimensionMismatchError,
    GivenMetadata,
    Got,
    NewVector,
    StoredVector,
    Text,
    TokenPart,
    UnseenTexts,
    merged_metadata,
    unit_rows,
)
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.ids import new_request_id
from mnemoir.ports.embedding import FloatArray
from mnemoir.search.indexing import pack_vector
from mnemoir.storage.sql.engine import Damaged, Sql, queries

QUERIES = queries("vectors/vectors")
_DIGITS = "<f4"
_ROWS_AT_ONCE = 4096


class StoreState(NamedTuple):
    """The state of the file; another `epoch` means that it was cleared.

    `second_model` has looked at all writes up to `second_seen` of `second_epoch`; all three are None before it has.
    """

    epoch: str
    changes: int
    removals: int
    dimension: int | None
    model: str | None
    second_model: str | None = None
    second_epoch: str | None = None
    second_seen: int | None = None


def put(sql: Sql, state: StoreState, rows: Sequence[NewVector], tokens: Mapping[str, TokenPart]) -> None:
    """Store rows, each with its tokens, if any; a row replaces the one with its id.

    Raises DimensionMismatchError.
    """
    dimension = state.dimension or len(rows[0].vector)
    if len(rows[0].vector) != dimension:
        raise DimensionMismatchError(len(rows[0].vector), dimension)
    vectors = unit_rows(np.stack([row.vector for row in rows])).astype(_DIGITS)
    changes = range(state.changes + 1, state.changes + 1 + len(rows))
    values = [
        _columns(row, change, vector.tobytes(), tokens.get(row.id))
        for change, row, vector in zip(changes, rows, vectors, strict=True)
    ]
    sql.many(QUERIES["put"], values)
    _note(sql, state._replace(changes=changes[-1], dimension=dimension))


def _columns(row: NewVector, change: int, vector: bytes, part: TokenPart | None) -> dict[str, Any]:
    return {
        "id": row.id,
        "change": change,
        "vector": vector,
        "document": _storable(row.document),
        "metadata": as_json(row.metadata),
        "token_ids": part.token_ids if part else None,
        "token_codes": part.token_codes if part else None,
    }


def change(
    sql: Sql,
    state: StoreState,
    ids: Sequence[str],
    vectors: FloatArray | None,
    documents: Sequence[str] | None,
    metadata: GivenMetadata | None,
) -> None:
    """Change the given values of each existing vector. Raises DimensionMismatchError."""
    if vectors is not None and state.dimension and vectors.shape[1] != state.dimension:
        raise DimensionMismatchError(vectors.shape[1], state.dimension)
    changes = state.changes
    units = None if vectors is None else unit_rows(vectors)
    for number, name in enumerate(ids):
        found = sql.row(QUERIES["metadata"], id=name)
        if found is None:
            continue
        changes += 1
        values = {
            "id": name,
            "change": changes,
            "vector": None if units is None else units[number].astype(_DIGITS).tobytes(),
            "document": None if documents is None else _storable(documents[number]),
            "metadata": None if metadata is None else as_json(merged_metadata(_members(found[0]), metadata[number])),
        }
        sql.run(QUERIES["change"], **values)
    _note(sql, state._replace(changes=changes))


def drop(sql: Sql, state: StoreState, ids: Sequence[str]) -> None:
    """Delete the vectors of these ids; unknown ids are skipped."""
    dropped = sum(sql.run(QUERIES["drop"], id=name) for name in ids)
    _note(sql, state._replace(removals=state.removals + dropped))


def restart(sql: Sql) -> None:
    """Delete all vectors, dimension and model."""
    sql.run(QUERIES["drop_all"])
    sql.run(QUERIES["restart"], epoch=new_request_id())


def unseen(sql: Sql, model: str, limit: int) -> UnseenTexts:
    """The next documents that the second model has not looked at."""
    state = state_of(sql)
    seen = _seen_by(state, model)
    found = sql.rows(QUERIES["unseen"], seen=seen or 0, is_other=seen is None, limit=limit)
    texts = [Text(*row) for row in found]
    return UnseenTexts(model=model, epoch=state.epoch, changes=state.changes, texts=texts, is_last=len(texts) < limit)


def put_second(sql: Sql, state: StoreState, looked_at: UnseenTexts, vectors: Mapping[str, FloatArray]) -> None:
    """Store second vectors, and that these documents were looked at; nothing in a store that was cleared since."""
    if state.epoch != looked_at.epoch:
        return
    if _seen_by(state, looked_at.model) is None:
        sql.run(QUERIES["drop_second"])
    changes = state.changes
    for text in looked_at.texts:
        if text.id not in vectors:
            continue
        vector = pack_vector(vectors[text.id])
        if (stored := sql.row(QUERIES["put_second"], id=text.id, since=text.change, vector=vector)) is not None:
            changes += 1
            sql.run(QUERIES["renumber"], row=stored[0], change=changes)
    if changes != state.changes:
        _note(sql, state._replace(changes=changes))
    is_all = looked_at.is_last and state.changes == looked_at.changes
    last = looked_at.texts[-1].change if looked_at.texts else looked_at.changes
    seen = changes if is_all else last
    sql.run(QUERIES["note_second"], model=looked_at.model, epoch=state.epoch, seen=seen)


def _seen_by(state: StoreState, model: str) -> int | None:
    """The last write that the second model has looked at; None for another model or a store that was cleared."""
    return state.second_seen if (state.second_model, state.second_epoch) == (model, state.epoch) else None


def _note(sql: Sql, state: StoreState) -> None:
    sql.run(QUERIES["note_changes"], changes=state.changes, removals=state.removals, dimension=state.dimension)


def state_of(sql: Sql) -> StoreState:
    """The state of the file."""
    return StoreState(*sql.row(QUERIES["state"]))  # in the order of the members


def rows_of_ids(sql: Sql, ids: Sequence[str] | None) -> list[int]:
    """The numbers of the rows of these ids, or of all rows for None; ascending."""
    if ids is None:
        return [row for (row,) in sql.each(QUERIES["live"])]
    return [row for (row,) in sql.each(QUERIES["rows_of"], ids=as_json(list(ids)))]


def written_since(sql: Sql, change: int) -> Iterator[tuple[Sequence[int], FloatArray, list[Any]]]:
    """Rows written after a change, in batches: (rows, vectors, metadata)."""
    written = sql.each(QUERIES["since"], change=change)
    while batch := list(islice(written, _ROWS_AT_ONCE)):
        rows, stored, metadata, _ = zip(*batch, strict=True)
        yield rows, vectors_from(stored), [_members(raw) for raw in metadata]


def documents(sql: Sql, rows: Sequence[int]) -> Got:
    """(ids, documents, metadata), in the order of `rows`."""
    found = {row: rest for row, *rest in sql.each(QUERIES["of_rows"], rows=as_json(rows))}
    kept = [found[row] for row in rows]
    return [name for name, _, _ in kept], [text for _, text, _ in kept], [_members(raw) for _, _, raw in kept]


def _members(raw: str) -> dict[str, Any]:
    try:
        members: dict[str, Any] = orjson.loads(raw)
    except orjson.JSONDecodeError as exc:
        raise Damaged(f"metadata of a vector are no JSON: {exc}") from exc
    return members


def vectors_of_ids(sql: Sql, ids: Sequence[str]) -> dict[str, StoredVector]:
    """The existing vectors by id. Raises Damaged for a cell that nothing here wrote."""
    found = sql.rows(QUERIES["vectors_of"], ids=as_json(list(ids)))
    if not found:
        return {}
    cells = [cell for _, *row in found for cell in row if cell is not None]
    if not all(isinstance(cell, bytes) and len(cell) % 2 == 0 for cell in cells) or not _are_as_long(found):
        raise Damaged("a vector is not of bytes, or not as long as the others")
    packed = pack_vector(vectors_from([vector for _, vector, *_ in found]))
    size = len(packed) // len(found)
    return {
        name: StoredVector(packed[place * size : (place + 1) * size], token_ids, second)
        for place, (name, _, token_ids, second) in enumerate(found)
    }


def codes_of_ids(sql: Sql, ids: Sequence[str]) -> dict[str, bytes]:
    """The token codes by id, of those that have them. Raises Damaged for a cell that nothing here wrote."""
    found = sql.rows(QUERIES["token_codes"], ids=as_json(list(ids)))
    if not all(isinstance(codes, bytes) for _, codes in found):
        raise Damaged("token codes are not of bytes")
    return dict(found)


def _are_as_long(found: Sequence[Any]) -> bool:
    return len({len(vector or b"") for _, vector, *_ in found}) == 1


def vectors_from(stored: Sequence[bytes]) -> FloatArray:
    """The matrix of stored vectors: rows of unit length, or zero."""
    return np.frombuffer(b"".join(stored), _DIGITS).reshape(len(stored), -1).astype(np.float32, copy=False)


def _storable(text: Any) -> str:
    """The text; lone surrogates, which no file can store, become question marks."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def as_json(value: object) -> str:
    """JSON for a column, or for a query's list. Raises InvalidRequest for values that no file can store."""
    try:
        return orjson.dumps(value).decode()
    except TypeError as exc:  # half of a surrogate pair, or an integer beyond 64 bits
        raise InvalidRequest(f"The metadata or the ids cannot be kept: {exc}.", field="metadata") from exc
