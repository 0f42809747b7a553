"""What a model proposes to do with stored memories, read strictly, and the memories it was shown.

Candidates are shown under the short ids "0", "1", …, because models garble long ones; nothing the model answers can
therefore name a memory it was not shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from mnemoir.core.memories import Memory

Event = Literal["ADD", "UPDATE", "DELETE", "NONE"]

_EVENTS = {"ADD": "ADD", "UPDATE": "UPDATE", "DELETE": "DELETE", "NONE": "NONE", "NOOP": "NONE"}
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
