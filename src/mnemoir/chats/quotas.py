"""Quotas: the most that a user and a tenant may store and use, and what is refused beyond it.

What is stored is refused by itself, and a chat that cannot be remembered or kept goes on without. A budget of tokens
is checked before a model is asked, so the last chat may go over it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, cast

from mnemoir.access.spent import Spent
from mnemoir.chats.stored_amounts import StoredAmounts
from mnemoir.core.clock import to_text
from mnemoir.core.errors import QuotaExceeded, RateLimited
from mnemoir.core.events import Reply
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.core.messages import ModelRequest
from mnemoir.core.scope import Scope, acting
from mnemoir.core.usage import BUDGETS, OF_MEMORY, QUOTAS, Budget, Limits, Quota, Stored, end_of
from mnemoir.ports.llm import ChatModel
from mnemoir.settings import Settings

CHATS: Literal["concurrent_chats"] = "concurrent_chats"
OF_A_TURN = 2  # messages of a chat: its question and its answer
BothLimits = tuple[Limits, Limits]  # of a user, and of its tenant
# whom a model is asked for outside a run: for a summary or a title; inherited by the threads that make summaries
asked_for: ContextVar[Scope | None] = ContextVar("asked_for", default=None)
_NAMES: dict[Quota, str] = {
    "memories": "memories",
    "memory_bytes": "bytes of memories",
    "messages": "stored messages",
    "attachment_bytes": "bytes of attachments",
    "disk_bytes": "bytes on disk",
    "tokens_day": "tokens of models today",
    "tokens_month": "tokens of models this month",
    CHATS: "chats at once",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How it stands with one quota of a user, or with `user` None of a tenant. `limit` None is no limit."""

    tenant: str
    user: str | None
    what: Quota
    used: int
    limit: int | None
    resets_at: datetime | None = None

    @property
    def remainder(self) -> int:
        """What may still be used."""
        assert self.limit is not None
        return max(self.limit - self.used, 0)


