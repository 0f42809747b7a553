"""Reconciliation of new facts with stored memories by rule; the answer has the shape of a model's answer.

For each fact the memories are checked in this order: a memory that states the fact already makes it a no-op; a memory
with another value of the same attribute is updated; a memory that states the opposite is deleted and the fact added;
a memory that the fact states in more detail is updated. Otherwise the fact is added.

For this each statement is analysed: the attribute it sets, or the liking or activity it affirms or denies. Some
attributes hold one value at a time (a home, an employer, a diet), so a new value replaces the old one. Likings and
activities hold many values, so only the opposite statement replaces a statement. Statements in other languages than
English are analysed by their shapes, which name the same attributes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mnemoir.core.text import content_hash, normalise
from mnemoir.memory.facts.resemblance import contained, overlap, words_of
from mnemoir.providers.llm.offline import vocabulary as v
from mnemoir.memory.facts.shapes import reading_of

Entry = dict[str, Any]  # one row of the answer, JSON
_OPPOSITE = 0.75  # share of common words from which a denial concerns the same subject
_WORK_SLOTS = frozenset({"employer", "job"})
_TIME = re.compile(r"\s(?:since|for the last|, moved from)\b.*$|,\s.*$", re.IGNORECASE)
_ONE_VALUE: tuple[tuple[str, str], ...] = (
    ("name", r"(?:name is|(?:is )?(?:named|called)) (?P<v>.+)"),
    ("nickname", r"goes by (?P<v>.+)"),
    ("age", r"(?:is )?(?P<v>\d{1,3}) years old"),
    ("home", r"(?:now |currently )?(?:lives|resides|living|is based|based) (?:in|near) (?P<v>.+)"),
    ("home", r"has been living in (?P<v>.+)"),
    ("home", r"(?:has )?(?:moved|relocated) to (?P<v>.+)"),
    ("employer", r"(?:now |currently )?works? (?:at|for) (?P<v>.+)"),
    ("employer", r"(?:employer|company) is (?P<v>.+)"),
    ("job", r"(?:now |currently )?works? as (?:an? |the )?(?P<v>.+)"),
    ("job", r"(?:job|profession|occupation) is (?P<v>.+)"),
    ("diet", rf"(?:is |became |turned |went )?(?:now )?(?:an? )?(?:strict |lifelong )?(?P<v>{v.DIETS})\b.*"),
    ("diet", r"(?P<v>eats meat)\b.*"),
    ("relationship", r"(?:is |got )?(?P<v>single|married|divorced|engaged|widowed|in a relationship)\b.*"),
    ("birthday", r"birthday is (?:on )?(?P<v>.+)"),
)
_SINGLE = frozenset(slot for slot, _ in _ONE_VALUE)  # and each attribute of a named person or thing
_RELATIVE = re.compile(rf"(?P<who>{v.PEOPLE}|{v.PETS}) is (?:called|named) (?P<v>.+)", re.IGNORECASE)
_ATTRIBUTE = re.compile(rf"(?P<what>{v.ATTRIBUTES}|favou?rite .+?) (?:is|are) (?P<v>.+)", re.IGNORECASE)
_MANY_OF_A_KIND = frozenset({"hobby", "hobbies", "diet", "goal", "dream", "major", "degree"})
_LIKING = (
    r"loves?|likes?|enjoys?|adores?|prefers?|is (?:fond of|into|keen on|crazy about|passionate about|obsessed with|"
    r"interested in)|is a (?:huge |big )?fan of"
)
_DISLIKING = r"hates?|dislikes?|detests?|despises?|loathes?|cannot stand|can't stand|avoids?"
_DENIAL = (
    r"no longer|not|never|doesn't|does not|don't|isn't|is not|is no longer|stopped|quit|gave up|given up|"
    r"cannot|can't|"
    r"used to"
)
_LIKED = re.compile(
    rf"(?P<denial>(?:{_DENIAL}) )?(?:(?P<likes>{_LIKING}|liking|loving)|(?P<hates>{_DISLIKING})) (?P<v>.+)",
    re.IGNORECASE,
)
_DENIED = re.compile(rf"(?:{_DENIAL}) (?:really |being )?(?P<v>.+)", re.IGNORECASE)
_IDLE = re.compile(
    r"(?:is |got )?(?P<how>retired|unemployed|jobless|laid off|fired|between jobs)\b.*|(?:no longer|stopped) "
    r"work(?:s|ing)?"
    r"(?: in .*)?|(?:lost|quit) (?:the |a )?job.*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """The subject of a statement: `slot` names the attribute, "" for none; `value` is its value in the statement.

    `denies` is True for "no longer", "hates" and similar words; `ends` for a statement that ends every employment;
    `many` where the attribute holds many values.
    """

    slot: str
    value: str
    denies: bool = False
    ends: bool = False
    many: bool = False


@lru_cache(maxsize=2048)
def matter_of(statement: str) -> Matter:
    """The subject of `statement`, by its wording."""
    text = " ".join(statement.replace("’", "'").split()).rstrip(".!")
    return next((found for read in _READERS if (found := read(text))), Matter(slot="", value=text))


def same_value(a: str, b: str) -> bool:
    """True when the word stems of one value are a subset of the other's; False for an empty value."""
    first, second = set(words_of(a).stems), set(words_of(b).stems)
    return bool(first and second) and (first <= second or second <= first)


