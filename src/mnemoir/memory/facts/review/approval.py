"""What the approval of proposals does to the memories that are stored by now, by the rules of any add.

The approved facts are taken as a person's word, so no model is asked: a memory that cannot hold beside one is closed,
and a fact that was said before such a memory belongs into the past.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from mnemoir.core.clock import from_text
from mnemoir.core.ids import MemoryId, ProposalId
from mnemoir.core.memories import Memory
from mnemoir.core.proposals import BY_HAND, Proposal
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decide import reconciliation
from mnemoir.memory.facts.decide.conflicts import contradictions
from mnemoir.memory.facts.decide.defences import defend
from mnemoir.memory.facts.decide.matters import contradicts
from mnemoir.memory.facts.decide.neighbours import neighbours_of, own_names
from mnemoir.memory.facts.decide.reconciliation import Candidate
from mnemoir.memory.facts.decide.timeline import State, in_time
from mnemoir.memory.facts.extract.requests import Statement, undated_in
from mnemoir.memory.facts.reading.own_name import speaking_as
from mnemoir.ports.memory_store import MemoryStore, Visible
from mnemoir.search.recall import Recall


class Approval:
    """Decides on approved proposals. Raises StorageUnavailable."""

    def __init__(self, store: MemoryStore, recall: Recall) -> None:
        self._store = store
        self._recall = recall

    async def states(
        self, scope: Scope, proposals: Sequence[Proposal], waiting: Sequence[Proposal], now: datetime
    ) -> Mapping[ProposalId, State]:
        """What each proposal of a current fact does when these are approved together.

        A memory whose end waits beside the fact that it gives way to is left to that proposal.
        """
        stating, visible = [one for one in proposals if _states(one)], Visible(now=now)
        if not stating:
            return {}
        texts = [one.memory.text for one in stating]
        with speaking_as([scope.user]):
            near = await neighbours_of(self._recall, scope, texts, visible)
        stored = {hit.memory.id: hit.memory for hits in near for hit in hits}
        own = await own_names(self._store, scope, [*texts, *(memory.text for memory in stored.values())], visible)
        added = {one.memory.id for one in stating}
        left = {one.target for one in proposals} | {one.target for one in waiting if one.successor in added}
        memories = [memory for memory in stored.values() if memory.id not in left]
        total = await self._store.count(scope.owner, visible)
        facts = [
            Statement(one.memory.text, _said_at(one), undated_in=undated_in(one.memory.metadata)) for one in stating
        ]
        with speaking_as([scope.user, *own]):
            states = await asyncio.to_thread(_decide, facts, memories, total)
        return {one.id: states[content_hash(one.memory.text)] for one in stating}

    async def runs(self, scope: Scope, proposals: Sequence[Proposal], now: datetime) -> list[list[Proposal]]:
        """The proposals in their order, cut so that no two of a run contradict each other."""
        stating = [place for place, one in enumerate(proposals) if _states(one)]
        memories = [proposals[place].memory for place in stating]
        own = await own_names(self._store, scope, [memory.text for memory in memories], Visible(now=now))
        with speaking_as([scope.user, *own]):
            pairs = await asyncio.to_thread(contradictions, memories)
        rivals = {stating[second]: stating[first] for first, second in pairs}  # the nearest one before each
        runs: list[list[Proposal]] = [[]]
        begin = 0
        for place, proposal in enumerate(proposals):
            if rivals.get(place, -1) >= begin:
                runs.append([])
                begin = place
            runs[-1].append(proposal)
        return runs


def _decide(facts: Sequence[Statement], memories: Sequence[Memory], total: int) -> dict[bytes, State]:
    """The states of the facts, by the hashes of their texts."""
    texts = [fact.text for fact in facts]
    rivals = [memory for memory in memories if any(contradicts(text, memory.text) for text in texts)]
    candidates = [Candidate(memory=memory, cosines=(None,) * len(texts)) for memory in rivals]
    ends = [reconciliation.Proposal(event="DELETE", at=at, text="") for at in range(len(rivals))]
    plan = defend(texts, candidates, ends, total=total)
    return {content_hash(state.text): state for state in in_time(plan, candidates, facts)}


def _states(proposal: Proposal) -> bool:
    memory = proposal.memory
    return proposal.event != "DELETE" and memory.kind == "fact" and memory.valid_to is None


def _said_at(proposal: Proposal) -> datetime | None:
    """When the proposed text was said; None for now, when a person gave it."""
    if proposal.reason == BY_HAND:
        return None
    is_add = proposal.event == "ADD"
    return from_text(proposal.memory.created_at if is_add else proposal.at or proposal.proposed_at)


def successor_of(state: State, proposals: Sequence[Proposal]) -> MemoryId | None:
    """The id of what is current of the states that followed; None where nothing did."""
    follower = state.successor
    if isinstance(follower, Memory):
        return follower.id
    hashed = content_hash(follower.text)
    return next(
        (one.memory.id for one in proposals if _states(one) and content_hash(one.memory.text) == hashed), None
    )
