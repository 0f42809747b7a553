"""The interface of fact memory for the rest of the program: add, search, page, delete, history.

An add asks the model without locking the store. Adds of one user are serialised from reading stored memories to the
commit, so that a conversation sent by several callers at once is remembered once; other users do not wait.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.events import Reply, Usage
from mnemoir.core.ids import MemoryId, PlanId
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.core.memories import FOREIGN, Add, HistoryEntry, Hit, Memory, Origin, Provenance
from mnemoir.core.messages import ModelRequest
from mnemoir.core.scope import Scope
from mnemoir.core.text import CONTEXT_MESSAGES, content_hash
from mnemoir.core.zones import first_zone
from mnemoir.memory.facts.decide.confidence import with_certainty
from mnemoir.memory.facts.decide.conflicts import conflicts
from mnemoir.memory.facts.decide.decay import visible_now
from mnemoir.memory.facts.decide.matters import stated_names
from mnemoir.memory.facts.decide.personal import FactPolicy
from mnemoir.memory.facts.decide.repairing import repaired_fact
from mnemoir.memory.facts.decide.resemblance import NEAR, Duplicates, duplicate_groups
from mnemoir.memory.facts.decide.wordings import each_once, tells_anew, wordings_of_one
from mnemoir.memory.facts.extract.conversation import (
    messages,
    outside,
    passages,
    turns_before,
    turns_for_extraction,
    turns_of_user,
)
from mnemoir.memory.facts.extract.extraction import Exchange, Speaking, extract, extraction_policy, outside_policy
from mnemoir.memory.facts.extract.requests import (
    MOST_FACTS,
    NOTHING_FOUND,
    AddRequest,
    AddResult,
    FactSettings,
    ModelCalls,
    Statement,
    TokenLimits,
    Turn,
    earlier_result,
    unknown_memory,
)
from mnemoir.memory.facts.reading.changes import with_new_states
from mnemoir.memory.facts.reading.own_name import speaking_as
from mnemoir.memory.facts.reading.repairs import is_repair
from mnemoir.memory.facts.review.gate import Gate
from mnemoir.memory.facts.review.instructions import SUSPECTED, is_suspected
from mnemoir.memory.facts.review.quarantine import gives_orders, looked_through
from mnemoir.memory.facts.review.queue import Review
from mnemoir.memory.facts.write.batches import Batches
from mnemoir.memory.facts.write.curation import Curation
from mnemoir.memory.facts.write.plans import Plans
from mnemoir.memory.facts.write.remembering import Learned, Remembering
from mnemoir.memory.facts.write.undoing import Undoing
from mnemoir.ports.llm import ChatModel
from mnemoir.ports.memory_store import Committer, ListFilter, MemoryStore, Project, Visible
from mnemoir.ports.project_settings import ProjectSettings, ProjectSettingsStore
from mnemoir.ports.proposals import ProposalStore
from mnemoir.privacy.handling import PersonalData
from mnemoir.search.indexing import Indexing
from mnemoir.search.linked import with_linked_hits
from mnemoir.search.links.walk import places_of
from mnemoir.search.recall import Question, Recall, SearchResult

MOST_COMPARED = 10_000
_MOST_REPAIRED = 20  # facts of an add of which one may be repaired
_MOST_WORDINGS = 200  # hits that are looked at for others
_FEW_HITS = 16  # are compared without a thread: each takes half a millisecond at its first time, then hundredths


class Facts:
    """Fact memory. Raises InvalidRequest, ProviderError and StorageUnavailable."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        proposals: ProposalStore,
        recall: Recall,
        indexing: Indexing,
        model: Callable[[], ChatModel],
        project_settings: ProjectSettingsStore,
        defaults: FactSettings,
        personal: PersonalData | None = None,
        used: Callable[[Scope, ModelRequest, Reply], None] = lambda scope, request, reply: None,
        clock: Clock = utc_now,
    ) -> None:
        """`used` gets each answer of the model, and whose facts it is about, also when the add then fails."""
        self.personal = FactPolicy(personal, store)
        self.text_bound = defaults.text_bound
        self._same_user = KeyedLock()
        self.review = Review(
            store=store,
            queue=proposals,
            recall=recall,
            indexing=indexing,
            personal=self.personal,
            bound=self.text_bound,
            same_user=self._same_user,
            clock=clock,
        )
        self._remembering = Remembering(
            store=store,
            review=self.review,
            recall=recall,
            indexing=indexing,
            defaults=defaults,
            personal=self.personal,
            clock=clock,
        )
        self._store = store
        self._recall = recall
        self._indexing = indexing
        self._model = model
        self._project_settings = project_settings
        self._defaults = defaults
        self._used = used
        self._clock = clock
        self.curation = Curation(store, indexing, self.personal, self.text_bound, self._suspicion_of)
        self.undoing = Undoing(store, indexing)
        self.batches = Batches(store, indexing, self.personal, self.text_bound, self.undoing, self._same_user)
        self.plans = Plans(store, self._same_user, clock)
        self._same_request = KeyedLock()

    async def add(self, scope: Scope, request: AddRequest) -> AddResult:
        """Remember the turns of a request. Durable on return; all of it or, when an error is raised, nothing.

        A request whose receipt was used before gets the earlier answer; the same key over another request raises
        Conflict (`idempotency_mismatch`). A request under way with the same key is waited for.
        """
        if request.receipt is None:
            return await self._add(scope, request)
        async with self._same_request.hold((scope.owner, request.receipt.key)):
            earlier = await self._store.redeem(scope, request.receipt.key)
            if earlier is not None:
                return earlier_result(earlier, request.receipt)
            return await self._add(scope, request)

    async def rehearse(self, scope: Scope, request: AddRequest) -> tuple[AddResult, PlanId | None]:
        """What `add` would do, and the id of the plan that does it; None without changes. Writes nothing.

        Nothing of it is proposed: to apply the plan is a review.
        """
        rehearsal = await self.plans.rehearsal(scope)
        result = await self._add(scope, replace(request, receipt=None), rehearsal)
        return result, self.plans.keep(rehearsal).plan_id

    async def foreseen(self, scope: Scope, text: str, zone: str | None) -> list[str]:
        """The facts that an add of this user turn will find; [] with a language model, which is not asked twice."""
        turns, model = turns_for_extraction([Turn(role="user", text=text)]), self._model()
        if model.provider != "offline" or not turns:
            return []
        when = Speaking(zone=self._zone_of(await self._settings_of(scope), zone))
        found = await self._read(Exchange(model), extraction_policy(None), turns, when)
        return [fact.text for fact in found]

    def calls_for(self, sizes: Sequence[int]) -> ModelCalls:
        """The calls of a model that adds of single turns take, by the tokens of each; none with the rules."""
        model = self._model()
        if model.provider == "offline":
            return ModelCalls(model=model.name, least=0, most=0)
        least = sum(max(1, -(-size // self._defaults.window_tokens)) for size in sizes)
        others = 2 if self._defaults.quarantine == "model" else 1
        return ModelCalls(model=model.name, least=least, most=least + others * len(sizes))

    async def search(
        self,
        scope: Scope,
        text: str,
        *,
        limit: int,
        threshold: float = 0.0,
        among: ListFilter | None = None,
        before: Sequence[str] = (),
        within: TokenLimits | None = None,
    ) -> SearchResult:
        """Memories relevant to `text`, best first; with `among`, only those that this filter lists.

        `before` is what was said just before; `within` bounds the hits by their tokens. Of facts that say the same in
        other words the fullest is given, unless `among` names certain ones or asks for those that are hidden.
        """
        text, *before = await self.personal.query(scope, [text, *before])
        among = None if among is None else await self.personal.with_stored_words(scope, among)
        visible = await self.visible(scope) if among is None else among.visible
        question = Question(
            text=text,
            limit=limit,
            threshold=threshold,
            asked_at=visible.at or visible.now,
            before=before,
            among=among,
            shows_unlikely=self._defaults.recall_unlikely,
        )
        if among and (among.ids is not None or among.hidden != "without"):
            found = await self._recall.search(scope, question, visible)
            return _in_places(found, limit, within)
        while True:
            found = await self._recall.search(scope, question, visible)
            with speaking_as([scope.user, *stated_names(hit.memory.text for hit in found.hits)]):
                hits = (await _each_once(found.hits))[:limit]
                if len(hits) == limit or not len(found.hits) == question.limit < _MOST_WORDINGS:
                    return _in_places(replace(found, hits=hits), limit, within, are_once=True)
            question = replace(question, limit=2 * question.limit)  # others take the places of those left out

    async def page(self, scope: Scope, *, limit: int, offset: int = 0, at: datetime | None = None) -> list[Memory]:
        """A page of memories, newest first; with `at`, those current at that time."""
        return await self._store.page(scope, await self.visible(scope, at=at), limit=limit, offset=offset)

    async def count(self, scope: Scope, at: datetime | None = None) -> int:
        """The number of memories that `page` would return without a limit."""
        return await self._store.count(scope, await self.visible(scope, at=at))

    async def delete(self, project: Project, memory_id: MemoryId, user: str | None = None) -> MemoryId:
        """Remove one memory, decayed or not. Raises NotFound, also when `user` is given and not its owner."""
        scope = await self._store.locate(project, memory_id)
        owned = scope is not None and user in (None, scope.user)
        if scope is None or not owned or await self._store.delete(scope, memory_id) is None:
            raise unknown_memory(memory_id)
        return memory_id

    async def delete_all(self, scope: Scope) -> int:
        """Remove every memory of the scope, decayed ones too; return how many there were."""
        self.plans.forget(scope)
        return await self._store.delete_all(scope)

    async def forget_session(self, scope: Scope, session: str) -> int:
        """Erase the memories learned from this session alone, with their history; return how many."""
        self.plans.forget(scope)
        return await self._store.forget_session(scope, session)

    async def user_of(self, project: Project, memory_id: MemoryId) -> str | None:
        """Whose a memory is; None for a deleted one, and where there is none."""
        scope = await self._store.locate(project, memory_id)
        return None if scope is None else scope.user

    async def history(self, project: Project, memory_id: MemoryId, user: str | None = None) -> list[HistoryEntry]:
        """The history, oldest first; of a deleted memory only with its `user`; [] when the caller has none such."""
        owner = user or await self.user_of(project, memory_id)
        # not looked for elsewhere: what is there would take another time to answer than what is nowhere
        scope = Scope(tenant=project.tenant, project=project.project, user=owner or "")
        return [] if owner is None else await self._store.history(scope, memory_id)

    async def _add(self, scope: Scope, request: AddRequest, rehearsal: Committer | None = None) -> AddResult:
        request = await self.personal.request(scope, replace(request, context=turns_before(request.context)))
        if not request.infer:
            return await self._add_verbatim(scope, request, rehearsal)
        own = turns_of_user(request.turns, scope.user)
        turns, foreign = turns_for_extraction(own), outside(request.turns, self._defaults.learn_from)
        if not turns and not foreign:
            return await self._store_empty_result(scope, request, Usage())
        project = await self._settings_of(scope)
        model = self._model()
        exchange = Exchange(model, partial(self._used, scope))
        request = replace(request, zone=self._zone_of(project, request.zone))
        with speaking_as([scope.user]):
            facts = await self._read_facts(scope, exchange, turns, foreign, request, project.extraction_prompt)
        if not facts:
            empty = await self._store_empty_result(scope, request, exchange.usage)
            return replace(empty, left_out=exchange.left_out)
        facts = await self.personal.statements(scope, request, facts)
        facts = await looked_through(exchange, facts, self._defaults.quarantine)
        turns = [*turns, *foreign]
        learned = Learned(scope=scope, request=request, turns=turns, facts=facts, exchange=exchange, project=project)
        gate = self.review.gate(project.review or self._defaults.review)
        async with self._same_user.hold(scope.owner):
            result = await self._remembering.take(learned, model.name, rehearsal or gate)
        return replace(result, proposed=gate.proposed, dropped=gate.dropped, left_out=exchange.left_out)

    async def _read_facts(
        self,
        scope: Scope,
        exchange: Exchange,
        turns: Sequence[Turn],
        foreign: Sequence[Turn],
        request: AddRequest,
        prompt: str | None,
    ) -> list[Statement]:
        """The facts in what was said, then those that tools and documents alone tell, each of its own origin."""
        when = Speaking(said_at=request.said_at, zone=request.zone)
        before = replace(when, context=request.context)
        found = await self._read(exchange, extraction_policy(prompt), turns, before) if turns else []
        found = found or await self._repairs(scope, turns, request.said_at)
        facts = await asyncio.to_thread(with_certainty, found, turns)
        known = {content_hash(fact.text) for fact in facts}
        for turn in foreign:
            is_suspected = await asyncio.to_thread(gives_orders, turn)
            told = await self._read(exchange, outside_policy(prompt), [turn], when)
            fresh = [fact for fact in told if content_hash(fact.text) not in known]
            known |= {content_hash(fact.text) for fact in fresh}
            facts += [replace(fact, origin=turn.origin, is_suspected=is_suspected) for fact in fresh]
        return facts[:MOST_FACTS]

    async def _repairs(self, scope: Scope, turns: Sequence[Turn], said_at: datetime | None) -> list[Statement]:
        """The fact of the user's last add that a turn repairs ("No wait, Lyon."), with its new value; [] for none."""
        said = [with_new_states(turn.text.strip()) for turn in turns if turn.role == "user"]
        if len(said) != 1 or not is_repair(said[0]):
            return []
        visible = await self.visible(scope)
        newest = await self._store.page(scope, visible, limit=_MOST_REPAIRED)
        text = repaired_fact(newest, said[0], visible.now)
        return [Statement(text, said_at)] if text else []

    async def _read(self, exchange: Exchange, policy: str, turns: Sequence[Turn], when: Speaking) -> list[Statement]:
        return await extract(exchange, policy, turns, now=self._clock(), settings=self._defaults, when=when)

    async def _suspicion_of(self, scope: Scope, text: str, origin: Origin) -> tuple[bool, Gate]:
        """Whether a text that was told may be an instruction, as of an add, and the gate of its project."""
        project, exchange = await self._settings_of(scope), Exchange(self._model(), partial(self._used, scope))
        (fact,) = await asyncio.to_thread(with_certainty, [Statement(text)], [Turn(role="user", text=text)])
        (fact,) = await looked_through(exchange, [replace(fact, origin=origin)], self._defaults.quarantine)
        return fact.is_suspected, self.review.gate(project.review or self._defaults.review)

    async def _store_empty_result(self, scope: Scope, request: AddRequest, usage: Usage) -> AddResult:
        if request.receipt is not None:
            await self._store.commit(scope, [], Provenance(reason=NOTHING_FOUND), receipt=request.receipt)
        return AddResult(applied=[], facts_found=False, usage=usage)

    async def _add_verbatim(self, scope: Scope, request: AddRequest, rehearsal: Committer | None) -> AddResult:
        kept = messages(scope, request, self._clock())
        if not kept:
            return await self._store_empty_result(scope, request, Usage())
        before = await self._store.last_messages(scope, CONTEXT_MESSAGES)
        entries = await self._indexing.entries(passages(kept, before), are_messages=True)
        reasons = await asyncio.to_thread(lambda: [self._reason_of(memory) for memory in kept])
        adds = [
            Add(memory=memory, entry=entry, reason=reason)
            for memory, entry, reason in zip(kept, entries, reasons, strict=True)
        ]
        gate = self.review.gate("off")
        changes = await self.personal.changes_with_tags(scope, adds)
        applied = await (rehearsal or gate).commit(
            scope, changes, Provenance(reason="verbatim"), receipt=request.receipt
        )
        return AddResult(
            applied=applied, facts_found=True, usage=Usage(), proposed=gate.proposed, dropped=gate.dropped
        )

    def _reason_of(self, message: Memory) -> str:
        """Why a message is kept word for word; one of a tool or a document may be an instruction."""
        is_foreign = message.origin in FOREIGN and self._defaults.quarantine != "off"
        return SUSPECTED if is_foreign and is_suspected(message.text, message.origin) else "verbatim"

    async def duplicates(self, scope: Scope) -> tuple[list[Duplicates], int]:
        """Groups of possible duplicates, then of facts that contradict each other, and the number of facts compared.

        The newest facts are compared, up to 10,000.
        """
        memories, pairs = await self._recall.alike(scope, await self.visible(scope), floor=NEAR, most=MOST_COMPARED)

        def group_duplicates() -> list[Duplicates]:
            alike = duplicate_groups(memories, [*pairs, *wordings_of_one(memories)])
            return [*alike, *conflicts(memories, alike)]

        with speaking_as([scope.user, *stated_names(memory.text for memory in memories)]):
            return await asyncio.to_thread(group_duplicates), len(memories)

    async def visible(self, scope: Scope, *, at: datetime | None = None) -> Visible:
        """The visibility rules for reads of the scope now; with `at`, for that time."""
        project = await self._settings_of(scope)
        return visible_now(self._defaults.decay_days, project, self._clock(), at=at)

    def _zone_of(self, project: ProjectSettings, asked: str | None) -> str | None:
        """The time zone of a speaker: that of the request, the project or the server; None for that of its clock."""
        return first_zone([asked, project.time_zone, self._defaults.time_zone])

    async def _settings_of(self, scope: Scope) -> ProjectSettings:
        return await self._project_settings.load(Project(tenant=scope.tenant, project=scope.project))


async def _each_once(hits: Sequence[Hit]) -> list[Hit]:
    return each_once(hits) if len(hits) <= _FEW_HITS else await asyncio.to_thread(each_once, hits)


def _in_places(
    found: SearchResult, limit: int, within: TokenLimits | None, *, are_once: bool = False
) -> SearchResult:
    """The hits that fit, the last places of them for linked ones; with `are_once` not for other words of one."""
    able = [hit for hit in found.hits if within is None or within.can_hold(hit)]
    fitting = able if within is None else within.cut(able)
    no_room = len(found.hits) - len(fitting)
    if not found.linked:
        return replace(found, hits=fitting, no_room=no_room)
    limit = limit if len(fitting) == len(able) else len(fitting)
    places = places_of(limit)
    head = fitting[: limit - places]
    seen = {hit.memory.id for hit in head}
    fresh = (hit for hit in found.linked if hit.memory.id not in seen and (not are_once or tells_anew(hit, head)))
    placed = with_linked_hits(fitting, list(islice(fresh, places)), limit)
    return replace(found, hits=placed if within is None else within.cut(placed), linked=(), no_room=no_room)