def _idle(text: str) -> Matter | None:
    return Matter(slot="work", value=text, denies=True, ends=True) if _IDLE.fullmatch(text) else None


def _liking(text: str) -> Matter | None:
    match = _LIKED.fullmatch(text)
    if match is None:
        return None
    against = bool(match["hates"]) != bool(match["denial"])
    return Matter(slot="liking", value=match["v"], denies=against, many=True)


def _attribute(text: str) -> Matter | None:
    for slot, pattern in _SLOTS:
        match = pattern.fullmatch(text)
        if match:
            return Matter(slot=slot, value=_TIME.sub("", match["v"]))
    return None


def _relative(text: str) -> Matter | None:
    match = _RELATIVE.fullmatch(text)
    return Matter(slot=f"{match['who'].lower()} name", value=match["v"]) if match else None


def _named_attribute(text: str) -> Matter | None:
    match = _ATTRIBUTE.fullmatch(text)
    if match is None or match["what"].lower() in _MANY_OF_A_KIND:
        return None
    return Matter(slot=match["what"].lower().replace("favorite", "favourite"), value=match["v"])


def _denied(text: str) -> Matter | None:
    match = _DENIED.fullmatch(text)
    if match is None:
        return None
    attribute = _attribute(match["v"])
    return Matter(slot=attribute.slot if attribute else "", value=match["v"], denies=True)


def _in_another_language(text: str) -> Matter | None:
    reading = reading_of(text)
    if reading is None:
        return None
    many = reading.key not in _SINGLE and " " not in reading.key
    return Matter(slot=reading.key, value=reading.value, denies=reading.denies, many=many)


_SLOTS = tuple((slot, re.compile(pattern, re.IGNORECASE)) for slot, pattern in _ONE_VALUE)
_READERS: tuple[Callable[[str], Matter | None], ...] = (
    _idle,
    _liking,
    _denied,
    _attribute,
    _relative,
    _named_attribute,
    _in_another_language,
)


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
    """The facts of one conversation after later ones updated or deleted earlier ones, in the order first said.

    "No longer lives in Leeds" is left out beside "Lives in York": the new value alone replaces the stored one.
    """
    kept: dict[str, str] = {}
    for number, fact in enumerate(facts):
        for entry in _decide_one(fact, kept):
            if entry["event"] == "ADD":
                kept[f"new {number}"] = fact
            elif entry["event"] == "UPDATE":
                kept[entry["id"]] = fact
            elif entry["event"] == "DELETE":
                del kept[entry["id"]]
    valued = {matter.slot for matter in map(matter_of, kept.values()) if not matter.denies} & _SINGLE
    return [fact for fact in kept.values() if not (matter_of(fact).denies and matter_of(fact).slot in valued)]


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
    if matter.denies or stored.denies or not matter.slot or matter.slot != stored.slot or matter.many:
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
    denied, held = (matter, stored) if matter.denies else (stored, matter)
    if denied.slot:
        inner = _attribute(denied.value)  # of "lives in Graz"; the value of another language has no verb
        if denied.slot == held.slot:
            return same_value(inner.value if inner else denied.value, held.value)
        if held.slot or inner is None:
            return False
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
