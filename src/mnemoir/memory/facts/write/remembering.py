"""Turns facts into a commit: settles known facts, lets the model decide the rest, writes it in one step.

The store may change while the model works. If a target has changed at the commit, the decision is made once more on
the new state; the second time an update of a missing target becomes an add.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from mnemoir.core.clock import Clock, to_text
from mnemoir.core.ids import new_memory_id
from mnemoir.core.memories import (
    Add,
    Applied,
    Change,
    IndexEntry,
    Memory,
    Origin,
    Provenance,
    Remove,
    SourceTurn,
    Update,
)
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decide.decay import is_expired, visible_now
from mnemoir.memory.facts.decide.defences import Plan, defend, may_be_many
from mnemoir.memory.facts.decide.grounds import touched_by
from mnemoir.memory.facts.decide.neighbours import neighbours_of, own_names
from mnemoir.memory.facts.decide.personal import FactPolicy
from mnemoir.memory.facts.decide.reconciliation import (
    Candidate,
    Proposal,
    candidates_of,
    propose,
    sort_exact,
    sort_near,
)
from mnemoir.memory.facts.decide.timeline import State, in_time, is_late, latest_of
from mnemoir.memory.facts.decide.witness import Witnesses
from mnemoir.memory.facts.extract.extraction import Exchange
from mnemoir.memory.facts.extract.requests import AddRequest, AddResult, FactSettings, Statement, Turn, undated_in
from mnemoir.memory.facts.reading.own_name import speaking_as
from mnemoir.memory.facts.review.gate import UNCONFIRMED, is_waiting, texts_of
from mnemoir.memory.facts.review.instructions import SUSPECTED
from mnemoir.memory.facts.review.queue import Review
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Committer, MemoryStore, StaleChange, Visible
from mnemoir.ports.project_settings import ProjectSettings
from mnemoir.privacy.secrets import without_secret
from mnemoir.search.indexing import Indexing, fact_passage
from mnemoir.search.recall import Recall

_log = structlog.get_logger(__name__)
_UNSURE = "unsure"  # the reason of a fact that may come from code, a quote or irony


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """All changes of one add: texts to store, memories that were told again, and hidden ones that were.

    `known` are those told again, whether that renews them or not.
    """

    known: Sequence[Memory] = ()
    states: Sequence[State] = ()
    touched: Sequence[tuple[Memory, datetime | None]] = ()
    renewed: Sequence[tuple[Memory, datetime | None]] = ()

    def passages(self) -> list[Passage]:
        """The texts to be stored as passages to embed, in the order in which `changes` takes their entries."""
        texts = [state.text for state in self.states] + [memory.text for memory, _ in (*self.touched, *self.renewed)]
        return [fact_passage(text) for text in texts]


def changes(
    decision: Decided, entries: Sequence[IndexEntry], scope: Scope, request: AddRequest, now: datetime
) -> list[Change]:
    """The changes of the commit: the adds first, so that removes can refer to them, and past states last."""
    rest = iter(entries)
    of_state = [(state, next(rest)) for state in decision.states]
    adds: dict[State, Add] = {}
    rewrites: list[Change] = []
    for state, entry in of_state:
        if state.rewrites:
            reason = "reconciled" if state.is_sure else _UNSURE
            update = _update(state.rewrites, state.text, entry, reason, state.said_at)
            rewrites.append(update if state.origin == "user" else replace(update, origin=state.origin))
        elif state.past_of is None:
            fact = _fact(state.text, scope, request, state.said_at or now, state.origin)
            adds[state] = Add(memory=fact, entry=entry, reason=_reason_of(state))
    rewrites += [_update(memory, memory.text, next(rest), "mentioned_again", at) for memory, at in decision.touched]
    renewals: list[Change] = []
    for memory, at in decision.renewed:
        renewals += _renewal(memory, next(rest), scope, request, (at, now))
    places = {state: place for place, state in enumerate(adds)}
    removes = [
        Remove(
            target=memory.id,
            expected=memory.text,
            replaced_by=places.get(state),
            reason="superseded",
            at=_text(state.said_at),
        )
        for state in decision.states
        for memory in state.removes
    ]
    past = [_past_state(state, entry, adds, scope, request, now) for state, entry in of_state if state.past_of]
    return [*adds.values(), *rewrites, *renewals, *removes, *past]


def _reason_of(state: State) -> str:
    """The reason of an added fact."""
    if state.is_suspected or state.is_unconfirmed:
        return SUSPECTED if state.is_suspected else UNCONFIRMED
    return "extracted" if state.is_sure else _UNSURE


def _past_state(
    state: State, entry: IndexEntry, adds: Mapping[State, Add], scope: Scope, request: AddRequest, now: datetime
) -> Add:
    by = state.successor
    successor = by.rewrites or adds[by].memory if isinstance(by, State) else by
    fact = _fact(state.text, scope, request, state.since or now, state.origin)
    return Add(memory=replace(fact, valid_to=to_text(state.until or now), replaced_by=successor.id), entry=entry)


def _update(memory: Memory, text: str, entry: IndexEntry, reason: str, said_at: datetime | None) -> Update:
    return Update(target=memory.id, expected=memory.text, text=text, entry=entry, reason=reason, at=_text(said_at))


def _renewal(
    memory: Memory, entry: IndexEntry, scope: Scope, request: AddRequest, times: tuple[datetime | None, datetime]
) -> list[Change]:
    """Renew a decayed memory; replace an expired one by a new memory, since its expiry date is past."""
    reason, (said_at, now) = "exact_duplicate_revived", times
    if not is_expired(memory, now):
        return [_update(memory, memory.text, entry, reason, said_at)]
    gone = Remove(target=memory.id, expected=memory.text, reason=reason)
    fact = _fact(memory.text, scope, request, said_at or now, memory.given_origin)
    return [gone, Add(memory=fact, entry=entry, reason=reason)]


def _text(said_at: datetime | None) -> str | None:
    return None if said_at is None else to_text(said_at)


def _fact(text: str, scope: Scope, request: AddRequest, said_at: datetime, origin: Origin | None = None) -> Memory:
    known_at = to_text(said_at)
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
        given_origin=None if origin == "user" else origin,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """The facts of one add, the turns they came from, and the exchange that found them."""

    scope: Scope
    request: AddRequest
    turns: Sequence[Turn]
    facts: Sequence[Statement]
    exchange: Exchange
    project: ProjectSettings

    def apart(self) -> tuple["Learned", Sequence[Statement]]:
        """What may change memories, and the facts that are only added beside them."""
        outside = [fact for fact in self.facts if fact.is_outside]
        return (replace(self, facts=[fact for fact in self.facts if not fact.is_outside]), outside)


class Remembering:
    """Writes learned facts to the store. The caller ensures that one user's adds do not overlap."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        review: Review,
        recall: Recall,
        indexing: Indexing,
        defaults: FactSettings,
        personal: FactPolicy,
        clock: Clock,
    ) -> None:
        self._review = review
        self._store = store
        self._recall = recall
        self._indexing = indexing
        self._defaults = defaults
        self._personal = personal
        self._clock = clock

    async def take(self, learned: Learned, model_name: str, committer: Committer) -> AddResult:
        """Commit the facts. Raises ProviderError and StorageUnavailable."""
        sources = await asyncio.to_thread(_sources, learned.turns)
        provenance = Provenance(reason="extracted", model=model_name, turns=sources, session=learned.request.session)
        try:
            return await self._commit(committer, learned, provenance, degrade=False)
        except StaleChange:
            _log.info("memories changed while the model was deciding, deciding anew")
        return await self._commit(committer, learned, provenance, degrade=True)

    async def _commit(
        self, committer: Committer, learned: Learned, provenance: Provenance, *, degrade: bool
    ) -> AddResult:
        settled, outside = learned.apart()
        decision = await self._decide(settled)
        decision = replace(decision, states=[*decision.states, *map(_state_beside, outside)])
        entries = await self._indexing.entries(decision.passages())
        wanted = changes(decision, entries, learned.scope, learned.request, self._clock())
        tagged = await self._personal.changes_with_tags(learned.scope, wanted)
        receipt = learned.request.receipt
        applied: Sequence[Applied] = ()
        if wanted or receipt is not None:
            applied = await committer.commit(learned.scope, tagged, provenance, receipt=receipt, degrade=degrade)
        return AddResult(applied=applied, facts_found=True, usage=learned.exchange.usage, known=decision.known)

    async def _decide(self, learned: Learned) -> Decided:
        visible = visible_now(self._defaults.decay_days, learned.project, self._clock())
        with speaking_as([learned.scope.user]), ExitStack() as named:
            return await self._decide_as(learned, visible, named)

    async def _decide_as(self, learned: Learned, visible: Visible, named: ExitStack) -> Decided:
        """The changes; where facts or memories begin with a name, and it is the user's, `named` lets it be theirs."""
        said_at = {content_hash(fact.text): fact.said_at for fact in learned.facts}
        waiting = texts_of(await self._review.waiting(learned.scope))
        texts = [fact.text for fact in learned.facts if not is_waiting(fact.text, waiting)]
        exact = sort_exact(texts, await self._store.same_text(learned.scope, list(map(content_hash, texts))), visible)
        named.enter_context(speaking_as(await own_names(self._store, learned.scope, texts, visible)))
        near = await neighbours_of(self._recall, learned.scope, exact.fresh, visible)
        stored = [hit.memory.text for hits in near for hit in hits]
        named.enter_context(speaking_as(await own_names(self._store, learned.scope, stored, visible)))
        told = sort_near(exact.fresh, near)
        candidates = candidates_of(told.fresh, told.near, self._defaults.alike_floor)
        proposals = await propose(learned.exchange, told.fresh, candidates, self._defaults.answer_tokens)
        witnesses = await self._witnesses(learned, told.fresh, candidates, proposals)
        plan = await self._make_plan(learned.scope, told.fresh, candidates, proposals, visible, witnesses)
        known = [*exact.known, *told.known, *(candidates[at].memory for at in plan.known)]
        known = _once(known, plan, candidates)
        facts = learned.request.date(learned.facts)
        latest, is_past, undated = latest_of(facts), learned.request.is_past, undated_in(learned.request.metadata)

        def told_again(memories: Sequence[Memory]) -> list[tuple[Memory, datetime | None]]:
            told = [(memory, said_at.get(content_hash(memory.text), latest)) for memory in memories]
            return [(memory, at) for memory, at in told if not (is_past and is_late(at, memory, undated))]

        return Decided(
            known=known,
            states=await asyncio.to_thread(in_time, plan, candidates, facts, is_past=is_past),
            touched=told_again(known if self._defaults.touch_on_none else []),
            renewed=told_again(exact.hidden),
        )

    async def _witnesses(
        self, learned: Learned, facts: Sequence[str], candidates: Sequence[Candidate], proposals: Sequence[Proposal]
    ) -> Witnesses | None:
        """What the user says for the facts; None without facts."""
        if not facts:
            return None
        if learned.exchange.is_offline:
            return Witnesses(learned.turns, learned.request.context, are_read_by_rule=True)
        witnesses = Witnesses(learned.turns, learned.request.context)
        pairs = await asyncio.to_thread(witnesses.questions, facts, touched_by(facts, candidates, proposals))
        return witnesses.with_likeness(await self._recall.likeness(pairs)) if pairs else witnesses

    async def _make_plan(
        self,
        scope: Scope,
        facts: Sequence[str],
        candidates: Sequence[Candidate],
        proposals: Sequence[Proposal],
        visible: Visible,
        witnesses: Witnesses | None,
    ) -> Plan:
        """The plan; a text that a memory not shown to the model already has is not used for another one."""
        new = frozenset(facts)  # these no memory has
        texts = [content_hash(proposal.text) for proposal in proposals if proposal.text not in new]
        taken = await self._store.same_text(scope, texts) if texts else {}
        total = await self._store.count(scope.owner, Visible(now=visible.now)) if may_be_many(proposals) else 0
        # a hundred facts against three hundred proposals take a third of a second
        plan = await asyncio.to_thread(
            defend, facts, candidates, proposals, total=total, taken=taken.keys(), witnesses=witnesses
        )
        refused = {name: count for name, count in plan.refused.items() if count}
        if refused:
            _log.info("proposals refused", **refused)
        return plan


def _state_beside(fact: Statement) -> State:
    return State(
        text=fact.text,
        said_at=fact.said_at,
        is_sure=fact.is_sure,
        origin=fact.origin,
        is_suspected=fact.is_suspected,
    )


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
