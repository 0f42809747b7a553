"""Forgetting a session: which memories came from what was said in it, and taking every trace of their words away.

A memory whose present text was said in the session alone goes wholly. One whose text was said elsewhere too, or came
from elsewhere since, stays and loses what it says of its past. Blocking functions within the scope of the caller's
transaction; both backends keep history, sources and receipts in these tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.core.ids import MemoryId
from mnemoir.core.scope import Scope
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries
from mnemoir.storage.sql.rows import narrowing

_QUERIES = queries("forgetting")


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """Memories that came from a session: those that go with it, and those that stay without their past."""

    gone: Sequence[MemoryId] = ()
    kept: Sequence[MemoryId] = ()


def derived_from(sql: Sql, session: str, named: Sequence[str] = ()) -> Derived:
    """What came from a session; `named` are memories that say so themselves."""
    said_there_alone = {each: bool(alone) for each, alone in sql.rows(_QUERIES["derived"], session=session)}
    removed = sql.rows(_QUERIES["removed_of_session"], session=session)
    for memory_id in (*named, *(each for (each,) in removed)):
        said_there_alone.setdefault(memory_id, True)
    return Derived(
        gone=[MemoryId(each) for each, alone in said_there_alone.items() if alone],
        kept=[MemoryId(each) for each, alone in said_there_alone.items() if not alone],
    )


def named_after(sql: Sql, session: str) -> list[str]:
    """Ids of the memories in the database whose metadata name the session."""
    return [memory_id for (memory_id,) in sql.rows(_QUERIES["of_session"], session=session)]


def drop_words(sql: Sql, session: str, derived: Derived) -> None:
    """Take the words of the session out of history, sources, closed states and receipts."""
    sql.run(_QUERIES["drop_merged_from"], session=session)  # while its texts are known
    for memory_id in derived.gone:
        sql.run(_QUERIES["drop_history_of"], id=memory_id)
    for memory_id in derived.kept:
        sql.run(_QUERIES["drop_history_from"], id=memory_id, session=session)
        sql.run(_QUERIES["drop_old_texts_of"], id=memory_id)
        sql.run(_QUERIES["drop_past_of"], id=memory_id)
    for memory_id in (*derived.gone, *derived.kept):
        sql.run(_QUERIES["drop_receipts_of"], id=memory_id)
    sql.run(_QUERIES["unsource"], session=session)
    sql.run(_QUERIES["drop_sources"], session=session)


def erase_traces(sql: Sql, scope: Scope) -> None:
    """Take out what is told of the memories of a scope, present and removed: history, sources and receipts."""
    sql.run(_QUERIES["erase_history"], **narrowing(scope))
    for query in ("erase_sources", "erase_receipts"):
        sql.run(_QUERIES[query])
