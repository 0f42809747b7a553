"""Forgetting a session: which memories came from what was said in it, and taking every trace of their words away.

A memory whose present text was said in the session alone goes wholly. One whose text was said elsewhere too, or came
from elsewhere since, stays and loses what it says of its past. Blocking functions inside the caller's transaction;
both backends keep history, sources and receipts in these tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from mnemoir.core.ids import MemoryId
from mnemoir.core.scope import Scope
from mnemoir.storage.sqlite.queries import queries
from mnemoir.storage.sqlite.rows import narrowing

_QUERIES = queries("forgetting")


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """Memories that came from a session: those that go with it, and those that stay without their past."""

    gone: Sequence[MemoryId] = ()
    kept: Sequence[MemoryId] = ()


def derived_from(connection: apsw.Connection, number: int, session: str, named: Sequence[str] = ()) -> Derived:
    """What came from a session of the scope of that number; `named` are memories that say so themselves."""
    values = {"scope_id": number, "session": session}
    said_there_alone = {each: bool(alone) for each, alone in connection.execute(_QUERIES["derived"], values)}
    removed = connection.execute(_QUERIES["removed_of_session"], values)
    for memory_id in (*named, *(each for (each,) in removed)):
        said_there_alone.setdefault(memory_id, True)
    return Derived(
        gone=[MemoryId(each) for each, alone in said_there_alone.items() if alone],
        kept=[MemoryId(each) for each, alone in said_there_alone.items() if not alone],
    )


def named_after(connection: apsw.Connection, number: int, session: str) -> list[str]:
    """Ids of the memories in the database whose metadata name the session."""
    values = {"scope_id": number, "session": session}
    return [memory_id for (memory_id,) in connection.execute(_QUERIES["of_session"], values)]


def drop_words(connection: apsw.Connection, number: int, session: str, derived: Derived) -> None:
    """Take the words of the session out of history, sources, closed states and receipts."""
    scope = {"scope_id": number}
    connection.execute(_QUERIES["drop_merged_from"], {**scope, "session": session})  # while its texts are known
    for memory_id in derived.gone:
        connection.execute(_QUERIES["drop_history_of"], {**scope, "id": memory_id})
    for memory_id in derived.kept:
        connection.execute(_QUERIES["drop_history_from"], {**scope, "id": memory_id, "session": session})
        connection.execute(_QUERIES["drop_old_texts_of"], {**scope, "id": memory_id})
        connection.execute(_QUERIES["drop_past_of"], {**scope, "id": memory_id})
    for memory_id in (*derived.gone, *derived.kept):
        connection.execute(_QUERIES["drop_receipts_of"], {**scope, "id": memory_id})
    connection.execute(_QUERIES["unsource"], {**scope, "session": session})
    connection.execute(_QUERIES["drop_sources"], {**scope, "session": session})


def erase_traces(connection: apsw.Connection, number: int, scope: Scope) -> None:
    """Take out what is told of the memories of a scope, present and removed: history, sources and receipts."""
    connection.execute(_QUERIES["erase_history"], {"scope_id": number, **narrowing(scope)})
    for query in ("erase_sources", "erase_receipts"):
        connection.execute(_QUERIES[query], {"scope_id": number})
