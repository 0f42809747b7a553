"""Receipts of commits: the idempotency key of a commit with its outcome, which counts for 24 hours and is
written in the same transaction. While the clock cannot be trusted, no age ends one.

As a scope has one writer at a time, the second of two requests with one key always finds the receipt of the first.
Both backends of memories keep receipts in this table.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import Conflict
from mnemoir.core.memories import Applied
from mnemoir.core.proposals import Proposal
from mnemoir.ports.memory_store import Receipt, RedeemedReceipt
from mnemoir.storage.sql.engine import Engine, Sql, queries
from mnemoir.storage.sql.rows import applied_as_json, applied_of, proposed_as_json, proposed_of

_QUERIES = queries("changes")
KEPT = timedelta(hours=24)


def find_receipt(sql: Sql, key: str, now: datetime | None) -> RedeemedReceipt | None:
    """The answer to the key in the last 24 hours, or at any time where `now` is not known; None without one."""
    since = -math.inf if now is None else (now - KEPT).timestamp()
    row = sql.row(_QUERIES["receipt"], key=key, since=since)
    if row is None:
        return None
    request_hash, reason, applied, proposed = row
    return RedeemedReceipt(
        request_hash=request_hash,
        reason=reason,
        applied=applied_of(applied),
        proposed=() if proposed is None else proposed_of(proposed),
    )


def earlier_outcome(sql: Sql, receipt: Receipt, now: datetime | None) -> list[Applied] | None:
    """The outcome of an earlier run of this same request, as `find_receipt` has it; None for a new request.

    Raises Conflict when another request used its key.
    """
    earlier = find_receipt(sql, receipt.key, now)
    if earlier is None:
        return None
    if earlier.request_hash != receipt.request_hash:
        raise Conflict(
            "This Idempotency-Key was used for another request in the last 24 hours. "
            "Use a new key for a new request.",
            code="idempotency_mismatch",
        )
    return list(earlier.applied)


def keep_receipt(
    sql: Sql,
    receipt: Receipt,
    answer: tuple[str, Sequence[Applied]],
    now: datetime,
    proposed: Sequence[Proposal] = (),
) -> None:
    """Store the reason and the outcome of a commit, with what it proposed."""
    reason, applied = answer
    sql.run(
        _QUERIES["put_receipt"],
        key=receipt.key,
        request_hash=receipt.request_hash,
        reason=reason,
        given_at=now.timestamp(),
        applied=applied_as_json(applied),
        proposed=proposed_as_json(proposed) if proposed else None,
    )


async def drop_old_receipts(db: Engine, clock: Clock = utc_now) -> None:
    """Delete the receipts that do not count any more. Raises StorageUnavailable."""
    before = (clock() - KEPT).timestamp()
    await db.write(None, lambda sql: sql.run(_QUERIES["drop_receipts"], before=before))
