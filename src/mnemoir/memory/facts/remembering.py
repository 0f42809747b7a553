"""Turns facts into a commit: settles known facts, lets the model decide the rest, writes it in one step.

The store may change while the model works. If a target has changed at the commit, the decision is made once more on
the new state; the second time an update of a missing target becomes an add.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from mnemoir.core.clock import Clock, to_text
from mnemoir.core.ids import new_memory_id
from mnemoir.core.memories import (
    Add,
    Applied,
    Change,
    Hit,
    IndexEntry,
    Memory,
    Provenance,
    Remove,
    SourceTurn,
    Update,
)
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.conversation import past
from mnemoir.memory.facts.decay import expired, visible_now
from mnemoir.memory.facts.defences import Plan, defend
from mnemoir.memory.facts.extraction import Exchange
from mnemoir.memory.facts.reconciliation import Candidate, Proposal, candidates_of, propose, sort_exact, sort_near
from mnemoir.memory.facts.requests import AddRequest, FactSettings, Turn
from mnemoir.memory.facts.secrets import without_secret
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Committer, MemoryStore, StaleChange, Visible
from mnemoir.ports.project_settings import ProjectSettings
from mnemoir.search.indexing import Indexing, fact_passage
from mnemoir.search.recall import Recall

_log = structlog.get_logger(__name__)
_NEAREST = 10  # memories looked at beside each new fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A stored memory and its new text; an unchanged text only renews it."""

    memory: Memory
    text: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """All changes of one add. `removes` name the add, by index, that replaces the memory."""

    adds: Sequence[str] = ()
    rewrites: Sequence[Rewrite] = ()
    removes: Sequence[tuple[Memory, int | None]] = ()
    renewed: Sequence[Memory] = ()  # hidden memories that were stated again

    def texts(self) -> list[str]:
        """Every text to be stored, in the order in which `changes` takes their entries."""
        return [*self.adds, *(rewrite.text for rewrite in self.rewrites), *(memory.text for memory in self.renewed)]

    def passages(self) -> list[Passage]:
        """The texts as passages to embed: a fact has no context."""
        return [fact_passage(text) for text in self.texts()]


def decided(
    plan: Plan, candidates: Sequence[Candidate], *, touched: Sequence[Memory], renewed: Sequence[Memory]
) -> Decided:
    """The plan over its candidates, together with the changes settled without a model."""
    return Decided(
        adds=plan.adds,
        rewrites=[
            *(Rewrite(memory=candidates[at].memory, text=text, reason="reconciled") for at, text in plan.updates),
            *(Rewrite(memory=memory, text=memory.text, reason="mentioned_again") for memory in touched),
        ],
        removes=[(candidates[at].memory, add) for at, add in plan.removes],
        renewed=renewed,
    )


def changes(
    decision: Decided, entries: Sequence[IndexEntry], scope: Scope, request: AddRequest, now: datetime
) -> list[Change]:
    """The changes of the commit: the adds first and in order, so that removes can refer to them by index."""
    rest = iter(entries)
    adds = [Add(memory=_fact(text, scope, request, now), entry=next(rest)) for text in decision.adds]
    rewrites = [_update(rewrite, next(rest)) for rewrite in decision.rewrites]
    renewals: list[Change] = []
    for memory in decision.renewed:
        renewals += _renewal(memory, next(rest), scope, request, now)
    removes = [
        Remove(target=memory.id, expected=memory.text, replaced_by=add, reason="superseded")
        for memory, add in decision.removes
    ]
    return [*adds, *rewrites, *renewals, *removes]


def _update(rewrite: Rewrite, entry: IndexEntry) -> Update:
    return Update(
        target=rewrite.memory.id,
        expected=rewrite.memory.text,
        text=rewrite.text,
        entry=entry,
        reason=rewrite.reason,
    )


def _renewal(memory: Memory, entry: IndexEntry, scope: Scope, request: AddRequest, now: datetime) -> list[Change]:
    """Renew a decayed memory; replace an expired one by a new memory, since its expiry date is past."""
    reason = "exact_duplicate_revived"
    if not expired(memory, now):
        return [Update(target=memory.id, expected=memory.text, text=memory.text, entry=entry, reason=reason)]
    gone = Remove(target=memory.id, expected=memory.text, reason=reason)
    return [gone, Add(memory=_fact(memory.text, scope, request, now), entry=entry, reason=reason)]


