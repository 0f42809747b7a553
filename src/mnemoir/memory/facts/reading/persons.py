"""Tells whom a clause or a statement is about: the user, a person or an animal of the user's, somebody else, a thing.

There is no grammar behind it, but tables of words in seven languages (`persons.toml`, `kin.toml`): a first person
makes a clause the user's, and so does a missing subject ("moved to Linz"). A person in front of the verb makes it
that person's.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import takewhile
from typing import Any, Literal

from mnemoir.core.accents import without_accents
from mnemoir.memory.facts.reading.kin import kin_by_word
from mnemoir.memory.facts.reading.kinds import languages_of
from mnemoir.memory.facts.reading.own_name import as_of_user
from mnemoir.search import stop_words

_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d+")
_OWN_SUBJECT = re.compile(
    r"(?:(?:the )?user(?:'s|’s)\s+|(?:my|our)\s+(?:own\s+)?|(?:the )?user\s+(?=[a-z])|(?P<i>i)\s+(?=[a-z]))(?=\S)",
    re.IGNORECASE,
)
_MOST_NAMED = 3  # words of a subject, without those before it
_MOST_READ = 12  # words from the beginning, in which a subject stands


@dataclass(frozen=True, slots=True)
class About:
    """Whom words are about. `words` name a person or a thing, kin by its English name; empty for the others.

    `is_told` is True where the words have a first person.
    """

    who: Literal["user", "third", "person", "thing"]
    words: frozenset[str] = frozenset()
    is_told: bool = False


def statement_behind(text: str) -> str:
    """A statement without the user as its subject: "The user lives in Graz" is "Lives in Graz".

    "User's wife" and "my wife" are "Wife", and a verb of the first person becomes one of the third.
    """
    return _statement_behind(as_of_user(text))


@lru_cache(maxsize=4096)
def _statement_behind(text: str) -> str:
    found = _OWN_SUBJECT.match(text)
    if not found:
        return text
    rest = text[found.end() :]
    verb, space, behind = rest.partition(" ")
    if found["i"]:
        verb = _third_person(verb.lower())
    return f"{verb[:1].upper()}{verb[1:]}{space}{behind}"


def _third_person(verb: str) -> str:
    """A verb of the first person as one of the third; others, such as a past form, stay."""
    if verb in _word_set("base_verbs"):
        ending = "es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s"
        return f"{verb[:-1]}ies" if re.search("[^aeiou]y$", verb) else f"{verb}{ending}"
    return {"am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't"}.get(verb, verb)


def about(text: str) -> About:
    """Whom a clause, or a statement, is about."""
    return _about(as_of_user(text))


@lru_cache(maxsize=4096)
def _about(text: str) -> About:
    plain = without_accents(text.replace("’", "'"))
    original = _WORD.findall(plain)
    words = [word.lower() for word in original]
    is_told = bool(_first(words) or not _word_set("first_too").isdisjoint(words))
    if _first(words) and not _is_article(words):
        return About("user", is_told=True)
    start = words[:_MOST_READ]
    if person := _person_in_front(start):
        return About("person", frozenset({person, *_names_behind(original, start, person)}))
    if start and start[0] in _word_set("third"):
        return About("third")
    if start and (start[0] in _word_set("second") or (_is_likeness(start) and not is_told)):
        return About("thing")
    if start[:1] == ["user"] or start[:2] == ["the", "user"]:
        return About("user", is_told=is_told)
    if name := _name_in_front(original, start):
        return About("person", frozenset({name}))
    if is_told:
        return About("user", is_told=True)
    if _is_joint_subject(original):
        return About("person", frozenset({words[0]}))
    if start and start[0] in _word_set("definite") and len(start) > 1:
        return About("thing", frozenset(start[1:3]) - _word_set("preposition"))
    return About("user")


def people_in(text: str) -> frozenset[str]:
    """The people and animals of the user that a text names, by their English names, and all its other words."""
    words = [word.lower() for word in _WORD.findall(without_accents(text.replace("’", "'")))]
    return frozenset(words) | {kin for word in words if (kin := _kin().get(word.removesuffix("'s")))}


def subject_words() -> frozenset[str]:
    """Words with which a clause about a person may begin."""
    return _word_set("first") | _word_set("third") | _word_set("possessive") | {"im", "ive"}


def kin_words() -> Sequence[str]:
    """The words for people and animals of a user, the longest first."""
    return sorted(map(re.escape, _kin()), key=len, reverse=True)


def possessive_words() -> str:
    """The possessives, as the alternatives of a pattern."""
    return "|".join(sorted(_word_set("possessive")))


def is_known_verb(word: str) -> bool:
    """True for a word in small letters that is a verb of a first or a third person."""
    return word in _word_set("verbs") or word in _word_set("base_verbs")


def telling_verbs() -> str:
    """The verbs that tell something of a third person, as the alternatives of a pattern."""
    return "|".join(sorted(map(re.escape, _word_set("verbs")), key=len, reverse=True))


def names_subject_alone(text: str) -> bool:
    """True for the first of several subjects, without anything that is told of it: "Rosa", "my older sister"."""
    words = _WORD.findall(without_accents(text))
    skipped = _word_set("before") | _word_set("possessive") | _word_set("definite")
    named = [word for word in words if word.lower() not in skipped]
    return 0 < len(named) <= _MOST_NAMED and all(
        word.lower() in _kin() or (word[:1].isupper() and word.lower() not in _word_set("openers")) for word in named
    )


def their_words(code: str) -> str:
    """What something of somebody else begins with in a language, as the alternatives of a pattern."""
    return str(_table()["their"][code])


def is_name_too(word: str) -> bool:
    """True for a word in small letters that is a name, too: "will", "rose"."""
    return word in _word_set("names_too")


def is_ordinary_word(word: str, code: str) -> bool:
    """True for a word in small letters that may begin a sentence of the language, or is a verb, and is no name."""
    if is_name_too(word):
        return False
    ordinary = ("openers", "properties", "verbs", "base_verbs", "second", "third")
    return any(word in _word_set(name) for name in ordinary) or word in _function_words(code)


def _is_likeness(words: Sequence[str]) -> bool:
    """True for "Tastes like soap", which tells of a thing that was named before."""
    return words[0] in _word_set("properties") and not _word_set("likeness").isdisjoint(words[1:2])


def _first(words: Sequence[str]) -> bool:
    return any(word in _word_set("first") or word.startswith(("i'", "j'", "we'")) for word in words)


def _is_article(words: Sequence[str]) -> bool:
    """True for Italian "i miei figli", which has no other first person."""
    firsts = [at for at, word in enumerate(words) if word in _word_set("first")]
    return (
        len(firsts) == 1
        and words[firsts[0]] == "i"
        and words[firsts[0] + 1 : firsts[0] + 2]
        in (
            ["miei"],
            ["nostri"],
        )
    )


def _person_in_front(words: Sequence[str]) -> str | None:
    """The person that the clause begins with, behind words that may stand before a subject."""
    skipped = _word_set("before") | _word_set("possessive") | _word_set("definite") | _word_set("indefinite")
    for at, word in enumerate(words):
        kin = _kin().get(word.removesuffix("'s"))
        if kin and not (at and words[at - 1] in _word_set("preposition") - _word_set("possessive")):
            return kin
        if word not in skipped and not word.isdigit():
            return None
    return None


def _names_behind(original: Sequence[str], words: Sequence[str], person: str) -> list[str]:
    """The names behind the person: "my new wife Lisi"."""
    at = next(place for place, word in enumerate(words) if _kin().get(word.removesuffix("'s")) == person)
    return [name.lower() for name in takewhile(lambda name: name[:1].isupper(), original[at + 1 : at + 3])]


def _name_in_front(original: Sequence[str], words: Sequence[str]) -> str | None:
    """The name that the clause begins with: "Anna works at a bank"."""
    while words and words[0] in _word_set("before"):
        original, words = original[1:], words[1:]
    if len(words) < 2 or not original[0][:1].isupper() or words[0] in _word_set("openers"):
        return None
    if words[0] in _word_set("verbs") or words[0] in _word_set("definite"):
        return None
    is_name = is_name_too(words[0])
    if not is_name and any(words[0] in _function_words(code) for code in languages_of(" ".join(words))):
        return None
    behind = 2 if original[1][:1].isupper() and len(words) > 2 and words[1] not in _word_set("verbs") else 1
    return words[0] if words[behind] in _word_set("verbs") else None


def _is_joint_subject(original: Sequence[str]) -> bool:
    """True for a name that another person is joined to, with what is told of both: "Rosa and her husband live"."""
    if len(original) < 4 or not original[0][:1].isupper():
        return False
    codes, first, join = languages_of(" ".join(original)), original[0].lower(), original[1].lower()
    if not any(join in _table()["joins"][code].split() for code in codes) or first in _word_set("openers"):
        return False
    if any(first in _function_words(code) for code in codes):
        return False
    is_name = original[2][:1].isupper() and join != "en"  # Spanish, too: "Trabajo en Bosch"
    return is_name or any(word.lower() in _kin() for word in original[3:6])


@cache
def _function_words(code: str) -> frozenset[str]:
    return frozenset(map(without_accents, stop_words.BY_LANGUAGE[code]))


@cache
def _word_set(name: str) -> frozenset[str]:
    return frozenset(_table()[name].split())


def _kin() -> Mapping[str, str]:
    return kin_by_word("people", "animals", "surroundings")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "persons.toml").read_text(encoding="utf-8"))
