"""The index entry of a current memory for search, besides its own row: words, vectors, token codes."""

from collections.abc import Sequence

from mnemoir.core.memories import IndexEntry
from mnemoir.storage.sql.engine import Sql, Value
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("changes")


def put_entry(sql: Sql, seq: int, entry: IndexEntry) -> None:
    """Write or replace the entry. A row without a vector belongs to the backlog; so does an empty second one."""
    vector = {"model": entry.model, "vector": entry.vector, "token_ids": entry.token_ids}
    sql.run(_QUERIES["put_entry"], seq=seq, terms=entry.terms, second_model=entry.second_model, **vector)
    if entry.token_codes is None:
        sql.run(_QUERIES["drop_codes"], seq=seq)
    else:
        sql.run(_QUERIES["put_codes"], seq=seq, codes=entry.token_codes)


def replace_vectors(sql: Sql, entries: Sequence[tuple[int, IndexEntry]]) -> None:
    """Replace vectors and token codes of memories by `seq`."""
    vectors: list[dict[str, Value]] = [
        {"seq": seq, "model": entry.model, "vector": entry.vector, "token_ids": entry.token_ids}
        for seq, entry in entries
    ]
    sql.many(_QUERIES["put_vector"], vectors)
    sql.many(_QUERIES["drop_codes"], [{"seq": seq} for seq, entry in entries if entry.token_codes is None])
    codes: list[dict[str, Value]] = [
        {"seq": seq, "codes": entry.token_codes} for seq, entry in entries if entry.token_codes is not None
    ]
    sql.many(_QUERIES["put_codes"], codes)


def put_second_vectors(sql: Sql, entries: Sequence[tuple[int, IndexEntry]]) -> None:
    """Write the vectors of entries of the multilingual model as second ones, by `seq`."""
    sql.many(
        _QUERIES["put_second_vector"],
        [{"seq": seq, "model": entry.model, "vector": entry.vector} for seq, entry in entries],
    )


def is_multilingual(sql: Sql) -> bool:
    """True when the scope's facts have second vectors."""
    counters = sql.row(_QUERIES["counters"])
    return counters is not None and bool(counters[3])


def make_multilingual(sql: Sql) -> None:
    """Mark the scope: from now on each of its facts needs a second vector."""
    sql.run(_QUERIES["make_multilingual"])


def want_second_vectors(sql: Sql) -> None:
    """Mark the scope, and have second vectors made of the facts that it has."""
    make_multilingual(sql)
    sql.run(_QUERIES["want_second_vectors"])


def drop_entry(sql: Sql, seq: int) -> None:
    """Delete a memory's words, vector and token codes."""
    sql.run(_QUERIES["drop_entry"], seq=seq)
    sql.run(_QUERIES["drop_codes"], seq=seq)
