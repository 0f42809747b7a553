"""The review queue of a user: proposals are listed, edited, approved and refused.

An approval is decided on what is stored now, as an add is, and made only if it does to its memory what was proposed.
It is one commit, so it is in the log of changes and can be undone. Many are approved in one commit too; where some
contradict each other or do not fit any more, in as few as possible, and those that do not fit are named.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mnemoir.core.clock import Clock, to_text
from mnemoir.core.errors import Conflict, InvalidRequest, NotFound
from mnemoir.core.ids import ChangeId, MemoryId, ProposalId, new_change_id
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.core.memories import Add, Applied, Change, IndexEntry, Memory, Provenance, Remove, Update
from mnemoir.core.proposals import Proposal, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decide.decay import is_expired
from mnemoir.memory.facts.decide.personal import FactPolicy
from mnemoir.memory.facts.decide.timeline import State
from mnemoir.memory.facts.extract.requests import TextBound
from mnemoir.memory.facts.review.approval import Approval, successor_of
from mnemoir.memory.facts.review.gate import Gate
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import MemoryStore, Project, StaleChange
from mnemoir.ports.project_settings import Reviewed
from mnemoir.ports.proposals import ProposalPage, ProposalStore
from mnemoir.search.indexing import Indexing, fact_passage
from mnemoir.search.recall import Recall

MOST_AT_ONCE = 1000
_APPROVED = "approved"
_SUPERSEDED = "superseded"  # the reason for the end of what an approved fact closes
_NO_WORDS = IndexEntry(terms=b"")  # for a deletion
_Place = tuple[str | None, str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """The change that approved proposals, and what it did."""

    id: ChangeId
    applied: Sequence[Applied]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The changes that approved many proposals, and for each one that could not be approved why."""

    changes: list[Approved] = field(default_factory=list)
    failed: list[tuple[ProposalId, Conflict | NotFound]] = field(default_factory=list)


