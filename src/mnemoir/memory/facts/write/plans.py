"""Plans: changes that were worked out and not made, with what they would do.

A plan is applied as it is, or refused: what it would do is worked out once more within the commit, and must be the
same, and nothing that was stored since may settle what it stores. Plans are kept in memory, for ten minutes, and go
with what they quote when that is forgotten.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mnemoir.core.clock import Clock
from mnemoir.core.errors import Conflict, NotFound
from mnemoir.core.ids import PlanId, new_plan_id
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.core.memories import Add, Applied, Change, ChangedMemory, Provenance, Remove, Update
from mnemoir.core.proposals import NO_STEP, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.decide.neighbours import own_names, settles
from mnemoir.memory.facts.reading.own_name import speaking_as
from mnemoir.ports.holdings import Rehearsed
from mnemoir.ports.memory_store import MemoryStore, Project, Receipt, StaleChange, Visible

KEPT = timedelta(minutes=10)
MOST_PLANS = 100
MOST_CHANGES = 20_000  # of all plans: a change holds the vectors of its text
_PAGE = 100  # commits read at a time
_MOST_COMPARED = 100_000  # pairs of a text of the plan and one stored since; a plan with more is taken for outdated


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The changes of a commit, and what they did when they were worked out.

    `since` is the place of the last commit of the user before that.
    """

    scope: Scope
    changes: Sequence[Change]
    provenance: Provenance
    outcome: Sequence[Applied]
    made_at: datetime
    since: int

    @property
    def texts(self) -> list[str]:
        """The facts that it would make current."""
        added = [one.memory for one in self.changes if isinstance(one, Add)]
        facts = [memory.text for memory in added if memory.kind == "fact" and memory.valid_to is None]
        return facts + [one.text for one in self.changes if isinstance(one, Update) and one.text != one.expected]


class Rehearsal:
    """A committer that works out what a commit would do, and writes nothing."""

    def __init__(self, store: MemoryStore, clock: Clock, since: int) -> None:
        self._store = store
        self._clock = clock
        self._since = since
        self.plan: Plan | None = None

    async def commit(
        self,
        scope: Scope,
        changes: Sequence[Change],
        provenance: Provenance,
        *,
        receipt: Receipt | None = None,
        degrade: bool = False,
        expected: Sequence[Applied] | None = None,
        queue: QueueStep = NO_STEP,
    ) -> list[Applied]:
        """What the commit would do; `plan` is it from then on."""
        outcome = await self._store.preview(scope, changes, degrade=degrade)
        self.plan = Plan(
            scope=scope,
            changes=changes,
            provenance=provenance,
            outcome=outcome,
            made_at=self._clock(),
            since=self._since,
        )
        return outcome


class Plans:
    """The kept plans of all users. Beyond a bound the oldest are dropped."""

    def __init__(self, store: MemoryStore, same_user: KeyedLock, clock: Clock) -> None:
        """`same_user` is held by every add of a user."""
        self._store = store
        self._same_user = same_user
        self._clock = clock
        self._kept: dict[PlanId, Plan] = {}

    async def rehearsal(self, scope: Scope) -> Rehearsal:
        """A committer for changes that are to be planned only, for one user. Get it before reading memories."""
        newest = (await self._store.changes(scope.owner, limit=1)).changes
        return Rehearsal(self._store, self._clock, newest[0].place if newest else 0)

    def keep(self, rehearsal: Rehearsal) -> Rehearsed:
        """What was worked out, with the id of its plan; without one when nothing would change."""
        plan = rehearsal.plan
        if plan is None or not plan.outcome:
            return Rehearsed(plan_id=None, applied=())
        self._drop_old()
        plan_id = new_plan_id()
        self._kept[plan_id] = plan
        while len(self._kept) > 1 and (len(self._kept) > MOST_PLANS or self._size() > MOST_CHANGES):
            del self._kept[next(iter(self._kept))]
        return Rehearsed(plan_id=plan_id, applied=plan.outcome)

    async def apply(self, project: Project, plan_id: PlanId, user: str | None = None) -> list[Applied]:
        """Make the changes of a plan, once. Raises NotFound, and Conflict (`plan_outdated`) with nothing written."""
        self._drop_old()
        plan = self._kept.get(plan_id)
        if plan is None or not _is_of(plan.scope, project, user):
            raise NotFound(
                f"There is no plan {plan_id[:128]!r} here. A plan is kept for ten minutes; ask for it anew.",
                code="plan_not_found",
            )
        try:
            async with self._same_user.hold(plan.scope.owner):
                await self._check_newer_facts(plan)
                applied = await self._store.commit(plan.scope, plan.changes, plan.provenance, expected=plan.outcome)
        except StaleChange:
            raise Conflict(
                f"Memories of {plan_id} were changed or added since it was made. Ask for the plan anew.",
                code="plan_outdated",
            ) from None
        self._kept.pop(plan_id, None)
        return applied

    def forget(self, scope: Scope) -> None:
        """Drop the plans of the scope's user, which quote words."""
        self._kept = {key: plan for key, plan in self._kept.items() if plan.scope.owner != scope.owner}

    async def _check_newer_facts(self, plan: Plan) -> None:
        """Raise StaleChange where a fact that was stored since settles one of the plan."""
        texts, now = plan.texts, Visible(now=self._clock())
        own = {one.target for one in plan.changes if isinstance(one, Update | Remove)}
        stored = [row async for row in self._rows_since(plan) if row.memory_id not in own] if texts else []
        if len(stored) * len(texts) > _MOST_COMPARED:
            raise StaleChange("Too much was stored since the plan was made.")
        told = [row.new_text or "" for row in stored]
        with speaking_as([plan.scope.user, *await own_names(self._store, plan.scope, [*texts, *told], now)]):
            places = await asyncio.to_thread(_decisive_places, told, texts)
        for place in places:
            memory = await self._store.get(plan.scope, stored[place].memory_id)
            if memory and memory.kind == "fact" and memory.valid_to is None and memory.text == told[place]:
                raise StaleChange(f"Memory {memory.id} settles a fact of the plan.")

    async def _rows_since(self, plan: Plan) -> AsyncIterator[ChangedMemory]:
        """What commits since then added or rewrote, newest first."""
        before: int | None = None
        while True:
            page = await self._store.changes(plan.scope.owner, limit=_PAGE, before=before)
            for change in page.changes:
                if change.place <= plan.since:
                    return
                for row in change.rows:
                    if row.new_text is not None and row.new_text != row.old_text:
                        yield row
            if page.next is None:
                return
            before = page.next

    def _drop_old(self) -> None:
        since = self._clock() - KEPT
        self._kept = {key: plan for key, plan in self._kept.items() if plan.made_at > since}

    def _size(self) -> int:
        return sum(len(plan.changes) for plan in self._kept.values())


def _decisive_places(stored: Sequence[str], texts: Sequence[str]) -> list[int]:
    """The places of those that settle one of the texts."""
    return [place for place, told in enumerate(stored) if any(settles(told, text) for text in texts)]


def _is_of(scope: Scope, project: Project, user: str | None) -> bool:
    return (scope.tenant, scope.project) == (project.tenant, project.project) and user in (None, scope.user)
