"""The places of a current memory besides its own row: words, vector, token codes."""

import apsw

from mnemoir.core.memories import IndexEntry
from mnemoir.storage.sqlite.queries import queries

_QUERIES = queries("changes")


def put_entry(connection: apsw.Connection, seq: int, entry: IndexEntry) -> None:
    """Write or replace all of them. Without a vector the row says so, which makes it the backlog's."""
    connection.execute(_QUERIES["put_terms"], {"seq": seq, "terms": entry.terms})
    put_vector(connection, seq, entry)


def put_vector(connection: apsw.Connection, seq: int, entry: IndexEntry) -> None:
    """Write or replace vector and token codes."""
    vector = {"seq": seq, "model": entry.model, "vector": entry.vector, "token_ids": entry.token_ids}
    connection.execute(_QUERIES["put_embedding"], vector)
    if entry.token_codes is None:
        connection.execute(_QUERIES["drop_token_codes"], {"seq": seq})
    else:
        connection.execute(_QUERIES["put_token_codes"], {"seq": seq, "codes": entry.token_codes})


def leave_places(connection: apsw.Connection, seq: int) -> None:
    """Take a memory out of all of them."""
    for query in ("drop_terms", "drop_embedding", "drop_token_codes"):
        connection.execute(_QUERIES[query], {"seq": seq})
