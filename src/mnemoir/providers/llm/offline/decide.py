"""Reconciliation of new facts with stored memories by rule; the answer has the shape of a model's answer.

For each fact the memories are checked in this order: a memory that states the fact already makes it a no-op; a memory
with another value of the same attribute is updated; a memory that states the opposite is deleted and the fact added;
a memory that the fact states in more detail is updated. Otherwise the fact is added. The wording tells what a
statement is about (`memory.facts.decide.matters`).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mnemoir.memory.facts.decide.matters import WORK, is_known, is_opposite, is_other_value, matter_of, normal_form
from mnemoir.memory.facts.decide.resemblance import is_part_of, words_of
from mnemoir.memory.facts.decide.witness_words import has

Entry = dict[str, Any]  # one row of the answer, JSON


def decide(document: Mapping[str, Any]) -> dict[str, Any]:
    """`{"memories": [{"id", "text"}], "facts": [...]}` to `{"memory": [...]}`; a memory changes at most once."""
    memories = {str(m["id"]): str(m["text"]) for m in document.get("memories") or ()}
    entries: list[Entry] = []
    for fact in document.get("facts") or ():
        made = _decide_one(str(fact), memories)
        entries += made
        for entry in made:
            if entry["event"] in ("UPDATE", "DELETE"):
                memories.pop(entry["id"], None)
    return {"memory": entries}


def settled_facts(facts: Sequence[str]) -> list[str]:
    """The facts of one conversation after later ones updated or deleted earlier ones, in the order first said.

    "No longer lives in Leeds" is left out beside "Lives in York": the new value alone replaces the stored one.
    """
    kept: dict[str, str] = {}
    for number, fact in enumerate(facts):
        jobs = [key for key, text in kept.items() if _are_two_jobs(fact, text)]
        for entry in _decide_one(fact, {key: text for key, text in kept.items() if key not in jobs}):
            if entry["event"] == "ADD":
                kept[f"new {number}"] = fact
            elif entry["event"] == "UPDATE":
                kept[entry["id"]] = fact
            elif entry["event"] == "DELETE":
                del kept[entry["id"]]
    return [fact for fact in kept.values() if not _is_implied(fact, kept.values())]


def _are_two_jobs(fact: str, other: str) -> bool:
    """True for two jobs of one conversation, of which neither is said to have ended."""
    said, held = matter_of(fact), matter_of(other)
    return (
        said.slot == held.slot and said.slot in WORK and not said.denies | held.denies and is_other_value(fact, other)
    )


def _is_implied(fact: str, others: Collection[str]) -> bool:
    """True for the denial of a value beside another value, which closes the old one by itself."""
    matter = matter_of(fact)
    slots = {other.slot for other in map(matter_of, others) if not other.denies and not other.many}
    return matter.denies and not matter.ends and bool(matter.slot) and matter.slot in slots


def _decide_one(fact: str, memories: Mapping[str, str]) -> list[Entry]:
    known = next((key for key, text in memories.items() if is_known(fact, text)), None)
    if known is not None:
        return [_entry("NONE", known, fact, None)]
    replaced = [key for key, text in memories.items() if is_other_value(fact, text)]
    opposed = [key for key, text in memories.items() if is_opposite(fact, text) and key not in replaced]
    if replaced or len(opposed) > 1:
        first, *others = [*replaced, *opposed]
        return [_entry("UPDATE", first, fact, memories[first]), *_deletions(others, memories)]
    if opposed:
        return [_entry("ADD", "new", fact, None), *_deletions(opposed, memories)]
    sharpened = next((key for key, text in memories.items() if _sharpens(fact, text)), None)
    if sharpened is not None:
        return [_entry("UPDATE", sharpened, fact, memories[sharpened])]
    return [_entry("ADD", "new", fact, None)]


def _sharpens(fact: str, text: str) -> bool:
    """True when the fact begins like `text`, contains all of it, and says more."""
    said, held = matter_of(fact), matter_of(text)
    if (said.slot, said.denies, has("ends", fact)) != (held.slot, held.denies, has("ends", text)):
        return False
    if normal_form(fact).startswith(f"{normal_form(text)} "):
        return True
    begins_alike = words_of(fact).stems[:1] == words_of(text).stems[:1] and len(words_of(text).stems) > 1
    return begins_alike and is_part_of(text, fact)


def _deletions(keys: Sequence[str], memories: Mapping[str, str]) -> list[Entry]:
    return [_entry("DELETE", key, memories[key], memories[key]) for key in keys]


def _entry(event: str, key: str, text: str, old: str | None) -> Entry:
    return {"id": key, "text": text, "event": event, "old_memory": old}
