"""Turns decisions into changes for the store: builds memories and embeds their texts in one batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemoir.core.clock import to_text
from mnemoir.core.ids import new_memory_id
from mnemoir.core.memories import Add, Change, IndexEntry, Memory, Remove, Update
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.decay import expired
from mnemoir.memory.facts.defences import Plan
from mnemoir.memory.facts.reconciliation import Candidate
from mnemoir.memory.facts.requests import AddRequest
from mnemoir.memory.facts.verbatim import past
from mnemoir.ports.embedding import Passage


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
        return [Passage(text=text) for text in self.texts()]


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
