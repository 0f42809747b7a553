"""The holding of proposals: forgetting, counting, ending, exporting and importing them.

It comes behind the facts in the list of holdings: a proposal that quotes a forgotten memory is known by that memory.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from mnemoir.core.ids import MemoryId, ProposalId, new_memory_id, new_proposal_id
from mnemoir.core.proposals import Proposal
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decide.personal import FactPolicy
from mnemoir.memory.facts.review.queue import Review
from mnemoir.ports.holdings import Amounts, OpenHolding, Rehearsed
from mnemoir.ports.memory_store import MemoryStore, Project
from mnemoir.ports.proposals import ProposalStore

PROPOSAL = "proposal"


def holding_of_proposals(review: Review, store: MemoryStore, queue: ProposalStore) -> OpenHolding:
    """The holding of proposals. They are in no count of memories."""

    async def forget(scope: Scope) -> Amounts:
        await review.forget(scope)
        return {}

    async def expire(dry_run: bool) -> Amounts:
        return {"proposals": await queue.expire(dry_run=dry_run)}

    async def counts() -> Amounts:
        return {"proposals": await queue.total()}

    return OpenHolding(
        name=PROPOSAL,
        forget=forget,
        counts=counts,
        exchange=ProposalExchange(store, queue, review.personal),
        expire=expire,
    )


class ProposalExchange:
    """Exports and imports `Proposal`. The turns that they came from stay behind."""

    def __init__(self, store: MemoryStore, queue: ProposalStore, personal: FactPolicy) -> None:
        self._store = store
        self._queue = queue
        self._personal = personal

    async def users(self, project: Project) -> Sequence[Scope]:
        """The users who have proposals."""
        return await self._queue.users(project)

    async def pages(self, owner: Scope) -> AsyncIterator[Sequence[Proposal]]:
        """All proposals of the owner, oldest first, as one page."""
        if proposals := await self._queue.all(owner):
            yield proposals

    async def add(self, owner: Scope, records: Sequence[Proposal]) -> int:
        """Add one user's proposals, unless they wait already; return how many are new."""
        fresh = await self._fresh(owner, records)
        memories = await self._personal.memories(owner, [one.memory for one in fresh])
        return await self._queue.add(
            owner, [replace(one, memory=memory) for one, memory in zip(fresh, memories, strict=True)]
        )

    async def rehearse(self, owner: Scope, records: Sequence[Proposal]) -> Rehearsed:
        """How many `add` would add; writes nothing."""
        return Rehearsed(plan_id=None, applied=(), others=len(await self._fresh(owner, records)))

    async def _fresh(self, owner: Scope, records: Sequence[Proposal]) -> list[Proposal]:
        """The proposals to add. An id of "", or one of another user, is replaced by a new one, also of a memory."""
        waiting = await self._queue.all(owner)
        ids, known = {one.id for one in waiting}, {_identity_of(one) for one in waiting}
        project = Project(tenant=owner.tenant, project=owner.project)
        fresh: list[Proposal] = []
        for record in records:
            if record.id in ids or _identity_of(record) in known:
                continue
            if record.event == "ADD" and await self._is_of_another(owner, record.memory.id):
                record = replace(record, memory=replace(record.memory, id=new_memory_id()))
            is_free = record.id != "" and await self._queue.find(project, record.id) is None
            fresh.append(record if is_free else replace(record, id=new_proposal_id()))
            known.add(_identity_of(record))
            ids |= {record.id} if record.id else set[ProposalId]()
        return fresh

    async def _is_of_another(self, owner: Scope, memory_id: MemoryId) -> bool:
        holder = await self._store.locate(Project(tenant=owner.tenant, project=owner.project), memory_id)
        return holder is not None and holder.user != owner.user


def _identity_of(proposal: Proposal) -> tuple[str, MemoryId | None, bytes]:
    """What makes two proposals the same: event, target and hash of the text."""
    return proposal.event, proposal.target, content_hash(proposal.memory.text)
