"""Reads the names in statements, and those that a question may mean.

A name is a word with a capital inside a sentence, what a naming shape gives ("is called", "heißt"), and the kin,
roles and pets of the user, whatever the language: "Schwester" and "sister" are one. German writes nouns with a
capital too: there a word is surely a name behind a naming shape or a preposition of place or work, and else if the
user never writes it small. No names are placeholders, addresses and anything with a digit, secrets, dates, and the
user.

Names are read from the text as it is stored, so a text always has the same ones. What a model gives as names beside a
fact is not looked at: a name that stands in the text is read there, and another one is nobody's word. A word that
begins a sentence is one if another statement of the user has it as a name (`search.links.name_keys`).
"""

import re
import unicodedata
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from mnemoir.core import first_use
from mnemoir.core.accents import without_accents
from mnemoir.core.memories import Memory
from mnemoir.core.sentences import is_title, sentence_ends
from mnemoir.memory.names.people import person_of
from mnemoir.memory.names.table import (
    LANGUAGES,
    function_words,
    naming_pattern,
    no_names,
    places_before,
    possessions,
    possessives,
    telling_words,
    user_pattern,
    words_of_address,
)
from mnemoir.privacy.placeholders import PLACEHOLDER
from mnemoir.privacy.secrets import secret_spans
from mnemoir.search.links.name_keys import Mode, key_of_name, pack_names

_WORD = first_use.pattern(r"\w+(?:['’-]\w+)*['’]?")
_ADDRESS = first_use.pattern(r"\S{1,64}@\S+|\bwww\.\S+|\b\w{1,12}://\S+")
_ELISION = first_use.pattern(r"^(?:[cdjlmnst]|qu|all|dall|dell|nell|sull|un)['’](?=\w)", re.IGNORECASE)
_POSSESSIVE = first_use.pattern(r"['’]s?$", re.IGNORECASE)
_CONTRACTION = first_use.pattern(r"(?<=\w)['’](?:m|ve|ll|d|re|t)$", re.IGNORECASE)
_OPENS = first_use.pattern(r"(?:[\"“„«‘(\[{:•*¿¡]|(?<!\w)')\s*$")  # before a word that may have a capital for it
_ODD = first_use.pattern(r"\d[^\W\d]|[^\W\d]\d|[\w.-]{14}|:\s*\S|\bis\b|\d{4}")  # what a secret has
_PERSON = "\0"  # before a person's word, as no name has it
_MOST_READ, _MOST_WORDS = 4000, 400  # characters and words: what is longer is hardly a statement
_MOST_NAMES = 48
_SHORTEST = 2  # letters
_LONGEST_NAME = 4  # words
_LONGEST_USER = 40  # characters of what names the user before a naming shape
_GENITIVE = 4  # letters from which on a final "s" may be one
_GERMAN = "de"


@dataclass(frozen=True, slots=True)
class _Form:
    """A word apart from its place: its compared form is without elision and possessive.

    `person` is the kin, role or pet that it names, `languages` are those that it tells. What is `none` is no name by
    itself, whatever the language.
    """

    text: str
    name: str
    elided: int  # characters
    has_capital: bool
    is_possessive: bool
    person: str | None
    languages: tuple[str, ...]
    has_digit: bool
    is_address: bool
    is_none: bool


_Word = tuple[_Form, int]  # and where it stands


def names_of(memory: Memory) -> bytes:
    """The names of a memory as they are stored; b"" for a message of a conversation, which is no statement."""
    return _names_in(memory.text) if is_statement(memory) else b""


def is_statement(memory: Memory) -> bool:
    """True for a fact, and for words of the user's that are kept as they are and stand alone, in no conversation."""
    is_of_user = memory.role in (None, "user") and memory.speaker is None
    return memory.kind == "fact" or (is_of_user and memory.conversation is None)


