"""What search reads of a current memory besides its own row: words, vector, token codes."""

from mnemoir.core.memories import IndexEntry
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("changes")


def put_entry(sql: Sql, seq: int, entry: IndexEntry) -> None:
    """Write or replace all of them. Without a vector the row says so, which makes it the backlog's."""
    vector = {"model": entry.model, "vector": entry.vector, "token_ids": entry.token_ids}
    sql.run(_QUERIES["put_entry"], seq=seq, terms=entry.terms, **vector)
    _put_codes(sql, seq, entry)


def put_vector(sql: Sql, seq: int, entry: IndexEntry) -> None:
    """Replace vector and token codes."""
    sql.run(_QUERIES["put_vector"], seq=seq, model=entry.model, vector=entry.vector, token_ids=entry.token_ids)
    _put_codes(sql, seq, entry)


def drop_entry(sql: Sql, seq: int) -> None:
    """Delete a memory's words, vector and token codes."""
    sql.run(_QUERIES["drop_entry"], seq=seq)
    sql.run(_QUERIES["drop_codes"], seq=seq)


def _put_codes(sql: Sql, seq: int, entry: IndexEntry) -> None:
    if entry.token_codes is None:
        sql.run(_QUERIES["drop_codes"], seq=seq)
    else:
        sql.run(_QUERIES["put_codes"], seq=seq, codes=entry.token_codes)
