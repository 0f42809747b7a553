"""Where the sentences of a text end, in seven languages and in Chinese and Japanese.

A dot behind a title, an abbreviation, an initial or an ordinal is no end: "Lives in St. Louis" is one sentence. What
is cut too early is stored as a wrong fact, what is cut too late only as a long one; so an unclear dot is an end only
where the next word begins sentences. The words stand in a table, `abbreviations.toml`.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from mnemoir.core import first_use

# No run of marks or white space is tried again from within: that would take the square of its length.
_END = first_use.pattern(
    r"(?<![.!?…])(?P<mark>[.!?…]++)[\"'”’»)\]]*+\s++|[。！？]++[」』”’）]*+\s*+|(?<!\s)(?:(?!\n)\s)*+\n\s*+"
)
_ASKS = first_use.pattern(r"[?？؟吗]\W*$")
_QUESTION_ENDS = 20  # characters at the end of a text that are searched for a question mark
_BEHIND = 40  # characters before a dot that are looked at; an abbreviation and the word before it are shorter
_EDGES = "\"'“”„«»‘’([{<¿¡-–—*_"
_NEXT = first_use.pattern(r"[\"'“”„«‘(\[¿¡*_-]*(?P<word>\w[\w'-]*)")
_LETTERS = first_use.pattern(r"[^\W\d_](?:\.[^\W\d_])*|(?P<plural>[A-Z])(?P=plural)")  # "J", "U.S", "EE. UU."
_STREET = "str"  # the end of names of streets: "Gartenstr."
_ROMAN = first_use.pattern(r"[IVX]{1,5}")
_ORDINAL = first_use.pattern(r"\d{1,3}")
_NUMBER = first_use.pattern(r"\d|(?:[VX]|[IVX]{2,})\b")


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a text in order, each with its closing mark and without white space at its edges."""
    begin = 0
    for end, following in sentence_ends(text):
        if sentence := text[begin:end].strip():
            yield sentence
        begin = following
    if sentence := text[begin:].strip():
        yield sentence


def sentence_ends(text: str) -> Iterator[tuple[int, int]]:
    """The places where a sentence ends and where the next one begins, in order; the end of the text is none.

    A line ends a sentence, too. The time is linear in the length of the text.
    """
    for found in _END.finditer(text):
        mark = found["mark"]
        if mark is None or "\n" in found[0] or _is_end(text, found.start(), mark, found.end()):
            yield found.start() + len(found[0].rstrip()), found.end()


def asks(text: str) -> bool:
    """True when a text ends as a question does: with a question mark, or the Chinese word for one."""
    return bool(_ASKS.search(text[-_QUESTION_ENDS:]))


def asking_share(text: str) -> float:
    """The share of a text, by characters, that is in sentences that ask."""
    asked = told = 0
    for sentence in sentences_of(text):
        if asks(sentence):
            asked += len(sentence)
        else:
            told += len(sentence)
    return asked / ((asked + told) or 1)


def is_title(word: str) -> bool:
    """True for an abbreviation that nothing but a name follows, such as "Dr." or "St", with its dot or without."""
    return _spelling(word.removesuffix(".")) in _words("titles")


def _is_end(text: str, at: int, mark: str, following: int) -> bool:
    """True when the mark at a place ends a sentence, and the text from `following` on is the next one."""
    before = text[max(0, at - _BEHIND) : at].split()
    word = before[-1].lstrip(_EDGES).replace("’", "'").rpartition("'")[2] if before else ""  # "l'avv." is "avv."
    next_word = _NEXT.match(text, following)
    behind = next_word["word"] if next_word else ""
    if mark in ("!", "?"):
        return _ends_name(f"{word}{mark}".lower(), behind)
    return mark != "." or _is_end_of(word, before[-2] if len(before) > 1 else "", behind)


def _is_end_of(word: str, previous: str, behind: str) -> bool:
    """True when the dot behind `word` ends a sentence; `previous` stands before it, `behind` is the next word."""
    small = _spelling(word)
    if small in _words("inside") or f"{previous.lstrip(_EDGES)}{word}".lower() in _words("inside"):
        return False
    if _LETTERS.fullmatch(word) and previous.lower() in _words("before_letters"):
        return behind[:1].isupper() or _speaks(behind)
    if is_title(word) or (word[:1].isupper() and small in _words("capital_titles")):
        is_street = previous[:1].isupper() or previous[:1].isdigit()
        return _is_opener(behind) if is_street and not previous.endswith(".") else _speaks(behind)
    if small in _words("numbered") and (_NUMBER.match(behind) or len(word) > 1):
        return not _NUMBER.match(behind)
    if small in _words("capital"):
        return behind[:1].isupper() or _speaks(behind)
    if _ORDINAL.fullmatch(word):
        return _ends_behind_number(previous, behind)
    if word == "I" or (len(word) > 1 and _ROMAN.fullmatch(word)):  # "so do I", "Ludwig XIV."
        return not behind[:1].islower() or _speaks(behind)
    is_unclear = small in _words("unclear") or small.endswith(_STREET) or _LETTERS.fullmatch(word)
    return _is_opener(behind) if is_unclear else True


def _ends_behind_number(previous: str, behind: str) -> bool:
    """True when a number with a dot is no ordinal: nothing that it counts follows."""
    if behind.lower() in _words("months"):
        return False
    if behind[:1].islower():
        return _speaks(behind)
    return previous.lstrip(_EDGES).lower() not in _words("before_ordinals") or _is_opener(behind)


def _ends_name(word: str, behind: str) -> bool:
    if word in _words("marked_names_before_names"):
        return _is_opener(behind)
    return word not in _words("marked_names") or behind[:1].isupper() or _speaks(behind)


def _speaks(word: str) -> bool:
    return not word or word.lower() in _words("speaker")


def _is_opener(word: str) -> bool:
    return _speaks(word) or (word[:1].isupper() and word.lower() in _words("openers"))


def _spelling(word: str) -> str:
    """The word as the table has it; one in capitals alone is another word: "CA" is a state, "ca." is about."""
    return word if len(word) > 1 and word.isupper() and "." not in word else word.lower()


def _words(name: str) -> frozenset[str]:
    return _table()[name]


@cache
def _table() -> Mapping[str, frozenset[str]]:
    text = (files(__package__) / "abbreviations.toml").read_text(encoding="utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}
