"""Plans: changes that were worked out and not made, with what they would do.

A plan is applied as it is, or refused: what it would do is worked out once more within the commit, and must be the
same. Plans are kept in memory, for ten minutes, and go with what they quote when that is forgotten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mnemoir.core.clock import Clock
from mnemoir.core.errors import Conflict, NotFound
from mnemoir.core.ids import PlanId, new_plan_id
from mnemoir.core.memories import Applied, Change, Provenance
from mnemoir.core.proposals import NO_STEP, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import Rehearsed
from mnemoir.ports.memory_store import MemoryStore, Project, Receipt, StaleChange

KEPT = timedelta(minutes=10)
MOST_PLANS = 100
MOST_CHANGES = 20_000  # of all plans: a change holds the vectors of its text


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The changes of a commit, and what they did when they were worked out."""

    scope: Scope
    changes: Sequence[Change]
    provenance: Provenance
    outcome: Sequence[Applied]
    made_at: datetime


class Rehearsal:
    """A committer that works out what a commit would do, and writes nothing."""

    def __init__(self, store: MemoryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
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
        self.plan = Plan(scope=scope, changes=changes, provenance=provenance, outcome=outcome, made_at=self._clock())
        return outcome


class Plans:
    """The kept plans of all users. Beyond a bound the oldest are dropped."""

    def __init__(self, store: MemoryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._kept: dict[PlanId, Plan] = {}

    def rehearsal(self) -> Rehearsal:
        """A committer for changes that are to be planned only."""
        return Rehearsal(self._store, self._clock)

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
            applied = await self._store.commit(plan.scope, plan.changes, plan.provenance, expected=plan.outcome)
        except StaleChange:
            raise Conflict(
                f"Memories of {plan_id} were changed since it was made. Ask for the plan anew.", code="plan_outdated"
            ) from None
        self._kept.pop(plan_id, None)
        return applied

    def forget(self, scope: Scope) -> None:
        """Drop the plans of the scope's user, which quote words."""
        self._kept = {key: plan for key, plan in self._kept.items() if plan.scope.owner != scope.owner}

    def _drop_old(self) -> None:
        since = self._clock() - KEPT
        self._kept = {key: plan for key, plan in self._kept.items() if plan.made_at > since}

    def _size(self) -> int:
        return sum(len(plan.changes) for plan in self._kept.values())


def _is_of(scope: Scope, project: Project, user: str | None) -> bool:
    return (scope.tenant, scope.project) == (project.tenant, project.project) and user in (None, scope.user)