def _fact(text: str, scope: Scope, request: AddRequest, now: datetime) -> Memory:
    known_at = to_text(past(request.said_at, now))
    return Memory(
        id=new_memory_id(),
        text=text,
        user=scope.user,
        created_at=known_at,
        updated_at=known_at,
        metadata=request.metadata,
        agent=scope.agent,
        app=scope.app,
        conversation=scope.conversation,
        expires_on=request.expires_on,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """The facts of one add, the turns they came from, and the exchange that found them."""

    scope: Scope
    request: AddRequest
    turns: Sequence[Turn]
    facts: Sequence[str]
    exchange: Exchange
    project: ProjectSettings


class Remembering:
    """Writes learned facts to the store. The caller ensures that one user's adds do not overlap."""

    def __init__(
        self, *, store: MemoryStore, recall: Recall, indexing: Indexing, defaults: FactSettings, clock: Clock
    ) -> None:
        self._store = store
        self._recall = recall
        self._indexing = indexing
        self._defaults = defaults
        self._clock = clock

    async def take(self, learned: Learned, model_name: str, committer: Committer) -> list[Applied]:
        """Commit the facts; return the changes in the order applied. Raises ProviderError and StorageUnavailable."""
        sources = await asyncio.to_thread(_sources, learned.turns)
        provenance = Provenance(reason="extracted", model=model_name, turns=sources, session=learned.request.session)
        try:
            return await self._commit(committer, learned, provenance, degrade=False)
        except StaleChange:
            _log.info("memories changed while the model was deciding, deciding anew")
        return await self._commit(committer, learned, provenance, degrade=True)

    async def _commit(
        self, committer: Committer, learned: Learned, provenance: Provenance, *, degrade: bool
    ) -> list[Applied]:
        decision = await self._decide(learned)
        entries = await self._indexing.entries(decision.passages())
        wanted = changes(decision, entries, learned.scope, learned.request, self._clock())
        receipt = learned.request.receipt
        if not wanted and receipt is None:
            return []
        return await committer.commit(learned.scope, wanted, provenance, receipt=receipt, degrade=degrade)

    async def _decide(self, learned: Learned) -> Decided:
        visible = visible_now(self._defaults.decay_days, learned.project, self._clock())
        hashes = [content_hash(fact) for fact in learned.facts]
        exact = sort_exact(learned.facts, await self._store.same_text(learned.scope, hashes), visible)
        near = await self._nearest(learned.scope, exact.fresh, visible)
        told = sort_near(exact.fresh, near)
        candidates = candidates_of(told.fresh, told.near, self._defaults.alike_floor)
        proposals = await propose(learned.exchange, told.fresh, candidates, self._defaults.answer_tokens)
        plan = await self._defended(learned.scope, told.fresh, candidates, proposals, visible)
        known = [*exact.known, *told.known, *(candidates[at].memory for at in plan.known)]
        touched = _once(known, plan, candidates) if self._defaults.touch_on_none else []
        return decided(plan, candidates, touched=touched, renewed=exact.hidden)

    async def _nearest(self, scope: Scope, facts: Sequence[str], visible: Visible) -> list[list[Hit]]:
        return await self._recall.nearest(scope, facts, visible, k=_NEAREST) if facts else []

    async def _defended(
        self,
        scope: Scope,
        facts: Sequence[str],
        candidates: Sequence[Candidate],
        proposals: Sequence[Proposal],
        visible: Visible,
    ) -> Plan:
        """The plan; a text that a memory not shown to the model already has is not used for another one."""
        texts = [content_hash(proposal.text) for proposal in proposals]
        taken = await self._store.same_text(scope, texts) if texts else {}
        total = await self._store.count(scope.owner, Visible(now=visible.now)) if proposals else 0
        # a hundred facts against three hundred proposals take a third of a second
        plan = await asyncio.to_thread(defend, facts, candidates, proposals, total=total, taken=taken.keys())
        refused = {name: count for name, count in plan.refused.items() if count}
        if refused:
            _log.info("proposals refused", **refused)
        return plan


def _once(known: Sequence[Memory], plan: Plan, candidates: Sequence[Candidate]) -> list[Memory]:
    """The memories stated again, each once, without those that the plan changes."""
    changed = {candidates[at].memory.id for at, _ in (*plan.updates, *plan.removes)}
    return list({memory.id: memory for memory in known if memory.id not in changed}.values())


def _sources(turns: Sequence[Turn]) -> list[SourceTurn]:
    return [_source(turn) for turn in turns]


def _source(turn: Turn) -> SourceTurn:
    said_at = to_text(turn.said_at) if turn.said_at else None
    text = without_secret(turn.text)
    return SourceTurn(role=turn.role, text=text, speaker=turn.speaker, said_at=said_at, message_uid=turn.message_uid)
