"""The deletion of all rows of a user: they become invisible in one small step, and are deleted in many.

A user's rows refer to the number of a scope. So the scope with its rows is detached from the user, who gets a new
empty one; then the rows are deleted, a few in each transaction, so that no other writer waits for long. A job of the
queue records the remaining work: after a crash the next start continues it.
"""

import uuid
from datetime import datetime

from mnemoir.core.ids import JobId
from mnemoir.core.scope import Scope
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.job_queue import put_job
from mnemoir.storage.sql.queries import queries
from mnemoir.storage.sql.scopes import owner_values

ERASE = "erase"  # the kind of such jobs
_QUERIES = {**queries("erasing"), **queries("changes")}
_ROWS_AT_ONCE = 1000
_TABLES = ("erase_memories", "erase_events", "erase_turns", "erase_answers")  # events name turns


def make_nobodys(sql: Sql, scope: Scope, now: datetime) -> int:
    """Detach a user's rows; the number of current memories among them. `sql` is within the user's scope."""
    count = int(sql.value(_QUERIES["current_rows"]))
    changes, removals, next_seq, _ = sql.row(_QUERIES["counters"])
    sql.run(_QUERIES["make_nobodys"], name=uuid.uuid4().hex)
    sql.run(
        _QUERIES["begin_scope"], **owner_values(scope), changes=changes, removals=removals + count, next_seq=next_seq
    )
    put_job(sql, _job_of(sql.scope_id), ERASE, {}, now=now)
    return count


def erase_some(sql: Sql) -> bool:
    """Delete some detached rows; True when there may be more."""
    number = sql.value(_QUERIES["scope_of_nobody"])
    if number is None:
        return False
    within = sql.within(number)
    if not any(within.run(_QUERIES[query], limit=_ROWS_AT_ONCE) for query in _TABLES):
        within.run(_QUERIES["drop_scope"])
        sql.run(_QUERIES["drop_job"], id=_job_of(number))
    return True


def _job_of(scope_id: int | None) -> JobId:
    return JobId(f"{ERASE}-{scope_id}")
