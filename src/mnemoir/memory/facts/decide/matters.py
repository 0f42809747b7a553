"""What a statement is about, by its wording: the attribute it sets, or the liking or activity it affirms or denies.

A table (`predicates.toml`) says how many values an attribute has at a time. Where it has one (a home, an employer, a
diet), a new value takes the place of the old one, unless the statement says that a job is one of several. Likings and
activities have many, so only the opposite statement closes a statement. Statements in other languages than English
are read by their shapes, which name the same attributes. Both the offline model and the checks of any model's
decisions go by these rules.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from mnemoir.core.text import content_hash, normalise
from mnemoir.memory.facts.decide.denials import denies_whole
from mnemoir.memory.facts.decide.places import contains, may_contain, tells_move
from mnemoir.memory.facts.decide.predicates import (
    move_pattern,
    person_pattern,
    predicate_patterns,
    predicate_table,
    several_pattern,
    timely_pattern,
)
from mnemoir.memory.facts.decide.resemblance import is_part_of, overlap, stem, words_of
from mnemoir.memory.facts.decide.shapes import reading_of
from mnemoir.memory.facts.decide.values import is_of_kind
from mnemoir.memory.facts.reading.own_name import as_of_user
from mnemoir.memory.facts.reading.persons import about, people_in, statement_behind

_OPPOSITE = 0.75  # share of common words from which a denial concerns the same subject
_TIME = re.compile(r"\s(?:since|for the last|, moved from)\b.*$|,\s.*$", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:no longer|(?:it )?turn(?:s|ed) out not to be|has no|not|never|"
    r"doesn't|does not|don't|isn't|is not|is no longer|stopped|quit|gave up|given up|cannot|"
    r"can't|used to) (?:really |being )?(?P<v>.+)",
    re.IGNORECASE,
)
_CONTRASTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<verb>\w+) (?P<yes>.+?)(?:, (?:but |and )?not|,? (?:instead of|rather than)) (?P<no>.+)",
        r"(?P<verb>drinks|eats|likes|loves|prefers|uses|plays|takes|wears) (?P<yes>.+?) not (?P<no>.+)",
    )
)
_OWNED = re.compile(r"(?:has|owns|got|adopted|bought) (?:an?|one|the)\b(?P<what>.+)", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:called|named|name is) (\w+)", re.IGNORECASE)
_CLAUSE = re.compile(
    r";\s*|(?:,?\s+and\s+|,\s+)(?=(?:lives|works|is|has|likes|loves|enjoys|plays|speaks|owns|drives|studies|prefers|"
    r"hates|wants|teaches|drinks|eats)\s)",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"\s(?:on|in|at|with|for|to|of|by|from|during|about|since|over|than)\s", re.IGNORECASE)
_COUNT = "number of "
_NAMING = re.compile(r"\bnam|\bheiß|appelle|\bllam|\bchiam|\bcham|\bheet", re.IGNORECASE)
_STATES = frozenset({"relationship", "pregnancy"})  # "not married to Ida" leaves nothing of "married"
WORK = frozenset({"employer", "job"})
LEFT, CAN_BE_LEFT = "left", frozenset({"employer", "home"})  # "I left Bosch": whatever it was to the user


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """The subject of a statement: `slot` names the attribute, "" for none; `value` is its value in the statement.

    `more` is what the statement says beyond its value. `denies` is True for "no longer", "hates" and similar words;
    `ends` for a statement that ends every value of the slot; `many` where the attribute holds many values.
    """

    slot: str
    value: str
    more: str = ""
    denies: bool = False
    ends: bool = False
    many: bool = False


def matters_of(statement: str) -> tuple[Matter, ...]:
    """What `statement` is about, then what else it denies ("Drinks tea, not coffee")."""
    return _matters_of(as_of_user(statement))


@lru_cache(maxsize=4096)
def _matters_of(statement: str) -> tuple[Matter, ...]:
    text = statement_behind(" ".join(statement.replace("’", "'").split()).rstrip(".!"))
    text = timely_pattern().sub("", text)
    contrast = next((match for each in _CONTRASTS if (match := each.fullmatch(text))), None)
    if contrast:
        verb, yes, no = contrast["verb"], contrast["yes"], contrast["no"]
        return _read(f"{verb} {yes}"), replace(_read(f"{verb} {no}"), denies=True)
    main = _read(text)
    if move := move_pattern().fullmatch(text):
        return main, Matter(slot=f"{_key(move['who'])} home", value=move["v"], denies=True, many=True)
    if not main.slot.startswith("ex-"):
        return (main,)
    former = replace(main, slot=main.slot.removeprefix("ex-"), denies=True)
    return main, former, Matter(slot="", value=f"married to {main.value}", denies=True)


def matter_of(statement: str) -> Matter:
    """What `statement` is about in the first place."""
    return matters_of(statement)[0]


def stated_names(texts: Iterable[str]) -> Iterator[str]:
    """The names that the user has by these statements: "Name is Alex"."""
    for text in texts:
        matter = matter_of(text) if _NAMING.search(text) else None
        if matter and matter.slot == "name" and not matter.denies:
            yield matter.value


@lru_cache(maxsize=4096)
def normal_form(statement: str) -> str:
    """The normal form of a statement; each fact of a conversation is compared with each."""
    return normalise(statement)


def is_known(fact: str, stored: str) -> bool:
    """True when `stored` states the fact: literally, in more words, or as the same value of the same attribute.

    More words do not include another subject: "Prefers window seats on night trains" does not tell of night trains.
    """
    if normal_form(statement_behind(fact)) == normal_form(statement_behind(stored)):
        return True
    said, held = matter_of(fact), matter_of(stored)
    if len(matters_of(fact)) > 1 or (said.denies, said.ends) != (held.denies, held.ends):
        return False
    if not said.slot:
        is_contained = has_same_subject(fact, stored) and is_part_of(fact, stored)
        return not held.slot and _begins_alike(fact, stored) and is_contained
    if said.slot != held.slot or not words_of(fact).numbers <= words_of(stored).numbers:
        return False
    if not (words_of(said.more).known <= words_of(stored).known and _stems(said) <= _stems(held)):
        return _stems(said) <= words_of(held.more).known and _holds_home(said, held, fact)  # "Graz, Austria"
    return not said.many or words_of(_head(said.value)).known <= words_of(_head(held.value)).known


def is_same(fact: str, stored: str) -> bool:
    """True when both give the same value to the same attribute, in whatever words, and neither says more."""
    return is_known(fact, stored) and is_known(stored, fact)


def is_other_value(fact: str, stored: str) -> bool:
    """True when both give different values to an attribute that has one at a time; the fact may be the more exact."""
    return any(
        _differ(said, held) and not _holds_home(said, held, fact)
        for said in matters_of(fact)
        for held in matters_of(stored)
    )


def is_opposite(fact: str, stored: str) -> bool:
    """True when one denies or ends what the other affirms."""
    return any(_are_opposite(said, held, fact, stored) for said in matters_of(fact) for held in matters_of(stored))


def contradicts(fact: str, stored: str) -> bool:
    """True when both cannot hold: two values of an attribute with one at a time, or a statement and its denial."""
    return is_opposite(fact, stored) or any(
        _differ(said, held)
        and not (_same_value(said, held) or _holds_home(said, held, fact) or _holds_home(held, said, stored))
        for said in matters_of(fact)
        for held in matters_of(stored)
    )


def has_one_value(statement: str) -> bool:
    """True when the statement gives a value, other than a count, to an attribute that has one at a time.

    Two counts of a kind often tell of different things, as two denials do.
    """
    matter = matter_of(statement)
    return bool(matter.slot) and not matter.many and not matter.denies and not matter.slot.startswith(_COUNT)


def claims_of(statement: str) -> list[str]:
    """The clauses of a statement that joins several ("Lives in Graz and has a dog")."""
    return [clause.strip() for clause in _CLAUSE.split(statement) if clause.strip()]


def may_replace(text: str, claim: str) -> bool:
    """True when a new state of the same thing may drop the claim: both begin with a verb with one value at a time.

    Statements in scripts that no table reads are taken as the model took them.
    """
    if not any(char.isascii() and char.isalpha() for char in claim):
        return True
    return _verb(text) == _verb(claim) and _verb(claim) in _at_a_time()


def has_same_person(one: str, other: str) -> bool:
    """True when both are about the user, or about the same person or animal."""
    return _subject(one) == _subject(other)


def has_same_subject(one: str, other: str) -> bool:
    """True when both are about the same person, and both or neither in the past."""
    return has_same_person(one, other) and _is_past(one) == _is_past(other)


def statements_like(fact: str) -> Sequence[str]:
    """Statements of the slots of a fact that may have no word in common with it."""
    found = (predicate_table()["alike"].get(matter.slot, ()) for matter in matters_of(fact))
    return [text for texts in found for text in texts if content_hash(text) != content_hash(fact)]


def _read(text: str) -> Matter:
    """The matter of a statement; of one that names one of several jobs, as one of many."""
    found = _matter_in(text)
    bare = " ".join(several_pattern().sub(" ", text).split())
    if bare == text:
        return found
    one = _matter_in(bare)
    return replace(one, many=True) if one.slot in WORK else found


def _matter_in(text: str) -> Matter:
    """The matter of a statement; what gives an attribute no value of its kind is about no attribute."""
    found = next((found for read in _READERS if (found := read(text))), Matter(slot="", value=text))
    if is_of_kind(found.slot, found.value, found.more, text):
        return found
    return Matter(slot="", value=found.value if found.denies else text, denies=found.denies)


def _from_table(text: str) -> Matter | None:
    for kind, slot, pattern in predicate_patterns():
        match = pattern.fullmatch(text)
        if match:
            said = match.groupdict(default="")
            value = _TIME.sub("", said.get("v", text))
            return Matter(
                slot=slot.replace("who", _key(said.get("who", ""))),
                value=value,
                more=said.get("more", "") + said.get("v", text)[len(value) :],
                denies=kind in ("denials", "ends"),
                ends=kind == "ends",
                many=kind in ("many", "denials"),
            )
    return None


def _key(who: str) -> str:
    small = who.lower().replace("favorite", "favourite")
    return re.sub(r"\bkids?\b|\bchild\b", "children", small).removesuffix("s")


def _from_denial(text: str) -> Matter | None:
    match = _DENIED.fullmatch(text)
    if match is None:
        return None
    inner = _from_table(match["v"]) or _from_table(_third_person(match["v"]))
    if inner is None or inner.ends or not is_of_kind(inner.slot, inner.value, inner.more, match["v"]):
        return Matter(slot="", value=match["v"], denies=True)
    return replace(inner, denies=not inner.denies)


def _third_person(phrase: str) -> str:
    """ "like tea" and "liking tea" as the table has it."""
    verb, _, rest = phrase.partition(" ")
    base = verb.removesuffix("ing") + ("e" if verb in ("liking", "loving", "living") else "")
    return f"{base}s {rest}"


def _in_another_language(text: str) -> Matter | None:
    reading = reading_of(text)
    if reading is None:
        return None
    many = reading.key not in predicate_table()["one"] and " " not in reading.key
    return Matter(slot=reading.key, value=reading.value, denies=reading.denies, many=many)


_READERS = (_from_table, _from_denial, _in_another_language)


def _differ(said: Matter, held: Matter) -> bool:
    if said.denies or held.denies or not said.slot or said.slot != held.slot or said.many:
        return False
    return words_of(said.value).stems != words_of(held.value).stems


def _holds_home(wide: Matter, narrow: Matter, statement: str) -> bool:
    """True for homes of which the first contains the other one, or may, and is not said to be a new one."""
    if not wide.slot.endswith("home") or not may_contain(wide.value, narrow.value):
        return False
    return contains(wide.value, narrow.value) or not tells_move(statement)


def _are_opposite(said: Matter, held: Matter, fact: str, stored: str) -> bool:
    if said.ends or held.ends:
        ending, other, text = (said, held, stored) if said.ends else (held, said, fact)
        return not other.ends and (_died(ending, text) if ending.slot.endswith(" life") else _is_work(other))
    if said.denies == held.denies:
        return False
    denied, affirmed, text, denial = (said, held, stored, fact) if said.denies else (held, said, fact, stored)
    if affirmed.slot and not denied.slot:
        return 1 < len(_stems(denied)) == len(_stems(denied) & words_of(text).known)
    if denied.slot == LEFT:
        return affirmed.slot in CAN_BE_LEFT and _same_value(denied, affirmed)
    if denied.slot:
        if denied.slot != affirmed.slot or denied.slot in _STATES:
            return denied.slot == affirmed.slot and _same_value(denied, affirmed)
        if denied.slot.endswith("home") and contains(denied.value, affirmed.value):
            return True
        return denies_whole(denied.value + denied.more, text, denial)
    return (
        overlap(denied.value, text) >= _OPPOSITE
        and denies_whole(denied.value, text, denial)
        and not (_is_of_another(fact, stored) or _is_of_another(stored, fact))
    )


def _is_of_another(one: str, other: str) -> bool:
    """True when a statement is about a person whom the other one does not name."""
    of = about(statement_behind(one))
    return of.who == "person" and of.words.isdisjoint(people_in(other))


def _is_work(other: Matter) -> bool:
    return other.slot in WORK and not other.denies


def _died(death: Matter, stored: str) -> bool:
    """True when `stored` tells of the one who died as of one who lives: "Has a dog called Rex"."""
    who = death.slot.removesuffix("life").strip()
    name, named = death.value.lower(), [each.lower() for each in _NAMED.findall(stored)]
    has = _OWNED.match(stored)
    is_theirs = bool(has and who and re.search(rf"\b{re.escape(who)}\b", has["what"], re.IGNORECASE))
    if name and named:
        return name in named and (is_theirs or not who or stored.lower().startswith(who))
    return is_theirs


def _same_value(one: Matter, other: Matter) -> bool:
    """True when the word stems of one value are a subset of the other's; False for an empty value."""
    first, second = _stems(one), _stems(other)
    return bool(first and second) and (first <= second or second <= first)


def _stems(matter: Matter) -> frozenset[str]:
    return words_of(matter.value).known


def _head(value: str) -> str:
    """What a value names, without where, when or with whom: "window seats" of "window seats on night trains"."""
    return _PREPOSITION.split(value)[0]


def _begins_alike(one: str, other: str) -> bool:
    return words_of(one).stems[:1] == words_of(other).stems[:1]


def _subject(statement: str) -> str:
    match = person_pattern().match(statement_behind(statement))
    return match[0].lower() if match else ""


def _is_past(statement: str) -> bool:
    return _first_word(statement).endswith("ed")


def _verb(statement: str) -> str:
    return stem(_first_word(statement))


def _first_word(statement: str) -> str:
    return normalise(statement_behind(statement)).partition(" ")[0]


@cache
def _at_a_time() -> frozenset[str]:
    return frozenset(stem(word) for word in predicate_table()["at_a_time"]["words"].split())
