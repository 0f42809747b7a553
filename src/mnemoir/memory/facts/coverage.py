"""Matches the entries of a model's answer to the facts that they account for.

The answer does not name facts, so words are compared. An entry accounts for every fact it states in full, else for
the one it states best, if well enough. In doubt a fact counts as not accounted for and is added: a duplicate memory
is a blemish, a lost one is a fault.
"""

from collections.abc import Collection, Mapping, Sequence

from mnemoir.core.text import content_hash
from mnemoir.memory.facts.reconciliation import Candidate, Event, Proposal
from mnemoir.memory.facts.resemblance import contained, opposed, overlap, tells, words_of

_ORDER: tuple[Event, ...] = ("UPDATE", "ADD", "NONE")  # precedence when two entries claim a fact equally
_SAME_MATTER = 0.5


def claims(text: str, facts: Sequence[str]) -> dict[int, int]:
    """The facts that `text` accounts for, by index, with the certainty: 2 stated in full, 1 well enough."""
    full = {at: 2 for at, fact in enumerate(facts) if contained(fact, text)}
    if full:
        return full
    close = [(overlap(text, fact), -at) for at, fact in enumerate(facts) if tells(text, fact)]
    return {-max(close)[1]: 1} if close else {}


def none_claims(proposal: Proposal, facts: Sequence[str], candidates: Sequence[Candidate]) -> dict[int, int]:
    """The facts that a NONE accounts for: those its memory states, or the one it repeats.

    A memory never accounts for a fact that contradicts it.
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
    """The proposal that accounts for each fact, by index; facts without one are absent."""
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
    """The facts that no entry accounts for, in their order."""
    return [at for at in range(len(facts)) if at not in by]


def _contradicts(fact: str, stored: str) -> bool:
    if overlap(fact, stored) < _SAME_MATTER:
        return False
    return opposed(fact, stored) or not words_of(fact).numbers <= words_of(stored).numbers