def possible_names(question: str) -> Sequence[int]:
    """The keys of what may be a name in a question; most of them are the name of nobody.

    Of a question with a capital inside, only its words with capitals; people of the user in any case.
    """
    words = _words_of(_plain(question))
    language = _language_of(words)
    is_careful = any(form.has_capital and len(form.name) >= _SHORTEST for form, _ in words[1:])
    found: dict[int, None] = {}
    for at, (form, _) in enumerate(words):
        if person := _person_at(words, at, language):
            found[key_of_name(_PERSON + person)] = None
        elif (form.has_capital or not is_careful) and _may_be_name(form, language):
            found[key_of_name(form.name)] = None
            if bare := _without_genitive(form):
                found[key_of_name(bare)] = None
    return list(found)[:_MOST_NAMES]


def words_by_key(text: str) -> Mapping[int, str]:
    """The words of a statement, as written, by the keys that they have as names."""
    forms = [form for form, _ in _words_of(_plain(text))]
    bare = {key_of_name(name): form.text[:-1] for form in forms if (name := _without_genitive(form))}
    return bare | {
        key_of_name(_PERSON + form.person if form.person else form.name): _POSSESSIVE.sub("", form.text)
        for form in forms
    }


@lru_cache(maxsize=512)
def _names_in(text: str) -> bytes:
    plain = _plain(text)
    words = _words_of(plain)
    language = _language_of(words)
    given = _given_names(plain, words, language)
    starts = _starts(plain, words)
    are_capitals_usual = not any(map(str.islower, plain))
    modes: dict[int, Mode] = {}
    for at, (form, _) in enumerate(words):
        if person := _person_at(words, at, language):
            modes[key_of_name(_PERSON + person)] = Mode.NAME
            continue
        mode = given.get(at)
        if mode is None:
            if not (form.has_capital or language == _GERMAN) or form.person or not _may_be_name(form, language):
                continue
            before = words[at - 1][0] if at else None
            mode = _mode_of(form, before, language, is_first=at in starts or are_capitals_usual)
        key = key_of_name(form.name)
        modes[key] = mode if key not in modes else _stronger(mode, modes[key])
        if language == _GERMAN and form.has_capital and (bare := _without_genitive(form)):
            modes.setdefault(key_of_name(bare), Mode.FIRST)
    return pack_names(dict(list(modes.items())[:_MOST_NAMES]))


def _without_genitive(form: _Form) -> str:
    """The name that a word may be the genitive of: "Annas Arbeit"; "" for none."""
    return form.name[:-1] if len(form.name) > _GENITIVE and form.name.endswith("s") else ""


def _mode_of(form: _Form, before: _Form | None, language: str, *, is_first: bool) -> Mode:
    """How a word that no naming shape gives is mentioned."""
    if not form.has_capital:
        return Mode.SMALL
    if is_first and form.text[:1].isupper():
        return Mode.FIRST
    if language != _GERMAN or (before is not None and before.name in places_before()):
        return Mode.NAME
    return Mode.NOUN


def _stronger(one: Mode, other: Mode) -> Mode:
    """The mode of a name that is mentioned twice: the user's own, then a sure one, then what denies a noun."""
    return next(mode for mode in (Mode.USER, Mode.NAME, Mode.SMALL, Mode.NOUN, Mode.FIRST) if mode in (one, other))


def _given_names(plain: str, words: Sequence[_Word], language: str) -> dict[int, Mode]:
    """The places of words that a naming shape gives, and whether it gives the user's own name."""
    found: dict[int, Mode] = {}
    places = {start: at for at, (_, start) in enumerate(words)}
    begins = [0, *(after for _, after in sentence_ends(plain))]
    for shape in naming_pattern().finditer(plain):
        at = places.get(shape.end())
        if at is None or (not words[at][0].has_capital and words[at][0].name in function_words(language)):
            continue
        begin = begins[bisect_right(begins, shape.start()) - 1]
        is_near = shape.start() - begin <= _LONGEST_USER
        is_user = shape["own"] or (is_near and user_pattern().fullmatch(plain, begin, shape.start()))
        for place in _run_of_names(plain, words, at):
            found[place] = Mode.USER if is_user else Mode.NAME
    return found


def _run_of_names(plain: str, words: Sequence[_Word], at: int) -> Iterator[int]:
    """The places of a name of one word or several: after the first, words with capitals and nothing between them."""
    at += _is_address(words, at)
    for place in range(at, min(at + _LONGEST_NAME, len(words))):
        form, start = words[place]
        before, begun = words[place - 1]
        is_apart = place > at and (not form.has_capital or plain[begun + len(before.text) : start].strip())
        if is_apart or form.person or form.has_digit:
            return
        yield place


