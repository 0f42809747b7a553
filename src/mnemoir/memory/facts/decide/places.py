"""How wide a place is, and whether one place may lie in another: "Austria" is wider than "Graz".

Who lives in Graz lives in Austria, too: a wider place that may contain the narrower one gives no other home. There is
no list of all towns, so a town that is not known to lie elsewhere may lie in any country. Countries, continents and
some towns are those of CLDR, in seven languages; parts of countries and more towns stand in `places.toml`.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from mnemoir.core.accents import without_accents

_TOWN, _REGION, _COUNTRY, _CONTINENT = range(4)
_WORD = re.compile(r"[^\W_]+(?:[.'-]+[^\W_]+)*")
_MOST_WORDS = 7  # of a place with what stands before it


@dataclass(frozen=True, slots=True)
class _Place:
    """The width of a place, from towns (0) to continents (3), and the code of its country; "" where unknown."""

    width: int
    country: str = ""


_UNKNOWN = _Place(_TOWN)


def may_contain(wide: str, narrow: str) -> bool:
    """True when the first place is wider than the second one, and not known to be another country than that one's."""
    outer, inner = _place(plain_name(wide)), _place(plain_name(narrow))
    if outer.width <= inner.width:
        return False
    return not (outer.country and inner.country) or outer.country == inner.country


def contains(wide: str, narrow: str) -> bool:
    """True when the first place is wider than the second one, and both are known to be of one country."""
    return (
        may_contain(wide, narrow)
        and bool(_place(plain_name(wide)).country)
        and bool(_place(plain_name(narrow)).country)
    )


def is_wide(place: str) -> bool:
    """True for a part of a country, a country or a continent."""
    return _place(plain_name(place)).width > _TOWN


def tells_move(statement: str) -> bool:
    """True for a statement after which a former home holds no longer: "Moved to Norway"."""
    return bool(_move_pattern().search(plain_name(statement)))


def plain_name(text: str) -> str:
    """A name as the tables have it: small letters without accents."""
    return " ".join(without_accents(text).lower().replace("’", "'").replace("&", "and").split())


@lru_cache(maxsize=4096)
def _place(text: str) -> _Place:
    """The place that a text names, or a part of it: "the south of France" and "Süddeutschland" are parts."""
    known = _places()
    words = _WORD.findall(text)
    if not words or len(words) > _MOST_WORDS:
        return _UNKNOWN
    for begin in range(len(words)):
        name = " ".join(words[begin:])
        found = known.get(name)
        before = set(words[:begin])
        if found and before <= _names("parts") | _names("articles"):
            return found if before.isdisjoint(_names("parts")) else _as_part(found)
    base = _prefix().sub("", words[-1], count=1)
    found = known.get(base) if base != words[-1] else None
    return _as_part(found) if found and found.width == _COUNTRY else _UNKNOWN


def _as_part(place: _Place) -> _Place:
    return _Place(max(place.width - 1, _REGION), place.country)


@cache
def _places() -> Mapping[str, _Place]:
    """The places wider than towns, and some towns whose country is known, by their names."""
    return dict((*_of_cldr(), *_entries()))


def _of_cldr() -> Iterator[tuple[str, _Place]]:
    """Places of the file that `tools/places.py` makes; what of the namesakes a bare name means is said below."""
    table = json.loads((files(__package__) / "cldr_places.json").read_text(encoding="utf-8"))
    shared, town_states = _split(_table()["namesakes"]), _table()["town_states"].split()
    yield from ((name, _Place(_TOWN, code)) for name, code in table["towns"].items() if name not in shared)
    yield from ((name, _Place(_CONTINENT)) for name in table["continents"])
    yield from (
        (name, _Place(_COUNTRY, code)) for name, code in table["countries"].items() if code not in town_states
    )


def _entries() -> Iterator[tuple[str, _Place]]:
    for kind, width in (("towns", _TOWN), ("countries", _COUNTRY), ("regions", _REGION)):
        for code, names in _table()[kind].items():
            yield from ((name, _Place(width, code)) for name in _split(names))
    yield from ((name, _Place(_REGION)) for name in _split(_table()["wide"]["region"]))
    yield from ((name, _Place(_CONTINENT)) for name in _split(_table()["wide"]["continent"]))


def _split(text: str) -> list[str]:
    return text.replace("\n", "").split("|")


@cache
def _names(kind: str) -> frozenset[str]:
    return frozenset(_split(_table()["words"][kind]))


@cache
def _prefix() -> re.Pattern[str]:
    return re.compile(rf"^(?:{_table()['words']['prefixes']})-?(?=\w{{4}})")


@cache
def _move_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_table()['words']['moving']})(?!\w)".replace("\n", ""))


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "places.toml").read_text(encoding="utf-8"))