class Review:
    """Raises NotFound, Conflict and InvalidRequest; nothing is changed then."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        queue: ProposalStore,
        recall: Recall,
        indexing: Indexing,
        personal: FactPolicy,
        bound: TextBound,
        same_user: KeyedLock,
        clock: Clock,
    ) -> None:
        """`same_user` is held by every add of a user."""
        self.personal = personal
        self._approval = Approval(store, recall)
        self._same_user = same_user
        self._bound = bound
        self._store = store
        self._queue = queue
        self._indexing = indexing
        self._clock = clock

    def gate(self, review: Reviewed) -> Gate:
        """The committer of an add in a project that reviews this."""
        return Gate(self._store, self._queue, review, self._clock)

    async def waiting(self, scope: Scope) -> Sequence[Proposal]:
        """The proposals within the scope, oldest first."""
        return await self._queue.all(scope)

    async def page(self, scope: Scope, *, limit: int, before: int | None = None) -> ProposalPage:
        """A page of the user's proposals, newest first."""
        return await self._queue.page(scope.owner, limit=limit, before=before)

    async def count(self, scope: Scope) -> int:
        """The number of the user's proposals."""
        return await self._queue.count(scope.owner)

    async def edit(self, project: Project, proposal_id: ProposalId, text: str, user: str | None = None) -> Proposal:
        """Give a proposal another text; it still waits. Raises MemoryTooLong, too."""
        scope, proposal = await self._find_proposal(project, proposal_id, user)
        if proposal.event == "DELETE":
            raise InvalidRequest(
                f"Proposal {proposal_id} is to delete a memory and has no text. Approve or refuse it.",
                code="proposal_without_text",
            )
        if text != proposal.memory.text:
            self._bound.check(text)
        text = await self.personal.text(scope, text)
        if not await self._queue.rewrite(scope, proposal, text):
            raise _outdated_conflict([proposal], "It was settled or edited meanwhile.")
        _, edited = await self._find_proposal(project, proposal_id, user)
        return edited

    async def refuse(self, project: Project, proposal_id: ProposalId, user: str | None = None) -> None:
        """Drop a proposal."""
        scope, _ = await self._find_proposal(project, proposal_id, user)
        await self._queue.drop(scope, [proposal_id])

    async def refuse_many(self, scope: Scope, ids: Sequence[ProposalId] | None = None) -> int:
        """Drop proposals of the user, without `ids` all; return how many were there."""
        wanted = [one.id for one in await self._queue.all(scope.owner)] if ids is None else ids
        return await self._queue.drop(scope.owner, wanted)

    async def approve(self, project: Project, proposal_id: ProposalId, user: str | None = None) -> Approved:
        """Make the proposed change. Conflict (`proposal_outdated`, `memory_exists`) when it does not fit any more."""
        scope, proposal = await self._find_proposal(project, proposal_id, user)
        entries = await self._entries([proposal])
        async with self._same_user.hold(scope.owner):
            return await self._approve_group(scope, [proposal], entries)

    async def approve_many(self, scope: Scope, ids: Sequence[ProposalId] | None = None) -> Outcome:
        """Make all proposed changes of the user that fit, without `ids` all, in the order in which they were made."""
        waiting = await self._queue.all(scope.owner)
        wanted = None if ids is None else frozenset(ids)
        found = [one for one in waiting if wanted is None or one.id in wanted]
        known = {one.id for one in found}
        outcome = Outcome(failed=[(each, _unknown(each)) for each in ids or () if each not in known])
        entries = await self._entries(found)
        async with self._same_user.hold(scope.owner):
            for run in await self._approval.runs(scope.owner, found, self._clock()):
                for place in dict.fromkeys(map(_place, run)):
                    group = [one for one in run if _place(one) == place]
                    await self._approve_each(scope.owner, group, entries, outcome)
        return outcome

    async def forget(self, scope: Scope) -> int:
        """Forget the user's proposals, to the byte: all, or what came from the scope's conversation.

        With a conversation those go, too, whose memory was forgotten or says something else now; they quote it.
        """
        if scope.conversation is None:
            return await self._queue.forget(scope)
        proposals = await self._queue.all(scope.owner)
        gone = [one.id for one in proposals if one.session == scope.conversation or not await self._fits(scope, one)]
        return await self._queue.forget(scope.owner, gone)

    async def _fits(self, scope: Scope, proposal: Proposal) -> bool:
        if proposal.target is None:
            return True
        memory = await self._store.get(scope.owner, proposal.target)
        return memory is not None and memory.valid_to is None and memory.text == proposal.expected_text

    async def _approve_each(
        self,
        scope: Scope,
        proposals: Sequence[Proposal],
        entries: Mapping[ProposalId, IndexEntry],
        outcome: Outcome,
    ) -> None:
        """Approve all in one commit; those that do not fit are found by halves."""
        try:
            outcome.changes.append(await self._approve_group(scope, proposals, entries))
        except Conflict as exc:
            if len(proposals) == 1:
                outcome.failed.append((proposals[0].id, exc))
                return
            half = len(proposals) // 2
            for part in (proposals[:half], proposals[half:]):
                await self._approve_each(scope, part, entries, outcome)

    async def _approve_group(
        self, scope: Scope, proposals: Sequence[Proposal], entries: Mapping[ProposalId, IndexEntry]
    ) -> Approved:
        agent, app, conversation = _place(proposals[0])
        within = replace(scope, agent=agent, app=app, conversation=conversation)
        provenance = Provenance(reason=_APPROVED, change=new_change_id())
        try:
            changes = await self.personal.changes_with_tags(within, await self._changes(within, proposals, entries))
            planned = await self._store.preview(within, changes)
            done = {(one.event, one.memory.id) for one in planned}
            if not all((one.event, one.memory.id) in done for one in proposals):
                raise StaleChange("A proposal would do something else now.")
            applied = await self._store.commit(
                within, changes, provenance, expected=planned, queue=QueueStep(approved=proposals)
            )
        except StaleChange:
            raise _outdated_conflict(proposals, "What it is about was changed since.") from None
        assert provenance.change is not None  # given above
        return Approved(id=provenance.change, applied=applied)

    async def _changes(
        self, scope: Scope, proposals: Sequence[Proposal], entries: Mapping[ProposalId, IndexEntry]
    ) -> list[Change]:
        texts = {content_hash(one.memory.text): one for one in proposals if one.event != "DELETE"}
        said = await self._store.same_text(scope, list(texts))
        states = await self._approval.states(scope, proposals, await self._queue.all(scope.owner), self._clock())
        added = {one.memory.id for one in proposals if one.event == "ADD"}
        ended = {one.target for one in proposals if one.event == "DELETE"}
        changes: list[Change] = []
        for one in proposals:
            entry = entries.get(one.id, _NO_WORDS)
            same = said.get(content_hash(one.memory.text)) if one.event != "DELETE" else None
            if one.event == "ADD":
                placed = _in_time(one, states, proposals)
                same = None if same and same.id in ended else same
                changes += await self._addition(scope, placed, entry, same, added)
            elif one.event == "UPDATE":
                if same is not None and same.id != one.target:
                    raise _exists(one, same)
                changes.append(_update(_in_time(one, states, proposals), entry))
            else:
                changes.append(await self._removal(scope, one, added))
        return [*changes, *_ends(proposals, states)]

    async def _addition(
        self, scope: Scope, proposal: Proposal, entry: IndexEntry, same: Memory | None, added: Container[MemoryId]
    ) -> list[Change]:
        memory = proposal.memory
        add = Add(memory=memory, entry=entry, reason=proposal.reason)
        if memory.valid_to is not None:
            known = memory.replaced_by in added or await self._is_there(scope, memory.replaced_by)
            if not known:
                raise _outdated_conflict(
                    [proposal], "The memory that followed it is not there; approve that one first."
                )
            return [add]
        if same is None:
            return [add]
        if not is_expired(same, self._clock()):
            raise _exists(proposal, same)
        return [Remove(target=same.id, expected=same.text, reason=proposal.reason), add]

    async def _removal(self, scope: Scope, proposal: Proposal, added: Container[MemoryId]) -> Remove:
        successor = proposal.successor
        if successor is not None and successor not in added and not await self._is_there(scope, successor):
            successor = None
        return Remove(
            target=proposal.memory.id,
            expected=proposal.expected_text,
            reason=proposal.reason,
            at=proposal.at or proposal.proposed_at,
            successor=successor,
        )

    async def _is_there(self, scope: Scope, memory_id: MemoryId | None) -> bool:
        return memory_id is not None and await self._store.get(scope.owner, memory_id) is not None

    async def _entries(self, proposals: Sequence[Proposal]) -> dict[ProposalId, IndexEntry]:
        """The index entries of the texts that would be stored."""
        with_text = [one for one in proposals if one.event != "DELETE"]
        entries = await self._indexing.entries([_passage(one.memory) for one in with_text])
        return {one.id: entry for one, entry in zip(with_text, entries, strict=True)}

    async def _find_proposal(
        self, project: Project, proposal_id: ProposalId, user: str | None
    ) -> tuple[Scope, Proposal]:
        found = await self._queue.find(project, proposal_id)
        if found is None or user not in (None, found[0].user):
            raise _unknown(proposal_id)
        return found


