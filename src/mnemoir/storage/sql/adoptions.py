"""Adoptions: what a user has in a project is being given to another one.

One is noted before anything is given. Its end is one transaction that gives the rows, which are all of a scope, and
removes the note: before it the other user has none of them, after it all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.core.errors import Conflict
from mnemoir.core.scope import Scope
from mnemoir.storage.sql.engine import Engine, Sql, hold_scope, log_scope, owner_values, queries
from mnemoir.storage.sql.table_queries import queries_of_tables

_QUERIES = queries("adoptions")
_DROP_SCOPE = queries("erasing")["drop_scope"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunAdoption:
    """What `given` has in its project is being given to `taken`."""

    given: Scope
    taken: Scope


class Adoptions:
    """`db` is the caller's. Raises StorageUnavailable."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def all(self) -> Sequence[BegunAdoption]:
        """Those that have not ended, by tenant, project and user."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["begun_adoptions"]))
        return [
            BegunAdoption(
                given=Scope(tenant=tenant, project=project, user=user),
                taken=Scope(tenant=tenant, project=project, user=new_user),
            )
            for tenant, project, user, new_user in rows
        ]

    async def begin(self, adoption: BegunAdoption) -> None:
        """Note one; again for one that has begun."""
        values = {**owner_values(adoption.given), "new_user": adoption.taken.user}
        await self._db.write(None, lambda sql: sql.run(_QUERIES["begin_adoption"], **values))

    async def withdraw(self, adoption: BegunAdoption) -> None:
        """End one of which nothing was given."""
        await self._db.write(None, lambda sql: _end(sql, adoption))
        await self._db.empty_log()

    async def finish(self, adoption: BegunAdoption) -> bool:
        """Give all rows, and end it; False when there were none to give.

        Raises Conflict, with nothing changed, for one who has rows, and for rows with keys of their own.
        """

        def give_rows(sql: Sql) -> bool:
            _end(sql, adoption)
            given = [hold_scope(sql, scope) for scope in _scopes_of(adoption.given)]
            taken = [hold_scope(sql, scope) for scope in _scopes_of(adoption.taken)]
            given_any = [_give(*pair, adoption) for pair in zip(given, taken, strict=True)]
            return any(given_any)

        has_rows = await self._db.write(None, give_rows)
        await self._db.empty_log()
        return has_rows


def _give(given: Sql, taken: Sql, adoption: BegunAdoption) -> bool:
    """Give the rows of a scope; False when there is none."""
    if given.scope_id is None:
        return False
    name = adoption.taken.user
    if any(taken.value(of.count) for of in queries_of_tables()):
        raise Conflict(
            f"There are memories of {name[:80]!r} in the project {adoption.taken.project!r} already, so none move.",
            code="memories_exist",
        )
    if given.row(_QUERIES["has_key"]) is not None:
        raise Conflict(
            f"The memories of {adoption.given.user[:80]!r} are, or were, encrypted with a key of their own, "
            "so they cannot be moved.",
            code="memories_encrypted",
        )
    taken.run(_DROP_SCOPE)
    given.run(_QUERIES["give_scope"], user=name)
    return True


def _scopes_of(scope: Scope) -> Sequence[Scope]:
    return scope, log_scope(scope)


def _end(sql: Sql, adoption: BegunAdoption) -> None:
    sql.run(_QUERIES["end_adoption"], **owner_values(adoption.given))
