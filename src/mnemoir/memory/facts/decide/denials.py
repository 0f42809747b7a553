"""How much a denial denies: "doesn't smoke in the house" leaves the rest of "smokes", "no longer smokes" nothing."""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from mnemoir.core.accents import without_accents
from mnemoir.memory.facts.decide.spoken_words import spoken_words
from mnemoir.memory.facts.decide.witness_words import content_words

_NUMBER = re.compile(r"\d+")


@lru_cache(maxsize=4096)
def denies_whole(denied: str, text: str, statement: str) -> bool:
    """True when what a statement has `denied` narrows what `text` affirms by no kind, time, place, number, company.

    Since when and why it is denied narrows nothing. Words in scripts without capitals are not compared.
    """
    plain, affirmed = _plain(denied), _plain(text)
    marks = {found[0].lower() for found in _pattern("narrowing").finditer(plain)}
    if not marks <= set(_pattern("narrowing").findall(affirmed.lower())):
        return False
    if _pattern("day").search(plain) and not _pattern("ended").search(_plain(statement)):
        return False
    rest = _pattern("unnarrowed").sub(" ", _pattern("day").sub(" ", plain.partition(",")[0]))
    if not set(_NUMBER.findall(rest)) <= set(_NUMBER.findall(text)):
        return False
    said = content_words(rest)
    forms = frozenset(form for word in spoken_words(text) for form in word.forms)
    return bool(said) and all(
        not word.forms.isdisjoint(forms) or word.text.lower() == word.text.upper() for word in said
    )


def _plain(text: str) -> str:
    return without_accents(text.replace("’", "'"))


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    text = (files(__package__) / "denials.toml").read_text(encoding="utf-8")
    words = tomllib.loads(text)[kind].replace("\n", "")
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
