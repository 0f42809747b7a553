"""Analysis of a statement: the attribute it sets, or the liking or activity it affirms or denies.

Some attributes hold one value at a time (a home, an employer, a diet), so a new value replaces the old one.
Likings and activities hold many values, so only the opposite statement replaces a statement.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from mnemoir.memory.facts.resemblance import words_of
from mnemoir.providers.llm.offline import vocabulary as v

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

    `denies` is True for "no longer", "hates" and similar words; `ends` for a statement that ends every employment.
    """

    slot: str
    value: str
    denies: bool = False
    ends: bool = False


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
    return Matter(slot="liking", value=match["v"], denies=against)


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
    return Matter(slot="", value=match["v"], denies=True) if match else None


_SLOTS = tuple((slot, re.compile(pattern, re.IGNORECASE)) for slot, pattern in _ONE_VALUE)
_READERS: tuple[Callable[[str], Matter | None], ...] = (
    _idle,
    _liking,
    _denied,
    _attribute,
    _relative,
    _named_attribute,
)
