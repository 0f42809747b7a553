"""The audit log: rows in a chain, in the file of tenants and keys."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from mnemoir.core.audit import CHAIN_BEGIN, AuditEntry, chained, first_break
from mnemoir.core.clock import to_text
from mnemoir.storage.sql.engine import FileEngine, Sql, queries
from mnemoir.storage.sql.rows import as_json, from_json

_QUERIES = queries("access/audit")
_DECISIONS = queries("access/api_keys")
_PRUNED = "audit_pruned"  # number and chain of the last row that was removed by age
_PAGE = 1000


def append(sql: Sql, entry: AuditEntry, key: bytes) -> int:
    """Append an entry in the transaction of its act; its number."""
    number, chain = sql.row(_QUERIES["last"]) or _pruned(sql)
    row = chained(entry, number + 1, chain, key)
    sql.run(_QUERIES["put"], **asdict(row))
    return row.number


class SqlAuditLog:
    """`file` is the caller's. Blocking and thread-safe; raises StorageUnavailable."""

    def __init__(self, file: FileEngine) -> None:
        self._file = file

    def put(self, entries: Sequence[AuditEntry], key: bytes) -> list[int]:
        """Append entries in one transaction; their numbers."""
        return self._file.write(lambda sql: [append(sql, entry, key) for entry in entries])

    def newest(
        self,
        tenant: str | None,
        *,
        limit: int,
        before: int | None = None,
        action: str | None = None,
        actor: str | None = None,
        day: date | None = None,
    ) -> list[AuditEntry]:
        """Entries of a tenant, None for all, newest first; only of this `action`, `actor` and UTC day, if given."""
        only = {"tenant": tenant, "action": action, "actor": actor, "day": None if day is None else day.isoformat()}
        values = {**only, "limit": limit, "before": 2**62 if before is None else before}
        return [_entry(row) for row in self._file.read(lambda sql: sql.rows(_QUERIES["newest"], **values))]

    def problems(self, key: bytes, *, open_before: datetime) -> list[str]:
        """Where the chain is broken, and acts begun before a time that have no result."""

        def work(sql: Sql) -> list[str]:
            broken = first_break(_every(sql, _pruned(sql)[0]), *_pruned(sql), key)
            begun = sql.rows(_QUERIES["open"], before=to_text(open_before), limit=_PAGE)
            unended = [f"entry {row[0]}: {row[4]} of {row[1]} was begun and has no result" for row in begun]
            return [*filter(None, [broken]), *unended]

        return self._file.read(work)

    def head(self) -> tuple[int, bytes]:
        """Number and chain of the last entry."""
        return self._file.read(lambda sql: sql.row(_QUERIES["last"]) or _pruned(sql))

    def prune(self, before: datetime) -> int:
        """Remove entries of before a time, and note where the chain now begins; how many."""

        def work(sql: Sql) -> int:
            number = sql.value(_QUERIES["last_before"], before=to_text(before))
            if number is None:
                return 0
            chain = sql.row(_QUERIES["row"], number=number)[-1].hex()
            sql.run(_DECISIONS["decide"], name=_PRUNED, value=as_json([number, chain]))
            return sql.run(_QUERIES["drop_to"], number=number)

        return self._file.write(work)


def _pruned(sql: Sql) -> tuple[int, bytes]:
    text = sql.value(_DECISIONS["decided"], name=_PRUNED)
    if text is None:
        return 0, CHAIN_BEGIN
    number, chain = from_json(text)
    return number, bytes.fromhex(chain)


def _every(sql: Sql, after: int) -> Iterator[AuditEntry]:
    while rows := sql.rows(_QUERIES["after"], after=after, limit=_PAGE):
        for row in rows:
            yield _entry(row)
        after = rows[-1][0]


def _entry(row: Sequence[Any]) -> AuditEntry:
    names = ("number", "at", "tenant", "actor", "action", "target", "result", "request_id", "address", "of", "count")
    return AuditEntry(**dict(zip(names, row, strict=False)), chain=row[-1])