def _person_at(words: Sequence[_Word], at: int, language: str) -> str | None:
    """The kin, role or pet of the user that a word names; None for other words, and for one of somebody else's."""
    form = words[at][0]
    if form.person is None or (form.name in function_words(language) and not form.has_capital):
        return None
    if at and _owns(words[at - 1][0], language):
        return None
    if _is_address(words, at):
        return None
    behind = [form for form, _ in words[at + 1 : at + 3]]
    is_elided = bool(behind and behind[0].elided and _is_other(behind[0], language))  # "l'oncle d'Anna"
    is_behind = len(behind) == 2 and behind[0].name in possessions() and _is_other(behind[1], language)
    return None if is_elided or is_behind else form.person


def _is_address(words: Sequence[_Word], at: int) -> bool:
    """True for a word that stands before a name as an address, "Frau Berger", and names no person of the user."""
    is_before_name = words[at][0].is_address and at + 1 < len(words) and words[at + 1][0].has_capital
    return is_before_name and not (at and words[at - 1][0].name in possessives())


def _owns(form: _Form, language: str) -> bool:
    """True for somebody other than the user to whom the next word belongs: "Anna's", "Annas"."""
    if form.is_possessive:
        return not form.is_none
    return language == _GERMAN and form.name.endswith("s") and _is_other(form, language) and not form.person


def _is_other(form: _Form, language: str) -> bool:
    return form.has_capital and _may_be_name(form, language)


def _may_be_name(form: _Form, language: str) -> bool:
    return not form.is_none and form.name not in function_words(language or "en")


def _starts(plain: str, words: Sequence[_Word]) -> set[int]:
    """The places of words that have a capital for where they stand."""
    begins = deque([0, *(after for _, after in sentence_ends(plain))])
    found: set[int] = set()
    for at, (form, start) in enumerate(words):
        if begins and start - form.elided >= begins[0]:
            found.add(at)
            while begins and start >= begins[0]:
                begins.popleft()
        elif form.has_capital and _OPENS.search(plain, max(0, start - form.elided - 3), start - form.elided):
            found.add(at)
    return found


def _language_of(words: Sequence[_Word]) -> str:
    """The language, of those with tables, that most words tell; "" where none does."""
    told = dict.fromkeys(LANGUAGES, 0)
    for form, _ in words:
        for language in form.languages:
            told[language] += 1
    best = max(LANGUAGES, key=told.__getitem__)
    return best if told[best] else ""


def _plain(text: str) -> str:
    """The text with spaces in the place of what holds no names: placeholders, addresses, secrets."""
    text = text[:_MOST_READ] if text.isascii() else unicodedata.normalize("NFKC", text[:_MOST_READ])
    if "[" in text:
        text = PLACEHOLDER.sub(_spaces, text)
    if "@" in text or "/" in text or "www" in text:
        text = _ADDRESS.sub(_spaces, text)
    if _ODD.search(text):
        for start, end in sorted(secret_spans(text)):
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def _spaces(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _words_of(plain: str) -> list[_Word]:
    found: list[_Word] = []
    for match in islice(_WORD.finditer(plain), _MOST_WORDS):
        form = _form_of(match[0])
        found.append((form, match.start() + form.elided))
    return found


@lru_cache(maxsize=16384)
def _form_of(written: str) -> _Form:
    elision = _ELISION.match(written)
    text = written[elision.end() :] if elision else written
    bare = _POSSESSIVE.sub("", text)
    name = _CONTRACTION.sub("", bare).casefold()
    has_digit = any(map(str.isdigit, text))
    is_address = is_title(text) or without_accents(name) in words_of_address()
    is_none = len(name) < _SHORTEST or has_digit or is_address or without_accents(name) in no_names()
    return _Form(
        text=text,
        name=name,
        elided=len(written) - len(text),
        has_capital=text != text.lower(),
        is_possessive=bare != text,
        person=person_of(name),
        languages=telling_words().get(without_accents(text.lower()), ()),
        has_digit=has_digit,
        is_address=is_address,
        is_none=is_none,
    )