class Quotas:
    """`limits_of` gives the limits that were set for one tenant, in place of those of the settings.

    For one event loop. Without any limit nothing is counted for it.
    """

    def __init__(
        self,
        settings: Settings,
        spent: Spent,
        limits_of: Callable[[str], Limits] = lambda tenant: {},
    ) -> None:
        self._of_users = _limits_in(settings.quotas.user)
        self._of_tenants = _limits_in(settings.quotas.tenant)
        self._limits_of = limits_of
        self._chats: dict[tuple[str, str | None], int] = {}
        self._deciding = KeyedLock()
        self.spent = spent
        self._stored: StoredAmounts | None = None
        self.no_chat = asyncio.Event()  # set while no chat of anybody is under way
        self.no_chat.set()

    def count_in(self, stored: StoredAmounts) -> None:
        """Where stored things are counted; until then there is no quota on them."""
        self._stored = stored

    @property
    def stored(self) -> StoredAmounts:
        """The counts of what is stored."""
        assert self._stored is not None
        return self._stored

    def limits(self, tenant: str, user: str | None) -> Limits:
        """The limits of each user of a tenant, or with None of the tenant; the caller's key may have its own."""
        if user is None:
            own = self._limits_of(tenant)
            return {**self._of_tenants, **own} if own else self._of_tenants
        principal = acting.get().principal
        own = principal.limits if principal.tenant == tenant else {}
        return {**self._of_users, **own} if own else self._of_users

    def limits_for(self, scope: Scope) -> BothLimits:
        """The limits of the scope's user, and those of its tenant."""
        return self.limits(scope.tenant, scope.user), self.limits(scope.tenant, None)

    def is_on(self, scope: Scope) -> bool:
        """Whether there is any limit for the scope's user or tenant."""
        return any(self.limits_for(scope))

    async def used_up(
        self, scope: Scope, wanted: Sequence[Stored], limits: BothLimits, room: ExitStack
    ) -> list[Stored]:
        """Which of these the scope's user, or tenant, may have no more of, by their limits.

        Where messages are wanted and none of it is used up, a chat's question and answer have theirs until `room` is
        closed.
        """
        limited = [what for what in wanted if what in limits[0] or what in limits[1]]
        if self._stored is None or "messages" not in limited:
            return [what for what in limited if await self._lacking(scope, what, 1) is not None]
        async with self._deciding.hold(scope.tenant):  # of several at once, each counts those before it
            found = [what for what in limited if await self._lacking(scope, what, _room_for(what)) is not None]
            if all(what in OF_MEMORY for what in found):
                room.enter_context(self._stored.expecting("messages", scope.tenant, scope.user, OF_A_TURN))
        return found

    async def check(self, scope: Scope, *wanted: Stored, more: int = 1) -> None:
        """Raise QuotaExceeded if `more` of one of these is more than the scope's user, or tenant, may have."""
        for what in wanted:
            lacking = await self._lacking(scope, what, more)
            if lacking is not None:
                raise _quota_error(lacking)

    @asynccontextmanager
    async def adding(self, scope: Scope, growth: Mapping[Stored, int]) -> AsyncIterator[None]:
        """Room for so much more while the body stores it. Raises QuotaExceeded."""
        limited = {what: number for what, number in growth.items() if number and self._is_limited(scope, what)}
        if not limited or self._stored is None:
            yield
            return
        with ExitStack() as room:
            async with self._deciding.hold(scope.tenant):  # of several at once, each counts those before it
                for what, number in limited.items():
                    await self.check(scope, what, more=number)
                for what, number in limited.items():
                    room.enter_context(self._stored.adding(what, scope.tenant, scope.user, number))
            yield

    def has_stored(self, scope: Scope, what: Stored, number: int = 1) -> None:
        """Note what was stored without asking for room."""
        if self._stored is not None and self._is_limited(scope, what):
            self._stored.add(what, scope.tenant, scope.user, number)

    def budget(self, scope: Scope, limits: BothLimits | None = None) -> Standing | None:
        """The budget of tokens that is nearest to its end; None without one. Raises QuotaExceeded for one used up."""
        nearest: Standing | None = None
        for user, own in zip((scope.user, None), limits or self.limits_for(scope), strict=True):
            for what in BUDGETS:
                if what in own:
                    standing = self._budget_of(scope.tenant, user, what, own[what])
                    if not standing.remainder:
                        raise _quota_error(standing)
                    if nearest is None or standing.remainder < nearest.remainder:
                        nearest = standing
        return nearest

    async def ask(self, model: ChatModel, request: ModelRequest) -> Reply:
        """The model's reply, whose tokens are counted for the user that it is `asked_for`.

        Raises QuotaExceeded, without asking, when a budget of theirs is used up, and as the model does.
        """
        scope = asked_for.get()
        if scope is not None:
            self.budget(scope)
        reply = await model.ask(request)
        if scope is not None:
            self.spent.note_reply(scope, request, reply)
        return reply

    @contextmanager
    def chatting(self, scope: Scope) -> Iterator[None]:
        """Count a chat while the body runs. Raises RateLimited for one too many at once."""
        both = ((scope.tenant, scope.user), (scope.tenant, None))
        for tenant, user in both:
            limit = self.limits(tenant, user).get(CHATS)
            if limit is not None and self._chats.get((tenant, user), 0) >= limit:
                whose = f"User {user}" if user else f"Tenant {tenant}"
                raise RateLimited(
                    f"{whose} has {limit} chats under way, and may have no more at once. Wait until one has ended.",
                    bucket=CHATS,
                    retry_after_s=1,
                )
        for one in both:
            self._chats[one] = self._chats.get(one, 0) + 1
        self.no_chat.clear()
        try:
            yield
        finally:
            for one in both:
                self._chats[one] -= 1
                if not self._chats[one]:
                    del self._chats[one]
            if not self._chats:
                self.no_chat.set()

    async def standings(self, tenant: str, user: str | None) -> list[Standing]:
        """How it stands with all quotas of a user, or with None of a tenant."""
        is_own = user is None or acting.get().principal.user == user  # else the caller's key says nothing about them
        limits = self.limits(tenant, user) if is_own else self._of_users
        found = []
        for what in QUOTAS:
            if what in ("tokens_day", "tokens_month"):
                found.append(self._budget_of(tenant, user, what, limits.get(what)))
            else:
                used = self._chats.get((tenant, user), 0) if what == CHATS else await self._amount(what, tenant, user)
                found.append(Standing(tenant=tenant, user=user, what=what, used=used, limit=limits.get(what)))
        return found

    async def users(self, tenant: str) -> list[str]:
        """The users of a tenant that have stored or used anything, by name."""
        stored = [await self.stored.by_user(what, tenant) for what in ("memories", "messages")]
        return sorted({*self.spent.users(tenant), *(user for found in stored for user in found)})

    def _is_limited(self, scope: Scope, what: Quota) -> bool:
        return what in self.limits(scope.tenant, scope.user) or what in self.limits(scope.tenant, None)

    async def _lacking(self, scope: Scope, what: Stored, more: int) -> Standing | None:
        for user in (scope.user, None):
            limit = self.limits(scope.tenant, user).get(what)
            if limit is None or self._stored is None:
                continue
            used = await self._stored.amount(what, scope.tenant, user)
            if used + more > limit:  # unless something was deleted meanwhile, or counted while it was stored
                await self._stored.settle(what, scope.tenant)
                used = await self._stored.amount(what, scope.tenant, user, fresh=True)
            if used + more > limit:
                return Standing(tenant=scope.tenant, user=user, what=what, used=used, limit=limit)
        return None

    async def _amount(self, what: Quota, tenant: str, user: str | None) -> int:
        return await self.stored.amount(cast("Stored", what), tenant, user)

    def _budget_of(self, tenant: str, user: str | None, what: Budget, limit: int | None) -> Standing:
        spent, today = self.spent.now(tenant, user)
        used = spent.today if what == "tokens_day" else spent.month
        return Standing(
            tenant=tenant,
            user=user,
            what=what,
            used=used.total,
            limit=limit,
            resets_at=end_of(what, today),
        )


@contextmanager
def limited_as(scope: Scope, limits: Limits) -> Iterator[None]:
    """Let the quotas of the key that asked for a job count while it runs."""
    act = acting.get()
    caller = replace(act.principal, tenant=scope.tenant, limits=limits)
    before = acting.set(replace(act, principal=caller))
    try:
        yield
    finally:
        acting.reset(before)


def _room_for(what: Stored) -> int:
    return OF_A_TURN if what == "messages" else 1


def _limits_in(quota: object) -> Limits:
    return {what: limit for what in QUOTAS if (limit := getattr(quota, what)) is not None}


def _quota_error(standing: Standing) -> QuotaExceeded:
    assert standing.limit is not None
    whose = f"User {standing.user}" if standing.user is not None else f"Tenant {standing.tenant}"
    until = standing.resets_at
    advice = "Delete some, or ask for more." if until is None else f"It is whole again at {to_text(until)}."
    return QuotaExceeded(
        f"{whose} has {standing.used} of {standing.limit} {_NAMES[standing.what]}. {advice}",
        what=standing.what,
        used=standing.used,
        limit=standing.limit,
        resets_at=until,
    )
