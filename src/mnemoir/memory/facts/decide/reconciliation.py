"""Reconciles new facts with stored memories: finds known facts, asks the model about the rest, reads its answer.

Facts that are certainly known never reach the model, and where no stored memory resembles a fact, no model is asked.
Proposals are read strictly. Candidates are shown to it under the short ids "0", "1", …, because models
garble long ones; nothing the model answers can therefore name a memory it was not shown.

The answer does not name facts, so words are compared to find the facts that an entry accounts for: every fact it
states in full, else the one it states best, if well enough. In doubt a fact counts as not accounted for and is added:
a duplicate memory is a blemish, a lost one is a fault.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import structlog

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Hit, Memory
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decide.decay import is_hidden
from mnemoir.memory.facts.decide.matters import contradicts, has_same_subject, is_known, is_same, matter_of
from mnemoir.memory.facts.decide.resemblance import (
    differ_in_negation,
    is_part_of,
    overlap,
    same_statement,
    tells,
    words_of,
)
from mnemoir.memory.facts.extract.extraction import (
    CHANGES,
    CutOff,
    Exchange,
    Question,
    UnreadableAnswer,
    reconciliation_policy,
)
from mnemoir.ports.memory_store import Visible

_log = structlog.get_logger(__name__)
Event = Literal["ADD", "UPDATE", "DELETE", "NONE"]

_SPELLINGS: Mapping[Event, str] = {
    "ADD": "ADD CREATE INSERT NEW",
    "UPDATE": "UPDATE CHANGE MODIFY REPLACE",
    "DELETE": "DELETE REMOVE",
    "NONE": "NONE NOOP NOP NOCHANGE UNCHANGED KEEP SKIP IGNORE",
}
_EVENTS = {spelling: event for event, spellings in _SPELLINGS.items() for spelling in spellings.split()}
_EVENT_KEYS = ("event", "action", "operation", "decision")
_TEXT_KEYS = ("text", "fact", "content", "memory", "new_memory")
_ID_KEYS = ("id", "memory_id")
_LIST_KEYS = ("memory", "memories", "changes", "decisions", "operations", "actions", "results")
_MOST_SHOWN = 100  # memories in one call; the most similar ones
_LIKE_WORDS = 0.5
_MOST_ENTRIES = 300  # a hundred facts and as many memories need no more
_ORDER: tuple[Event, ...] = ("UPDATE", "ADD", "NONE")  # precedence when two entries claim a fact equally
_SAME_MATTER = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A stored memory similar to some of the facts; `cosines` has one figure per fact, None where unknown."""

    memory: Memory
    cosines: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One entry of the answer. `at` indexes the candidates; None for an id that was not shown."""

    event: Event
    at: int | None
    text: str


def document(facts: Sequence[str], candidates: Sequence[Candidate]) -> Mapping[str, Any]:
    """The facts and candidates as the model gets them."""
    memories = [{"id": str(at), "text": candidate.memory.text} for at, candidate in enumerate(candidates)]
    return {"memories": memories, "facts": list(facts)}


def read_proposals(values: Sequence[Any], shown: int) -> list[Proposal] | None:
    """The entries in the values of an answer over `shown` candidates; None when no value has any.

    Asked for is `{"memory": [...]}`; a bare list, one entry and entries by id are read, too. Ids may be integers or
    text, events in any case and in other words. Entries of another shape are left out.
    """
    lists = [found for value in values if (found := _entries(value)) is not None]
    entries = [entry for found in lists for entry in found][:_MOST_ENTRIES]
    read = (_proposal(entry, shown) for entry in entries if isinstance(entry, Mapping))
    return [proposal for proposal in read if proposal] if lists else None


def _entries(value: Any) -> Sequence[Any] | None:
    if isinstance(value, list):
        return value if not value or any(isinstance(entry, Mapping) for entry in value) else None
    if not isinstance(value, Mapping):
        return None
    if _member(value, _EVENT_KEYS) is not None:
        return [value]
    listed = _member(value, _LIST_KEYS)
    if isinstance(listed, Mapping):
        return [{"id": key, **entry} for key, entry in listed.items() if isinstance(entry, Mapping)]
    return listed if isinstance(listed, list) else None


def _proposal(entry: Mapping[str, Any], shown: int) -> Proposal | None:
    spelling, text = _member(entry, _EVENT_KEYS), _member(entry, _TEXT_KEYS)
    event = _EVENTS.get(re.sub(r"[\s_-]", "", spelling).upper()) if isinstance(spelling, str) else None
    if event is None:
        return None
    clean = " ".join(text.split()).encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else ""
    return Proposal(event=event, at=_index(_member(entry, _ID_KEYS), shown), text=clean)


def _member(entry: Mapping[str, Any], keys: Sequence[str]) -> Any:  # JSON
    """The first member of these names that is there; None when none is."""
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _index(raw: object, shown: int) -> int | None:
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        return None
    digits = str(raw).strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 6):
        return None
    return int(digits) if int(digits) < shown else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """Facts sorted by stored memories: `fresh` facts, memories that state one (`known`), hidden ones that do.

    `near` has the hits near each fresh fact, after a search for them.
    """

    fresh: Sequence[str]
    known: Sequence[Memory]
    hidden: Sequence[Memory] = ()
    near: Sequence[Sequence[Hit]] = ()


def sort_exact(facts: Sequence[str], held: Mapping[bytes, Memory], visible: Visible) -> Sorted:
    """Separate the facts that the scope holds word for word."""
    found = [held[content_hash(fact)] for fact in facts if content_hash(fact) in held]
    return Sorted(
        fresh=[fact for fact in facts if content_hash(fact) not in held],
        known=[memory for memory in found if not is_hidden(memory, visible)],
        hidden=[memory for memory in found if is_hidden(memory, visible)],
    )


def sort_near(facts: Sequence[str], near: Sequence[Sequence[Hit]]) -> Sorted:
    """Separate the facts that one of their nearest memories certainly states."""
    fresh: dict[str, Sequence[Hit]] = {}
    known: dict[MemoryId, Memory] = {}
    for fact, hits in zip(facts, near, strict=True):
        same = next((hit.memory for hit in hits if _tells_certainly(hit, fact)), None)
        if same is None:
            fresh[fact] = hits
        else:
            known[same.id] = same
    return Sorted(fresh=list(fresh), known=list(known.values()), near=list(fresh.values()))


def _tells_certainly(hit: Hit, fact: str) -> bool:
    return same_statement(fact, hit.memory.text, hit.signals.get("cosine")) or is_same(fact, hit.memory.text)


def candidates_of(facts: Sequence[str], near: Sequence[Sequence[Hit]], floor: float) -> list[Candidate]:
    """The stored memories similar to any of the facts, most similar first; [] when there are none.

    Similar means a cosine of at least `floor`, or half of the words of the shorter one, or that both cannot hold.
    """
    cosines: dict[MemoryId, dict[int, float]] = {}
    likeness: dict[MemoryId, float] = {}
    memories: dict[MemoryId, Memory] = {}
    for at, hits in enumerate(near):
        for hit in hits:
            key, cosine = hit.memory.id, hit.signals.get("cosine")
            memories[key] = hit.memory
            if cosine is not None:
                cosines.setdefault(key, {})[at] = cosine
            alike = max(overlap(facts[at], hit.memory.text) - _LIKE_WORDS, (cosine or 0.0) - floor)
            if contradicts(facts[at], hit.memory.text):
                alike = max(alike, 0.0)
            likeness[key] = max(likeness.get(key, alike), alike)
    shown = sorted((key for key, alike in likeness.items() if alike >= 0), key=lambda key: -likeness[key])
    return [
        Candidate(memory=memories[key], cosines=tuple(cosines.get(key, {}).get(at) for at in range(len(facts))))
        for key in shown[:_MOST_SHOWN]
    ]


async def propose(
    exchange: Exchange, facts: Sequence[str], candidates: Sequence[Candidate], tokens: int
) -> list[Proposal]:
    """The model's proposals for the candidates; [] and no call without candidates.

    [] when the decisions cannot be read: then the facts are added, since a duplicate is a blemish and a lost fact a
    fault. Raises ProviderError otherwise; nothing has been decided then.
    """
    if not candidates:
        return []
    question = Question(policy=reconciliation_policy(), document=document(facts, candidates), output=CHANGES)
    for budget in (tokens, 2 * tokens):
        try:
            answer = await exchange.ask(
                question, lambda values: read_proposals(values, len(candidates)), tokens=budget
            )
        except CutOff:
            continue
        except UnreadableAnswer:
            break
        return answer or []
    _log.warning("decisions unreadable, facts are added", facts=len(facts), shown=len(candidates))
    return []


def claims(text: str, facts: Sequence[str]) -> dict[int, int]:
    """The facts that `text` accounts for, by index, with the certainty: 2 stated in full, 1 well enough."""
    full = {at: 2 for at, fact in enumerate(facts) if is_part_of(fact, text)}
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
    return {at: sure for at, sure in found.items() if not _says_else(facts[at], stored)}


def proposal_by_fact(
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


def facts_without_proposal(facts: Sequence[str], by: Collection[int]) -> list[int]:
    """The facts that no entry accounts for, in their order."""
    return [at for at in range(len(facts)) if at not in by]


def _says_else(fact: str, stored: str) -> bool:
    """True when the memory cannot tell the fact: it has another value, denies it, or only names its words."""
    said, held = matter_of(fact), matter_of(stored)
    if is_known(fact, stored):
        return False
    if (said.slot and said.slot == held.slot) or not has_same_subject(fact, stored):
        return True
    if overlap(fact, stored) < _SAME_MATTER:
        return False
    return differ_in_negation(fact, stored) or not words_of(fact).numbers <= words_of(stored).numbers
