"""Whether what is said of a home, an employer, a job, a name is one of its kind (`values.toml`).

"Lives in Linz" gives another home than "Lives in Graz"; "Lives in a small flat", "Lives in peace", "Works at night"
tell something beside the home and the employer.
"""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from mnemoir.core.accents import without_accents

_WORD = re.compile(r"\w[\w'&.-]*")
_MOST_WORDS = 2  # of a name in small letters
_MOST_OF_NAME = 5  # words of a person's name


@lru_cache(maxsize=4096)
def is_of_kind(slot: str, value: str, more: str, statement: str) -> bool:
    """True when the value that a statement gives to an attribute names one of its kind; so it does for most."""
    if slot == "home":
        return _names_thing(value, statement)
    if slot == "employer":
        return _names_thing(value, statement) or _has("workplaces", value)
    if slot == "job":
        return not _begins("not_jobs", value)
    if slot == "name":
        return _names_person(value)
    if slot == "relationship":
        return not _begins("no_spouses", more.strip()) and not _has("no_spouses", statement)
    return True


def _names_person(value: str) -> bool:
    words = value.split(",")[0].split()
    return 0 < len(words) <= _MOST_OF_NAME and not _begins("of_names", value)


def _names_thing(value: str, statement: str) -> bool:
    """True for a value with a name where one may stand, and for one in small letters that is no ordinary word."""
    words = _WORD.findall(_tail().split(_plain(value))[0])
    is_free = bool(words) and not _is("determiners", words[0]) and not _begins("german", statement)
    named = False
    for at, word in enumerate(words):
        may_stand = is_free or at == 0 or _is("before", words[at - 1]) or named
        may_stand = may_stand or (at == 1 and not _begins("german", statement) and _is("determiners", words[0]))
        named = may_stand and any(map(str.isupper, word)) and not _is("ordinary", word)
        if named or _is("articled", word):
            return True
    bare = [word for word in words if not any(char.isupper() for char in word)]
    return 0 < len(bare) == len(words) <= _MOST_WORDS and not any(
        _is("ordinary", word.removeprefix("l'")) or _is("determiners", word) for word in words
    )


def _plain(text: str) -> str:
    return without_accents(text.replace("’", "'"))


def _is(kind: str, word: str) -> bool:
    return bool(_pattern(kind).fullmatch(_plain(word)))


def _begins(kind: str, text: str) -> bool:
    return bool(_pattern(kind).match(_plain(text)))


def _has(kind: str, text: str) -> bool:
    return bool(_pattern(kind).search(_plain(text)))


@cache
def _tail() -> re.Pattern[str]:
    return re.compile(rf",|\s(?:{_table()['tails']})\s", re.IGNORECASE)


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_table()[kind]})(?!\w)", re.IGNORECASE)


@cache
def _table() -> dict[str, str]:
    text = (files(__package__) / "values.toml").read_text(encoding="utf-8")
    table = {name: words.replace("\n", "") for name, words in tomllib.loads(text).items()}
    return {name: words.replace("{determiners}", table["determiners"]) for name, words in table.items()}
