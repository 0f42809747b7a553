"""The tokens that models took for each user and tenant, by UTC day and month.

The sums of this month are kept in memory and are exact: no other process has the database. What is new is written
every few seconds, so a crash loses the last of them.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import date, timedelta

import structlog

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.events import Reply
from mnemoir.core.messages import ModelRequest
from mnemoir.core.runs import NodeTrace, RunTrace
from mnemoir.core.scope import Scope
from mnemoir.core.usage import Tokens
from mnemoir.ports.run_store import RunWatcher
from mnemoir.storage.sql.usage import OfDay, SqlUsage
from mnemoir.workflows.tracing import estimated_usage

_WRITTEN_EVERY_S = 5.0
_KEPT = timedelta(days=400)
_NONE = Tokens()
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Month:
    """The tokens of today and of this month."""

    today: Tokens = _NONE
    month: Tokens = _NONE


@dataclass(slots=True)
class _Sums:
    day: date
    of_users: dict[tuple[str, str], Month] = field(default_factory=dict)
    of_tenants: dict[str, Month] = field(default_factory=dict)

    def add(self, tenant: str, user: str, tokens: Tokens, *, is_today: bool) -> None:
        of_user, of_tenant = self.of_users.get((tenant, user)), self.of_tenants.get(tenant)
        if of_user is None:
            of_user = self.of_users[tenant, user] = Month()
        if of_tenant is None:
            of_tenant = self.of_tenants[tenant] = Month()
        for sums in (of_user, of_tenant):
            sums.month += tokens
            if is_today:
                sums.today += tokens


class Spent:
    """`load` comes first. For one event loop; all but `load` and `aclose` are immediate."""

    def __init__(self, rows: SqlUsage, clock: Clock = utc_now) -> None:
        self._rows = rows
        self._clock = clock
        self._sums = _Sums(self._today())
        self._new: dict[OfDay, Tokens] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Read what was used in this month. Raises StorageUnavailable."""
        today = self._sums.day
        for of, tokens in await self._rows.since(today.replace(day=1)):
            self._sums.add(of.tenant, of.user, tokens, is_today=of.day == today.isoformat())

    async def drop_old(self) -> None:
        """Delete what was used long ago. Raises StorageUnavailable."""
        await self._rows.drop_before(self._today() - _KEPT)

    def note(self, scope: Scope, tokens: Tokens) -> None:
        """Count the tokens of a model call for the scope's user."""
        if not tokens.total:
            return
        sums = self._now()
        sums.add(scope.tenant, scope.user, tokens, is_today=True)
        of = OfDay(scope.tenant, scope.user, sums.day.isoformat())
        self._new[of] = self._new.get(of, _NONE) + tokens
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_WRITTEN_EVERY_S, self._begin_write)

    def note_reply(self, scope: Scope, request: ModelRequest, reply: Reply) -> None:
        """The same for a model's reply: as its server told them, or estimated if it told none."""
        usage = reply.usage
        if not (usage.input_tokens or usage.output_tokens):
            usage = estimated_usage(request.messages, [reply.words])
        self.note(scope, Tokens(usage.input_tokens, usage.output_tokens))

    async def make_nobodys(self, tenant: str, user: str) -> int:
        """Count what a user has used as nobody's, so that nothing names them; how many rows did."""
        await self._write_all()
        if not user:
            return 0
        of_users = self._now().of_users
        mine = of_users.pop((tenant, user), None)
        if mine is not None:
            nobodys = of_users.setdefault((tenant, ""), Month())
            nobodys.today += mine.today
            nobodys.month += mine.month
        return await self._rows.make_nobodys(tenant, user)

    async def of(self, tenant: str, user: str) -> dict[str, Tokens]:
        """What a user has used on each day that is stored, in all projects."""
        await self._write_all()
        found: dict[str, Tokens] = {}
        for of, tokens in await self._rows.since(date.min):
            if (of.tenant, of.user) == (tenant, user):
                found[of.day] = found.get(of.day, _NONE) + tokens
        return found

    async def stored_users(self) -> set[tuple[str, str]]:
        """The (tenant, user) pairs of all stored days."""
        return {(of.tenant, of.user) for of, _ in await self._rows.since(date.min) if of.user}

    def now(self, tenant: str, user: str | None) -> tuple[Month, date]:
        """What a user has used in all projects, or with None all of a tenant, and the day that is counted now."""
        sums = self._now()
        found = sums.of_tenants.get(tenant) if user is None else sums.of_users.get((tenant, user))
        return found or Month(), sums.day

    def users(self, tenant: str) -> list[str]:
        """The users of a tenant that models were asked for in this month."""
        return [user for of, user in self._now().of_users if of == tenant]

    def tenants(self) -> list[str]:
        """The tenants that models were asked for in this month."""
        return list(self._now().of_tenants)

    @property
    def today(self) -> date:
        """The UTC day that is counted now."""
        return self._now().day

    async def aclose(self) -> None:
        """Write what is new."""
        if self._timer is not None:
            self._timer.cancel()
        await self._write_all()

    def _now(self) -> _Sums:
        """The sums of today; with a new day, and a new month, they begin anew."""
        today = self._today()
        if today != self._sums.day:
            before = self._sums
            self._sums = _Sums(today)
            if before.day.replace(day=1) == today.replace(day=1):
                for (tenant, user), sums in before.of_users.items():
                    self._sums.add(tenant, user, sums.month, is_today=False)
        return self._sums

    def _today(self) -> date:
        return self._clock().date()

    def _begin_write(self) -> None:
        self._timer = None
        self._writing = asyncio.create_task(self._write(), name="write what was used")

    async def _write_all(self) -> None:
        if self._writing is not None:
            await self._writing
        await self._write()

    async def _write(self) -> None:
        new, self._new = self._new, {}
        if not new:
            return
        try:
            await self._rows.add(new)
        except StorageUnavailable as exc:
            _log.warning("usage not written", cause=exc.message, users=len(new))
            for of, tokens in new.items():  # the next time
                self._new[of] = self._new.get(of, _NONE) + tokens


class Metered:
    """A watcher of runs that counts the tokens of each when it has ended."""

    def __init__(self, runs: RunWatcher, spent: Spent) -> None:
        self._runs = runs
        self._spent = spent

    def note_begin(self, run: RunTrace) -> None:
        """See the port."""
        self._runs.note_begin(run)

    def note_node(self, run: RunTrace, node: NodeTrace) -> None:
        """See the port."""
        self._runs.note_node(run, node)

    def note_end(self, run: RunTrace) -> None:
        """See the port."""
        sent = received = 0
        for node in run.nodes():
            sent += node.input_tokens
            received += node.output_tokens
        if sent or received:
            self._spent.note(run.scope, Tokens(sent, received))
        self._runs.note_end(run)


_: type[RunWatcher] = Metered  # checked, never run
