"""What search reads of a current memory besides its own row: words, vector, token codes."""

from mnemoir.core.memories import IndexEntry
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("changes")


def put_entry(sql: Sql, seq: int, entry: IndexEntry) -> None:
    """Write or replace all of them. Without a vector the row says so, which makes it the backlog's."""
    sql.run(_QUERIES["put_terms"], seq=seq, terms=entry.terms)
    put_vector(sql, seq, entry)


def put_vector(sql: Sql, seq: int, entry: IndexEntry) -> None:
    """Write or replace vector and token codes."""
    sql.run(_QUERIES["put_embedding"], seq=seq, model=entry.model, vector=entry.vector, token_ids=entry.token_ids)
    if entry.token_codes is None:
        sql.run(_QUERIES["drop_token_codes"], seq=seq)
    else:
        sql.run(_QUERIES["put_token_codes"], seq=seq, codes=entry.token_codes)


def drop_entry(sql: Sql, seq: int) -> None:
    """Delete a memory's words, vector and token codes."""
    for query in ("drop_terms", "drop_embedding", "drop_token_codes"):
        sql.run(_QUERIES[query], seq=seq)