def _passage(memory: Memory) -> Passage:
    return fact_passage(memory.text) if memory.kind == "fact" else Passage(text=memory.text)


def _in_time(proposal: Proposal, states: Mapping[ProposalId, State], proposals: Sequence[Proposal]) -> Proposal:
    """The proposal; as a past state where what was said later contradicts it. Raises Conflict for an UPDATE."""
    state = states.get(proposal.id)
    if state is None or state.past_of is None:
        return proposal
    if proposal.event == "UPDATE":
        raise _outdated_conflict([proposal], f"What was said later contradicts it: {state.past_of.text[:200]!r}.")
    since, until = state.since, state.until
    past = replace(
        proposal.memory,
        created_at=proposal.memory.created_at if since is None else to_text(since),
        valid_to=proposal.memory.created_at if until is None else to_text(until),
        replaced_by=successor_of(state, proposals),
    )
    return replace(proposal, memory=past)


def _ends(proposals: Sequence[Proposal], states: Mapping[ProposalId, State]) -> list[Remove]:
    """The ends of the memories that the approved facts close."""
    return [
        Remove(
            target=memory.id,
            expected=memory.text,
            reason=_SUPERSEDED,
            at=None if state.said_at is None else to_text(state.said_at),
            successor=one.memory.id,
        )
        for one in proposals
        if (state := states.get(one.id)) is not None
        for memory in state.removes
    ]


def _update(proposal: Proposal, entry: IndexEntry) -> Update:
    return Update(
        target=proposal.memory.id,
        expected=proposal.expected_text,
        text=proposal.memory.text,
        entry=entry,
        reason=proposal.reason,
        at=proposal.at or proposal.proposed_at,
    )


def _place(proposal: Proposal) -> _Place:
    return proposal.memory.agent, proposal.memory.app, proposal.memory.conversation


def _unknown(proposal_id: ProposalId) -> NotFound:
    return NotFound(
        f"There is no proposal {proposal_id[:128]!r} here. List the user's proposals to see their ids.",
        code="proposal_not_found",
    )


def _outdated_conflict(proposals: Sequence[Proposal], cause: str) -> Conflict:
    return Conflict(
        f"Proposal {proposals[0].id} cannot be approved any more. {cause} List the proposals anew; "
        "refuse this one, or change the memory by hand.",
        code="proposal_outdated",
    )


def _exists(proposal: Proposal, memory: Memory) -> Conflict:
    return Conflict(
        f"Memory {memory.id} says already what proposal {proposal.id} would. Refuse the proposal, or edit it.",
        code="memory_exists",
    )
