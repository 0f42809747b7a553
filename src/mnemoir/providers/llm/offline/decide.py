"""Reconciliation of new facts with stored memories by rule; the answer has the shape of a model's answer.

For each fact the memories are checked in this order: a memory that states the fact already makes it a no-op; a memory
with another value of the same attribute is updated; a memory that states the opposite is deleted and the fact added;
a memory that the fact states in more detail is updated. Otherwise the fact is added.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mnemoir.core.text import content_hash, normalise
from mnemoir.memory.facts.resemblance import contained, overlap, words_of
from mnemoir.providers.llm.offline.slots import Matter, matter_of, same_value

Entry = dict[str, Any]  # one row of the answer, JSON
_OPPOSITE = 0.75  # share of common words from which a denial concerns the same subject
_WORK_SLOTS = frozenset({"employer", "job"})


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


def settled(facts: Sequence[str]) -> list[str]:
    """The facts of one conversation after later ones updated or deleted earlier ones, in the order first said."""
    kept: dict[str, str] = {}
    for number, fact in enumerate(facts):
        for entry in _decide_one(fact, kept):
            if entry["event"] == "ADD":
                kept[f"new {number}"] = fact
            elif entry["event"] == "UPDATE":
                kept[entry["id"]] = fact
            elif entry["event"] == "DELETE":
                del kept[entry["id"]]
    return list(kept.values())


def _decide_one(fact: str, memories: Mapping[str, str]) -> list[Entry]:
    matter = matter_of(fact)
    known = next((key for key, text in memories.items() if _told(fact, matter, text)), None)
    if known is not None:
        return [_entry("NONE", known, fact, None)]
    replaced = [key for key, text in memories.items() if _other_value(matter, matter_of(text))]
    if replaced:
        first, *others = replaced
        return [_entry("UPDATE", first, fact, memories[first]), *_deleted(others, memories)]
    opposed = [key for key, text in memories.items() if _opposite(fact, matter, text)]
    if opposed:
        return [_entry("ADD", "new", fact, None), *_deleted(opposed, memories)]
    sharpened = next((key for key, text in memories.items() if _sharpens(fact, text)), None)
    if sharpened is not None:
        return [_entry("UPDATE", sharpened, fact, memories[sharpened])]
    return [_entry("ADD", "new", fact, None)]


def _told(fact: str, matter: Matter, text: str) -> bool:
    """True when `text` states the fact: literally, in more words, or as the same value of the same attribute."""
    if content_hash(fact) == content_hash(text):
        return True
    stored = matter_of(text)
    if matter.denies != stored.denies or matter.ends != stored.ends:
        return False
    if matter.slot and matter.slot == stored.slot:
        said, held = set(words_of(matter.value).stems), set(words_of(stored.value).stems)
        return bool(said) and said <= held and words_of(fact).numbers <= words_of(text).numbers
    return not matter.slot and contained(fact, text)


def _other_value(matter: Matter, stored: Matter) -> bool:
    """True when both give different values to the same single-valued attribute."""
    if matter.denies or stored.denies or not matter.slot or matter.slot != stored.slot or matter.slot == "liking":
        return False
    return words_of(matter.value).stems != words_of(stored.value).stems


def _opposite(fact: str, matter: Matter, text: str) -> bool:
    stored = matter_of(text)
    if matter.ends:
        return stored.slot in _WORK_SLOTS and not stored.denies
    if stored.ends:
        return matter.slot in _WORK_SLOTS and not matter.denies
    if matter.denies == stored.denies:
        return False
    if matter.slot == stored.slot == "liking":
        return same_value(matter.value, stored.value)
    return overlap(matter.value, stored.value if stored.denies else text) >= _OPPOSITE


def _sharpens(fact: str, text: str) -> bool:
    """True when the fact begins like `text`, contains all of it, and says more."""
    if matter_of(text).denies != matter_of(fact).denies:
        return False
    if normalise(fact).startswith(f"{normalise(text)} "):
        return True
    begins_alike = words_of(fact).stems[:1] == words_of(text).stems[:1] and len(words_of(text).stems) > 1
    return begins_alike and contained(text, fact)


def _deleted(keys: Sequence[str], memories: Mapping[str, str]) -> list[Entry]:
    return [_entry("DELETE", key, memories[key], memories[key]) for key in keys]


def _entry(event: str, key: str, text: str, old: str | None) -> Entry:
    return {"id": key, "text": text, "event": event, "old_memory": old}
