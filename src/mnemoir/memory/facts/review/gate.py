"""The gate of an add: what it would change is committed or, where it is reviewed, proposed.

What may be an instruction to a model, or contradicts the user without their word, waits in every project, also in one
that reviews nothing.
Both happen in one step. Nothing that waits already is proposed again or added beside it. Not reviewed is what changes
nothing that a memory says: the time of a shown memory that was told again is renewed at once. An expired memory that
was told again counts as an ADD.
"""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from mnemoir.core.clock import Clock, to_text
from mnemoir.core.ids import MemoryId, new_proposal_id
from mnemoir.core.memories import Add, Applied, Change, Memory, Provenance, Remove, Update
from mnemoir.core.proposals import NO_STEP, Proposal, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decide.matters import is_same
from mnemoir.memory.facts.decide.resemblance import same_statement
from mnemoir.memory.facts.review.instructions import SUSPECTED
from mnemoir.ports.memory_store import MemoryStore, Receipt
from mnemoir.ports.project_settings import Reviewed
from mnemoir.ports.proposals import MOST_PROPOSALS, ProposalStore

_log = structlog.get_logger(__name__)
UNCONFIRMED = "unconfirmed"  # the reason of a fact that contradicts what the user told, and that nobody bears out
_HELD = (SUSPECTED, UNCONFIRMED)  # reasons for which a change waits in every project
_RENEWED = "mentioned_again"
_REVIVED = "exact_duplicate_revived"


def texts_of(waiting: Sequence[Proposal]) -> list[str]:
    """The texts that would be remembered if all were approved."""
    return [one.memory.text for one in waiting if one.event != "DELETE"]


def is_waiting(fact: str, texts: Sequence[str]) -> bool:
    """True when one of the proposed texts says the fact, in whatever words."""
    hashed = content_hash(fact)
    return any(
        content_hash(text) == hashed or same_statement(fact, text, None) or is_same(fact, text) for text in texts
    )


class Gate:
    """The committer of one add. `proposed` and `dropped` say what its last commit did to the queue.

    `waiting` are the proposals of all that it did not commit: `proposed`, and those that were there already.
    """

    def __init__(self, store: MemoryStore, queue: ProposalStore, review: Reviewed, clock: Clock) -> None:
        self.proposed: Sequence[Proposal] = ()
        self.waiting: Sequence[Proposal] = ()
        self.dropped = 0  # older proposals, for want of room
        self._store = store
        self._queue = queue
        self._review = review
        self._clock = clock

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
        """Commit what is not reviewed, and propose the rest."""
        if changes and (self._review != "off" or any(change.reason in _HELD for change in changes)):
            waiting = await self._queue.all(scope)
            outcome = await self._store.preview(scope, changes, degrade=degrade)
            effective = _effective(changes, outcome)
            made = self._proposals(effective, outcome, provenance)
            known = {_key(one): one for one in waiting}
            self.proposed = [one for one in made if _key(one) not in known and not _is_told(one, waiting)]
            self.waiting = [*self.proposed, *(known[_key(one)] for one in made if _key(one) in known)]
            changes = [one for one in effective if self._passes(one) and not _is_told(one, waiting)]
            queue = replace(queue, proposed=self.proposed)
            self.dropped = max(0, await self._queue.count(scope.owner) + len(self.proposed) - MOST_PROPOSALS)
        applied = await self._store.commit(
            scope, changes, provenance, receipt=receipt, degrade=degrade, expected=expected, queue=queue
        )
        if self.dropped:
            _log.warning("oldest proposals dropped", dropped=self.dropped, most=MOST_PROPOSALS)
        return applied

    def _proposals(
        self,
        changes: Sequence[Change],
        outcome: Sequence[Applied],
        provenance: Provenance,
    ) -> list[Proposal]:
        now = to_text(self._clock())
        return [_proposal(one, outcome, provenance, now) for one in changes if self._waits(one)]

    def _waits(self, change: Change) -> bool:
        if change.reason in _HELD or self._review == "off":
            return change.reason in _HELD
        if isinstance(change, Add):
            return self._review == "all"
        if isinstance(change, Update):
            return change.reason != _RENEWED
        return isinstance(change, Remove) and change.reason != _REVIVED

    def _passes(self, change: Change) -> bool:
        """False also for the end of an expired memory whose renewal waits; its approval ends it."""
        is_end_of_revived = isinstance(change, Remove) and change.reason == _REVIVED
        return not self._waits(change) and not (is_end_of_revived and self._review == "all")


def _effective(changes: Sequence[Change], outcome: Sequence[Applied]) -> list[Change]:
    """The changes that have an effect, none of which refers to another by its place.

    An Update of a memory that is gone became an Add.
    """
    done = {(one.event, one.memory.id) for one in outcome}
    added = {content_hash(one.memory.text): one.memory for one in outcome if one.event == "ADD"}
    found: list[Change] = []
    for change in changes:
        if isinstance(change, Add):
            if ("ADD", change.memory.id) in done:
                found.append(change)
        elif {("UPDATE", change.target), ("DELETE", change.target)} & done:
            found.append(_free(change, changes) if isinstance(change, Remove) else change)
        elif isinstance(change, Update) and (memory := added.get(content_hash(change.text))) is not None:
            found.append(Add(memory=memory, entry=change.entry, reason=change.reason))
    return found


def _free(change: Remove, changes: Sequence[Change]) -> Remove:
    by = None if change.replaced_by is None else changes[change.replaced_by]
    return replace(change, replaced_by=None, successor=by.memory.id if isinstance(by, Add) else None)


def _proposal(change: Change, outcome: Sequence[Applied], provenance: Provenance, now: str) -> Proposal:
    assert isinstance(change, Add | Update | Remove)  # extraction makes no others
    target = change.memory.id if isinstance(change, Add) else change.target
    done = next(one for one in outcome if one.memory.id == target)
    successor = change.successor if isinstance(change, Remove) else None
    if isinstance(change, Update) and done.event == "DELETE":  # another fact says it already
        successor = _with_text(change.text, outcome)
    return Proposal(
        id=new_proposal_id(),
        event=done.event,
        memory=done.memory,
        reason=change.reason,
        proposed_at=now,
        at=None if isinstance(change, Add) else change.at,
        previous_text=done.previous_text,
        successor=successor,
        model=provenance.model,
        session=provenance.session,
    )


def _with_text(text: str, outcome: Sequence[Applied]) -> MemoryId | None:
    hashed = content_hash(text)
    same: list[Memory] = [one.memory for one in outcome if one.event == "UPDATE"]
    return next((memory.id for memory in same if content_hash(memory.text) == hashed), None)


def _key(proposal: Proposal) -> tuple[str, MemoryId | None, bytes | None]:
    said = None if proposal.event == "DELETE" else content_hash(proposal.memory.text)
    return proposal.event, proposal.target, said


def _is_told(one: Change | Proposal, waiting: Sequence[Proposal]) -> bool:
    """True for an ADD of a fact that waits."""
    is_add = isinstance(one, Add) or (isinstance(one, Proposal) and one.event == "ADD")
    memory = getattr(one, "memory", None)
    is_fact = is_add and memory is not None and memory.kind == "fact"
    return is_fact and memory is not None and is_waiting(memory.text, texts_of(waiting))
