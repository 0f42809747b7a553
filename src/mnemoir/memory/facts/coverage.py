"""Which entry of the answer accounts for which fact.

The answer's shape has no room for it, so it is told by the words. An entry accounts for every fact it says in full,
and else for the one it says best, if it says that one well enough. In doubt a fact counts as not accounted for, and
is added: a memory told twice is a blemish, a lost one is a fault.
"""

from collections.abc import Collection, Mapping, Sequence

from mnemoir.core.text import content_hash
from mnemoir.memory.facts.reconciliation import Candidate, Event, Proposal
from mnemoir.memory.facts.resemblance import contained, opposed, overlap, tells, words_of

_ORDER: tuple[Event, ...] = ("UPDATE", "ADD", "NONE")  # who wins a fact that two claim alike
_SAME_MATTER = 0.5


def claims(text: str, facts: Sequence[str]) -> dict[int, int]:
    """The facts that `text` accounts for, by index, with how surely: 2 said in full, 1 said well enough."""
    full = {at: 2 for at, fact in enumerate(facts) if contained(fact, text)}
    if full:
        return full
    close = [(overlap(text, fact), -at) for at, fact in enumerate(facts) if tells(text, fact)]
    return {-max(close)[1]: 1} if close else {}


def none_claims(proposal: Proposal, facts: Sequence[str], candidates: Sequence[Candidate]) -> dict[int, int]:
    """The facts that a NONE accounts for: those its memory tells, or the one it repeats.

    A fact that is about the same matter and says it otherwise is never accounted for by the memory it contradicts.
    """
    if proposal.at is None:
        return {}
    stored = candidates[proposal.at].memory.text
    found = claims(stored, facts)
    named = content_hash(proposal.text)
    found |= {at: 2 for at, fact in enumerate(facts) if content_hash(fact) == named}
    return {at: sure for at, sure in found.items() if not _contradicts(facts[at], stored)}


def accounted(
    facts: Sequence[str], candidates: Sequence[Candidate], proposals: Sequence[Proposal]
) -> Mapping[int, int]:
    """By fact, the proposal that accounts for it; facts without one are missing."""
    best: dict[int, tuple[int, int, int]] = {}
    for at, proposal in enumerate(proposals):
        if proposal.event == "DELETE":
            continue
        held = none_claims(proposal, facts, candidates) if proposal.event == "NONE" else claims(proposal.text, facts)
        for fact, sure in held.items():
            rank = (sure, -_ORDER.index(proposal.event), -at)
            best[fact] = max(best.get(fact, rank), rank)
    return {fact: -rank[2] for fact, rank in best.items()}


def uncovered(facts: Sequence[str], by: Collection[int]) -> list[int]:
    """The facts nothing accounts for, in their order."""
    return [at for at in range(len(facts)) if at not in by]


def _contradicts(fact: str, stored: str) -> bool:
    if overlap(fact, stored) < _SAME_MATTER:
        return False
    return opposed(fact, stored) or not words_of(fact).numbers <= words_of(stored).numbers
