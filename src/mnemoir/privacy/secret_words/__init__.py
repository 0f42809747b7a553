"""The words by which a sentence tells a secret, in the languages that facts are learned from, and the forms of keys.

A language is a table of patterns in a file beside this module, over a text in small letters without accents ("ß" is
"s"). All tables are read at once, since people mix languages: one asks nobody which language a sentence is in.

A text without any of the `stems` of the tables, and of the `short_stems` where a word begins, has none of their
words. A table has, of the words for secrets, from the most telling to the least:
    `phrase`    a secret of several words: "seed phrase"
    `code`      a code that opens something by itself: "PIN", "recovery code"
    `number`    a number of a person that opens accounts: "SSN"
    `password`  a secret of any signs
    `key`       a long irregular one: "API key"
    `bare`      a code of anything; it is a secret where its sentence names a `thing` to open
and of the words around them:
    `thing`       what a code opens
    `is`          joins the word to the secret behind it, `as` to the one before it
    `own`         whose it is, before the word
    `filler`      stands between `is` and the secret
    `gap`         begins what may stand between the word and `is`
    `not_before`  makes a harmless code of the word when it stands before it, `not_behind` behind it
    `plain`       the small words of sentences, which no secret of words has
    `traits`      what sentences say of secrets, by words; `describing` by the forms of words
    `unit`        follows a number that counts something
    `numeral`     a digit as a word
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
KINDS = ("phrase", "code", "number", "password", "key", "bare")
_OTHERS = "others"  # words for passwords in further languages
_REACH = 80  # characters of a word of several before and behind its stem
_WORD_END = re.compile(r"\w*")
_LONGEST_WORD = 24  # characters of a part of a compound; the work for a text stays linear


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretWords:
    """The patterns of all tables. In `word` the name of the group that matched is the kind of the secret."""

    stems: frozenset[str]
    short_stems: re.Pattern[str]
    any_stem: re.Pattern[str]
    word: re.Pattern[str]
    thing: re.Pattern[str]
    joins: re.Pattern[str]
    before: re.Pattern[str]
    gap: re.Pattern[str]
    not_before: re.Pattern[str]
    not_behind: re.Pattern[str]
    describing: re.Pattern[str]
    unit: re.Pattern[str]
    numerals: re.Pattern[str]
    plain: frozenset[str]
    traits: frozenset[str]

    def may_be_in(self, folded: str) -> bool:
        """False for a text without any of the words: most texts."""
        return any(map(folded.__contains__, self.stems)) or self.short_stems.search(folded) is not None

    def places(self, folded: str) -> Iterator[tuple[int, int]]:
        """The parts of a text in which the words stand: those around the stems, from one end of a word to another."""
        begin = end = 0
        for stem in self.any_stem.finditer(folded):
            if stem.start() - _REACH > end:
                if end:
                    yield begin, end
                begin = max(end, stem.start() - _REACH)
            end = _WORD_END.match(folded, min(stem.end() + _REACH, len(folded))).end()  # type: ignore[union-attr]
        if end:
            yield begin, end


@cache
def secret_words() -> SecretWords:
    """All tables, compiled; it takes some 0.1 s once."""
    tables = [_table(name) for name in (*LANGUAGES, _OTHERS)]

    def either(name: str) -> str:
        return "|".join(_linear_pattern(table[name].strip().replace("\n", "")) for table in tables if name in table)

    def words_of(name: str) -> frozenset[str]:
        return frozenset(word for table in tables for word in table.get(name, "").split())

    kinds = "|".join(f"(?P<{kind}>{either(kind)})" for kind in KINDS)
    fillers = rf"(?:(?:{either('filler')})\s+){{0,2}}"
    return SecretWords(
        stems=words_of("stems"),
        short_stems=re.compile(rf"(?<![a-z])(?:{'|'.join(sorted(words_of('short_stems')))})"),
        any_stem=re.compile("|".join(map(re.escape, sorted(words_of("stems") | words_of("short_stems"))))),
        word=re.compile(rf"(?:(?<![^\W_])|(?<=[^\x00-\u0fff]))(?:{kinds})(?:(?!\w)|(?=[^\x00-\u0fff]))"),
        thing=re.compile(
            rf"(?<!\w)(?:{either('thing')})(?:(?!\w)|(?=s?-?(?:code|kode|zahl|kombi|combi|cijfer|pin)))"
        ),
        joins=re.compile(
            rf"(?P<sign>\s{{0,3}}[:=](?!//)\s{{0,9}})|(?:(?<=\s)|(?=['’])|(?<=[^\x00-\u0fff])|(?=[^\x00-\u0fff]))"
            rf"(?P<verb>{either('is')})(?:(?!\w)|(?<=[^\x00-\u0fff]))[\s:]{{0,3}}{fillers}"
        ),
        before=re.compile(
            rf"\s(?:{either('is')}|{either('as')})\s(?:(?:{either('own')})\s)?"
            rf"(?P<between>(?:[^\W\d_]{{1,20}}(?:['’-]\w{{1,12}})?\s){{0,2}})\Z"
        ),
        gap=re.compile(rf"\s*(?:\Z|[,(–—\[-]|(?:{either('gap')})(?!\w))"),
        not_before=re.compile(rf"(?<!\w)(?:{either('not_before')})[\s-]{{0,2}}\Z"),
        not_behind=re.compile(rf"[\s-]+(?:{either('not_behind')})(?!\w)"),
        describing=re.compile(either("describing")),
        unit=re.compile(rf"\s*(?:[%€$£°]|[.,:]\d)|[\s-]+(?:{either('unit')})(?!\w)"),
        numerals=re.compile(rf"(?:{either('numeral')})(?:[\s,-]{{1,3}}(?:{either('numeral')})){{2,15}}(?!\w)"),
        plain=words_of("plain"),
        traits=words_of("traits"),
    )


@cache
def key_forms() -> re.Pattern[str]:
    """The forms of keys; group `login` or `header` is the secret in one, `prefixed` must be irregular to be one."""
    table = _table("keys")
    prefixes = table["prefixes"].strip().replace("\n", "")
    prefixed = rf"(?<![\w.-])(?=\w)(?P<prefixed>(?:{prefixes})[A-Za-z0-9_=.-]{{20,}})"
    return re.compile("|".join((*table["forms"], prefixed)))


def _linear_pattern(pattern: str) -> str:
    return pattern.replace(r"\w+", rf"\w{{1,{_LONGEST_WORD}}}").replace(r"\w*", rf"\w{{0,{_LONGEST_WORD}}}")


def _table(name: str) -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))
