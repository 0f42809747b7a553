"""The values behind placeholders of personal data, in the database for both backends of memories.

A value is found by a keyed hash. It is itself stored only if it may be turned back, sealed by the codec of cells.
"""

import hmac
from collections.abc import Callable, Mapping, Sequence

from mnemoir.core.scope import Scope
from mnemoir.ports.personal_values import PersonalValue, PersonalValues, Place
from mnemoir.storage.sql.engine import Engine, Sql, Value, enter_scope, queries

_QUERIES = queries("personal_values")


class SqlPersonalValues:
    """`db` is the caller's. `key` gives the secret of the hashes; with `reversible` values are stored."""

    def __init__(self, db: Engine, key: Callable[[], bytes], *, reversible: bool) -> None:
        self._db = db
        self._key = key
        self._reversible = reversible

    async def numbers(self, scope: Scope, values: Sequence[PersonalValue], place: Place | None) -> Sequence[int]:
        """See the port."""
        if not values:
            return ()
        rows = [self._row(scope, value, place) for value in values]
        numbers, is_noted = await self._db.read(
            scope, lambda sql: (_value_numbers(sql, rows), _are_all_noted(sql, rows))
        )
        if place is None or is_noted:
            return numbers
        return await self._db.write(scope, lambda sql: _value_numbers(enter_scope(sql, scope), rows, puts=True))

    async def said_in(self, scope: Scope, values: Sequence[PersonalValue]) -> None:
        """See the port."""
        rows = [self._row(scope, value, "messages") for value in values]

        def put_values(sql: Sql) -> None:
            _value_numbers(enter_scope(sql, scope), rows, puts=True)
            for row in rows:
                sql.run(_QUERIES["forget_unplaced"], kind=row["kind"], hash=row["hash"])

        if not await self._db.read(scope, lambda sql: _are_all_noted(sql, rows)):
            await self._db.write(scope, put_values)

    async def originals(self, scope: Scope) -> Mapping[tuple[str, int], str]:
        """See the port."""
        rows = await self._db.read(scope, lambda sql: sql.rows(_QUERIES["originals"]))
        return {(kind, number): original for kind, number, original, _ in rows}

    async def forget(self, scope: Scope) -> None:
        """See the port."""

        def forget_values(sql: Sql) -> int:
            if scope.conversation is None:
                return sql.run(_QUERIES["forget_values_in_facts"])
            return sql.run(_QUERIES["forget_values_of"], session_id=scope.conversation)

        if await self._db.write(scope, forget_values):
            await self._db.empty_log()

    def _row(self, scope: Scope, value: PersonalValue, place: Place | None) -> dict[str, Value]:
        said = "\0".join((scope.tenant, scope.project, scope.user, value.kind, value.normal))
        return {
            "kind": value.kind,
            "hash": hmac.digest(self._key(), said.encode("utf-8", "surrogatepass"), "sha256"),
            "about": place,
            "session_id": scope.conversation or "",
            "original": value.original if self._reversible else None,
        }


def _are_all_noted(sql: Sql, rows: Sequence[Mapping[str, Value]]) -> bool:
    """True when each value is noted for its place; while a message has no known conversation, any place counts."""
    return all(_is_noted(sql, row) for row in rows)


def _is_noted(sql: Sql, row: Mapping[str, Value]) -> bool:
    value = {name: row[name] for name in ("kind", "hash")}
    place = {name: row[name] for name in ("about", "session_id")}
    if tuple(place.values()) == ("messages", ""):
        return sql.value(_QUERIES["number_of_value"], **value) is not None
    return sql.row(_QUERIES["is_noted"], **value, **place) is not None


def _value_numbers(sql: Sql, rows: Sequence[Mapping[str, Value]], *, puts: bool = False) -> list[int]:
    """The numbers of the values. An unknown value gets the next number of its kind; `puts` stores it."""
    last: dict[Value, int] = {}
    new: dict[tuple[Value, Value], int] = {}
    numbers: list[int] = []
    for row in rows:
        kind, key = row["kind"], (row["kind"], row["hash"])
        number = new.get(key) or sql.value(_QUERIES["number_of_value"], kind=kind, hash=row["hash"])
        if number is None:
            if kind not in last:
                last[kind] = sql.value(_QUERIES["last_number"], kind=kind)
            last[kind] += 1
            number = new[key] = last[kind]
        if puts:
            sql.run(_QUERIES["put_value"], number=number, label=f"{row['kind']!s} {number}", **row)
        numbers.append(number)
    return numbers


_: type[PersonalValues] = SqlPersonalValues  # checked, never run
