"""New facts against stored memories: what is known already, what to ask the model, and what its answer comes to.

Facts that are certainly known never reach the model, and where nothing stored is like a fact, no model is asked.

What a model proposes is read strictly. Candidates are shown to it under the short ids "0", "1", …, because models
garble long ones; nothing the model answers can therefore name a memory it was not shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Hit, Memory
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decay import hidden
from mnemoir.memory.facts.exchange import CHANGES, CutOff, Exchange, Question, reconciliation_policy
from mnemoir.memory.facts.resemblance import overlap, same_statement
from mnemoir.ports.memory_store import Visible

Event = Literal["ADD", "UPDATE", "DELETE", "NONE"]

_EVENTS = {"ADD": "ADD", "UPDATE": "UPDATE", "DELETE": "DELETE", "NONE": "NONE", "NOOP": "NONE"}
_MOST_SHOWN = 100  # memories in one call; the likest ones
_LIKE_WORDS = 0.5
_MOST_ENTRIES = 300  # a hundred facts and as many memories need no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A stored memory that is like some of the facts; `cosines` holds one figure a fact, None where unknown."""

    memory: Memory
    cosines: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One entry of the answer. `at` indexes the candidates; None for an id that was not shown."""

    event: Event
    at: int | None
    text: str


def document(facts: Sequence[str], candidates: Sequence[Candidate]) -> Mapping[str, Any]:
    """What the model is shown."""
    memories = [{"id": str(at), "text": candidate.memory.text} for at, candidate in enumerate(candidates)]
    return {"memories": memories, "facts": list(facts)}


def read_proposals(value: Any, shown: int) -> list[Proposal] | None:
    """The entries of an answer `{"memory": [...]}` over `shown` candidates; None when it is none.

    Ids may be integers or text, events in any case, NOOP means NONE. Entries of another shape are left out.
    """
    entries = value.get("memory") if isinstance(value, Mapping) else None
    if not isinstance(entries, list):
        return None
    read = (_proposal(entry, shown) for entry in entries[:_MOST_ENTRIES] if isinstance(entry, Mapping))
    return [proposal for proposal in read if proposal]


def _proposal(entry: Mapping[str, Any], shown: int) -> Proposal | None:
    spelling, text = entry.get("event"), entry.get("text")
    event = _EVENTS.get(spelling.strip().upper()) if isinstance(spelling, str) else None
    if event is None:
        return None
    clean = " ".join(text.split()).encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else ""
    return Proposal(event=cast(Event, event), at=_index(entry.get("id"), shown), text=clean)


def _index(raw: object, shown: int) -> int | None:
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        return None
    digits = str(raw).strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 6):
        return None
    return int(digits) if int(digits) < shown else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """Facts by what is already stored: `fresh` ones, memories that tell one (`known`), hidden ones that do.

    `near` is what was found near each fresh fact, where that was looked for.
    """

    fresh: Sequence[str]
    known: Sequence[Memory]
    hidden: Sequence[Memory] = ()
    near: Sequence[Sequence[Hit]] = ()


def sort_exact(facts: Sequence[str], held: Mapping[bytes, Memory], visible: Visible) -> Sorted:
    """Set apart the facts that the scope holds word for word."""
    found = [held[content_hash(fact)] for fact in facts if content_hash(fact) in held]
    return Sorted(
        fresh=[fact for fact in facts if content_hash(fact) not in held],
        known=[memory for memory in found if not hidden(memory, visible)],
        hidden=[memory for memory in found if hidden(memory, visible)],
    )


def sort_near(facts: Sequence[str], near: Sequence[Sequence[Hit]]) -> Sorted:
    """Set apart the facts that one of their nearest memories certainly tells."""
    fresh: dict[str, Sequence[Hit]] = {}
    known: dict[MemoryId, Memory] = {}
    for fact, hits in zip(facts, near, strict=True):
        same = next((h.memory for h in hits if same_statement(fact, h.memory.text, h.signals.get("cosine"))), None)
        if same is None:
            fresh[fact] = hits
        else:
            known[same.id] = same
    return Sorted(fresh=list(fresh), known=list(known.values()), near=list(fresh.values()))


def candidates_of(facts: Sequence[str], near: Sequence[Sequence[Hit]], floor: float) -> list[Candidate]:
    """The stored memories that are like any of the facts, the likest first; [] when nothing similar is stored.

    Like means a cosine from `floor`, or half of the words of the shorter one.
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
            likeness[key] = max(likeness.get(key, alike), alike)
    shown = sorted((key for key, alike in likeness.items() if alike >= 0), key=lambda key: -likeness[key])
    return [
        Candidate(memory=memories[key], cosines=tuple(cosines.get(key, {}).get(at) for at in range(len(facts))))
        for key in shown[:_MOST_SHOWN]
    ]


async def propose(
    exchange: Exchange, facts: Sequence[str], candidates: Sequence[Candidate], tokens: int
) -> list[Proposal]:
    """What the model would do to the candidates; without candidates nothing, and no call.

    Raises ProviderError; nothing has been decided then.
    """
    if not candidates:
        return []
    question = Question(policy=reconciliation_policy(), document=document(facts, candidates), output=CHANGES)
    for budget in (tokens, 2 * tokens):
        try:
            answer = await exchange.ask(question, lambda value: read_proposals(value, len(candidates)), tokens=budget)
        except CutOff:
            continue
        return answer or []
    raise ProviderInvalidOutput(
        f"The decisions over {len(facts)} facts did not fit into {2 * tokens} tokens. Nothing was stored; "
        "send the conversation in smaller parts."
    )
