"""Legal holds: users whose data nothing may delete until the hold is lifted."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from mnemoir.core.errors import Conflict
from mnemoir.core.scope import Scope
from mnemoir.core.text import without_zeros
from mnemoir.storage.sql.engine import Engine, Sql, queries

_QUERIES = queries("holds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A hold on a user, in all projects of the tenant; `set_by` is the id of a key, or the command line."""

    tenant: str
    user: str
    reason: str
    set_at: str
    set_by: str


class LegalHold(Conflict):
    """The user is on legal hold, so nothing of theirs may be deleted."""

    code = "legal_hold"


class Holds:
    """`db` is the caller's. Raises StorageUnavailable."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def put(self, hold: Hold) -> None:
        """Put a user on hold, or change the reason."""
        told = {**asdict(hold), "reason": without_zeros(hold.reason)}
        await self._db.write(None, lambda sql: sql.run(_QUERIES["set_hold"], **told))

    async def clear(self, tenant: str, user: str) -> bool:
        """Lift a hold; False when there was none."""
        lifted = await self._db.write(None, lambda sql: sql.run(_QUERIES["clear_hold"], tenant=tenant, user=user))
        return bool(lifted)

    async def all(self) -> Sequence[Hold]:
        """All holds, by tenant and user."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["holds"]))
        return [
            Hold(tenant=tenant, user=user, reason=reason, set_at=at, set_by=by)
            for tenant, user, reason, at, by in rows
        ]

    async def refuse(self, scope: Scope) -> None:
        """Raise LegalHold when the scope's user is on hold."""
        await self._db.read(None, lambda sql: refuse_on_hold(sql, scope))


def refuse_on_hold(sql: Sql, scope: Scope) -> None:
    """Raise LegalHold when the scope's user is on hold."""
    if sql.row(_QUERIES["hold"], tenant=scope.tenant, user=scope.user) is not None:
        raise LegalHold(
            f"{scope.user[:80]!r} is on legal hold, so nothing was deleted. Lift it first: `mnemoir hold clear`."
        )
