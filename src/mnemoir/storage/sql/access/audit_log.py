"""The audit log: rows in a chain, in the file of tenants and keys."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date, datetime
from itertools import pairwise
from typing import Any

from mnemoir.core.audit import CHAIN_BEGIN, ERASURE, AuditEntry, first_break, removal_digest, subject_of, with_chain
from mnemoir.core.clock import to_text
from mnemoir.storage.sql.engine import FileEngine, Sql, queries
from mnemoir.storage.sql.rows import as_json, from_json

_QUERIES = queries("access/audit")
_DECISIONS = queries("access/api_keys")
_PRUNED = "audit_pruned"  # number, chain and keyed digest of the last row that was removed by age
_PAGE = 1000
_NAMES = (
    *(
        "number",
        "at",
        "tenant",
        "actor",
        "action",
        "target",
        "user",
        "result",
        "request_id",
        "address",
        "of",
        "count",
    ),
    *("names", "subject", "chain"),
)


def append(sql: Sql, entry: AuditEntry, key: bytes) -> int:
    """Append an entry in the transaction of its act; its number."""
    number, chain = sql.row(_QUERIES["last"]) or _last_pruned_entry(sql)
    row = with_chain(entry, number + 1, chain, key)
    if row.action == ERASURE and (row.result == "done" or _is_erased(sql, row)):
        row = row.without_names()  # the name would come back with the result
    sql.run(_QUERIES["put"], **asdict(row))
    return row.number


def _is_erased(sql: Sql, row: AuditEntry) -> bool:
    return row.result != "begun" and sql.row(_QUERIES["erasure"], subject=row.subject, action=ERASURE) is not None


def erase_names(sql: Sql, entry: AuditEntry, key: bytes) -> int:
    """Erase the names in all entries about the user of `entry`, which is appended as `done`; how many had any."""
    count = sql.run(_QUERIES["erase_names"], subject=subject_of(entry.tenant, entry.user, key))
    append(sql, entry, key)
    return count


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
        """Entries of a tenant, None for all, newest first; of this `action`, `actor` and day in UTC, if given."""
        only = {"tenant": tenant, "action": action, "actor": actor, "day": None if day is None else day.isoformat()}
        values = {**only, "limit": limit, "below": 2**62 if before is None else before}
        return [_entry(row) for row in self._file.read(lambda sql: sql.rows(_QUERIES["newest"], **values))]

    def problems(self, key: bytes, *, open_before: datetime) -> list[str]:
        """Where the chain is broken, and acts begun before a time that have no result."""

        def find_problems(sql: Sql) -> list[str]:
            erased = {subject for (subject,) in sql.rows(_QUERIES["erased_subjects"], action=ERASURE)}
            removed = (
                ""
                if _is_by_age(sql, key)
                else f"entries up to {_last_pruned_entry(sql)[0]} were removed, and not by age"
            )
            broken = first_break(_every(sql, _last_pruned_entry(sql)[0]), *_last_pruned_entry(sql), key, erased)
            begun = sql.rows(_QUERIES["open"], before=to_text(open_before), limit=_PAGE)
            unended = [
                f"entry {one.number}: {one.action} of {one.at} was begun and has no result"
                for one in map(_entry, begun)
            ]
            return [*filter(None, [removed, broken]), *unended]

        return self._file.read(find_problems)

    def about(self, tenant: str, user: str, key: bytes) -> list[AuditEntry]:
        """The entries about a user that is not erased, in order."""
        subject = subject_of(tenant, user, key)
        return [_entry(row) for row in self._file.read(lambda sql: sql.rows(_QUERIES["of_subject"], subject=subject))]

    def has(self, number: int, chain: bytes) -> bool:
        """Whether the entry of that number is there with that chain, or was removed by age."""

        def is_recorded(sql: Sql) -> bool:
            row = sql.row(_QUERIES["row"], number=number)
            return number < _last_pruned_entry(sql)[0] or chain == (
                row[-1] if row is not None else _last_pruned_entry(sql)[1]
            )

        return self._file.read(is_recorded)

    def fits(self, key: bytes) -> bool:
        """Whether the first or the last entry was written with this key; True for an empty log."""

        def is_continued(sql: Sql) -> bool:
            number, chain = _last_pruned_entry(sql)
            first = sql.rows(_QUERIES["after"], after=number, limit=1)
            last = sql.rows(_QUERIES["newest"], tenant=None, action=None, actor=None, day=None, limit=2, below=2**62)
            pairs = [(_entry(row), chain) for row in first] + [(_entry(one), two[-1]) for one, two in pairwise(last)]
            return not pairs or any(
                not first_break([entry], entry.number - 1, before, key, {entry.subject or b""})
                for entry, before in pairs
            )

        return self._file.read(is_continued)

    def head(self) -> tuple[int, bytes]:
        """Number and chain of the last entry."""
        return self._file.read(lambda sql: sql.row(_QUERIES["last"]) or _last_pruned_entry(sql))

    def prune(self, before: datetime, key: bytes) -> int:
        """Remove entries of before a time, and note where the chain now begins; how many.

        A note that another program made stays a problem.
        """

        def drop_old_entries(sql: Sql) -> int:
            number = sql.value(_QUERIES["last_before"], before=to_text(before))
            if number is None:
                return 0
            chain = sql.row(_QUERIES["row"], number=number)[-1]
            digest = removal_digest(number, chain, key).hex() if _is_by_age(sql, key) else ""
            sql.run(_DECISIONS["decide"], name=_PRUNED, value=as_json([number, chain.hex(), digest]))
            return sql.run(_QUERIES["drop_to"], number=number)

        return self._file.write(drop_old_entries)


def _last_pruned_entry(sql: Sql) -> tuple[int, bytes]:
    """Number and chain value of the last entry that was removed; 0 and the chain's beginning without one."""
    text = sql.value(_DECISIONS["decided"], name=_PRUNED)
    if text is None:
        return 0, CHAIN_BEGIN
    number, chain, *_ = from_json(text)
    return number, bytes.fromhex(chain)


def _is_by_age(sql: Sql, key: bytes) -> bool:
    """Whether what is missing at the beginning was removed by `prune`, or nothing is."""
    text = sql.value(_DECISIONS["decided"], name=_PRUNED)
    return text is None or from_json(text)[2:] == [removal_digest(*_last_pruned_entry(sql), key).hex()]


def _every(sql: Sql, after: int) -> Iterator[AuditEntry]:
    while rows := sql.rows(_QUERIES["after"], after=after, limit=_PAGE):
        for row in rows:
            yield _entry(row)
        after = rows[-1][0]


def _entry(row: Sequence[Any]) -> AuditEntry:
    return AuditEntry(**dict(zip(_NAMES, row, strict=True)))
