"""What the user's words allow of a model's decisions: which memories may change, and which facts are doubtful.

What the user told, gave by hand or imported changes only by a fact with a witness (`witness`). What an assistant, a
tool or a document told may change without one.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from mnemoir.core.memories import FOREIGN, Memory
from mnemoir.memory.facts.decide.matters import contradicts, may_replace
from mnemoir.memory.facts.decide.reasons import closes
from mnemoir.memory.facts.decide.reconciliation import Candidate, Proposal, claims
from mnemoir.memory.facts.decide.resemblance import overlap
from mnemoir.memory.facts.decide.spoken_words import numbers_in, vocabulary_of
from mnemoir.memory.facts.decide.witness import Witnesses, change_of
from mnemoir.memory.facts.decide.witness_words import content_words, names_in

Doubt = Literal["unsure", "unconfirmed", "ungrounded"]
RELATED = 0.2  # overlap or cosine from which two statements may share a subject; see FactSettings.alike_floor
_PART = 0.5  # share of common words from which a fact may tell a part of what a memory tells


def is_protected(memory: Memory) -> bool:
    """True for a memory that changes only with a witness."""
    return memory.origin != "assistant" and memory.origin not in FOREIGN


def touched_by(
    facts: Sequence[str], candidates: Sequence[Candidate], proposals: Sequence[Proposal]
) -> Mapping[str, Sequence[str]]:
    """For each fact the memories that it may change by the proposals, or contradicts, and that need a witness."""
    named = {p.at for p in proposals if p.event in ("UPDATE", "DELETE") and p.at is not None}
    stored = [(at, one.memory.text) for at, one in enumerate(candidates) if is_protected(one.memory)]
    return {fact: [text for at, text in stored if at in named or contradicts(fact, text)] for fact in facts}


class Grounds:
    """What the witnesses say of facts and candidates; without them all is allowed and nothing is doubtful."""

    def __init__(self, facts: Sequence[str], candidates: Sequence[Candidate], witnesses: Witnesses | None) -> None:
        self._facts = facts
        self._candidates = candidates
        self._witnesses = witnesses
        self._refused: dict[int, set[int]] = {}  # facts, with the memories that they were to change without a witness

    @property
    def is_heard(self) -> bool:
        """True where there are witnesses."""
        return self._witnesses is not None

    def may_change(self, fact: int, at: int) -> bool:
        """True when the fact may change the candidate."""
        return self._witnesses is None or not is_protected(self._memory(at)) or self._stands(fact, at)

    def borne_out(self, proposals: Sequence[Proposal], refused: Counter[str]) -> list[Proposal]:
        """The proposals without changes that have no witness; an UPDATE says no more than its memory and facts."""
        if self._witnesses is None:
            return list(proposals)
        kept = []
        for proposal in proposals:
            held = self._borne_out(proposal)
            refused["reconcile_unwitnessed"] += held is None
            kept += [held] if held else []
        return kept

    def decides(self, proposal: Proposal) -> bool:
        """True when the decision on an UPDATE is enough: a witness stands, and the fact is no part of the memory."""
        if self._witnesses is None or self._witnesses.are_read_by_rule or proposal.at is None:
            return False
        stored = self._memory(proposal.at).text
        able = [fact for fact in self._behind(proposal) if self._stands(fact, proposal.at)]
        return any(not _tells_part(self._facts[fact], stored) for fact in able)

    def doubt_of(self, facts: Sequence[int], changed: Collection[int]) -> Doubt | None:
        """Why the facts behind an add are doubtful; None when they are not. `changed` are candidates that change."""
        assert self._witnesses is not None  # asked only with one
        if all(self._witnesses.is_ungrounded(self._facts[fact]) for fact in facts):
            return "ungrounded"
        against = [
            at
            for fact in facts
            for at in range(len(self._candidates))
            if at not in changed and self._is_against(fact, at) and not self.may_change(fact, at)
        ]
        is_name = any(
            change_of(self._facts[fact], self._memory(at).text).is_naming for fact in facts for at in against
        )
        if against and (is_name or not self._witnesses.asserts):
            return "unconfirmed"
        return "unsure" if against or any(fact in self._refused for fact in facts) else None

    def said_part(self, text: str, facts: Sequence[int]) -> str:
        """The text of a refused change without what nobody said."""
        assert self._witnesses is not None  # asked only with one
        for at in sorted({at for fact in facts for at in self._refused.get(fact, ())}):
            if change_of(text, self._memory(at).text).is_fuller:
                return self._witnesses.grounded_part(text, self._memory(at).text)
        return text

    def _is_against(self, fact: int, at: int) -> bool:
        """True when the fact contradicts the memory, or was to take its place."""
        stored = self._memory(at).text
        if contradicts(self._facts[fact], stored):
            return True
        return at in self._refused.get(fact, ()) and not change_of(self._facts[fact], stored).is_fuller

    def _borne_out(self, proposal: Proposal) -> Proposal | None:
        if proposal.at is None or proposal.event not in ("UPDATE", "DELETE"):
            return proposal
        behind = self._behind(proposal)
        able = [fact for fact in behind if self.may_change(fact, proposal.at)]
        if not able:
            for fact in behind:
                self._refused.setdefault(fact, set()).add(proposal.at)
            return None
        return proposal if proposal.event == "DELETE" else self._without_additions(proposal, able)

    def _without_additions(self, proposal: Proposal, able: Sequence[int]) -> Proposal:
        """The UPDATE in the words of its best fact, where it says more than the memory and the facts."""
        assert proposal.at is not None  # given by the caller
        told = vocabulary_of([self._memory(proposal.at).text, *(self._facts[fact] for fact in able)])
        new = (*content_words(proposal.text), *names_in(proposal.text))
        if all(told.has_word(word) for word in new) and numbers_in(proposal.text, unsure=False) <= told.numbers:
            return proposal
        best = max(able, key=lambda fact: (overlap(proposal.text, self._facts[fact]), -fact))
        return replace(proposal, text=self._facts[best])

    def _behind(self, proposal: Proposal) -> list[int]:
        """The facts behind an UPDATE; for a DELETE, which names none, those that may be about the memory."""
        if proposal.event == "UPDATE" or proposal.at is None:
            return list(claims(proposal.text, self._facts))
        candidate, facts = self._candidates[proposal.at], enumerate(self._facts)
        return [at for at, fact in facts if _likeness(candidate, fact, candidate.cosines[at]) >= RELATED]

    def _stands(self, fact: int, at: int) -> bool:
        return self._witnesses is not None and self._witnesses.stands(self._facts[fact], self._memory(at).text)

    def _memory(self, at: int) -> Memory:
        return self._candidates[at].memory


def closest(candidate: Candidate, facts: Sequence[str], among: Sequence[int]) -> int | None:
    """The fact most like the memory; None when none has the same subject."""
    likeness = [(_likeness(candidate, facts[at], candidate.cosines[at]), -at) for at in among]
    best = max(likeness, default=(0.0, 0))
    return -best[1] if best[0] >= RELATED else None


def _likeness(candidate: Candidate, fact: str, cosine: float | None) -> float:
    if contradicts(fact, candidate.memory.text):
        return 1.0
    return max(overlap(fact, candidate.memory.text), cosine or 0.0)


def _tells_part(fact: str, stored: str) -> bool:
    """True when the fact is about a part of what the memory tells: "Loves night trains" of a habit on trains."""
    if closes(fact, stored) or may_replace(fact, stored) or overlap(fact, stored) < _PART:
        return False
    lost = change_of(stored, fact)
    gained = change_of(fact, stored)
    return bool(lost.names or lost.numbers) and not (gained.names or gained.numbers or gained.denies)
