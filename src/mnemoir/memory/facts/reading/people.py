"""What a user says of people whom they name: "My sister Anna moved to Linz and works at Norlin.".

Each predicate becomes a statement about that person, who is its subject, so none is the user's own. Of people and
animals of the user all is read that may hold for longer, of a bare name what only a person does (`people.toml`): a
product works and a city has inhabitants, too.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from mnemoir.core.accents import aligned_text, without_accents
from mnemoir.memory.facts.reading.clauses import hedge_end, stated_in
from mnemoir.memory.facts.reading.kinds import LANGUAGES
from mnemoir.memory.facts.reading.persons import is_ordinary_word, kin_words, possessive_words, their_words

_NAME_WORD = r"(?!\w+'(?:d|ll|ve|re|m)\b)(?-i:[A-Z])(?:[\w-]|'(?!s?(?!\w)))+"
_TITLES = r"(?:(?:dr|prof|mr|mrs|ms|miss|herr|frau|mme|mlle|sr|sra|dott|dra|doutor|mevrouw|meneer)\.? )*"
_NAME = rf"{_TITLES}{_NAME_WORD}(?: {_NAME_WORD})?"
_EDGES = " \t,.!?…;:*_~-–—()¡¿\"'"
_NAME_OF = re.compile(r"^((?:my|our) \w+)(?:'s|’s) name is(?= [A-Z])", re.IGNORECASE)
_VERB_LAST = ("dass ", "dat ")
_JUST = re.compile(r"^(?:(?:just|now|also) )+", re.IGNORECASE)
_ADVERBS = "who|which|that|always|never|both|all|really|usually|mostly|only|then|not|and|or|often|sometimes"
_MODALS = "will|would|may|might|can|could|shall|should|must|used|had|having|to|cannot|can't|won't|wouldn't"
_BEGINNING = 160  # characters in which the verb stands, and the words up to it
_MOST_BEFORE = 12
_MOST_LANGUAGES = 2  # that the verbs of a sentence tell
_MOST_LEAD = 4  # words in which a possessive stands
_LONGEST = 300  # characters of a sentence that is read
_LONGEST_TURN = 600  # characters of a turn in which a bare name is one of the user's people

_PLURAL = re.compile(r"(?:sie|zij|ze) (?:\w+en|sind|zijn)\b", re.IGNORECASE)  # of two people, with their verb


@dataclass(frozen=True, slots=True)
class OfPeople:
    """Statements about people in a sentence, and the language that they are in.

    `is_all` is True where the sentence has no clause about anybody else, `is_first` where it begins with these.
    """

    statements: Sequence[str] = ()
    code: str = ""
    is_all: bool = False
    is_first: bool = True


@dataclass(frozen=True, slots=True)
class _Person:
    """Whom a sentence is about: the subject of statements, and whether it is told by a name alone."""

    subject: str
    code: str
    is_bare: bool = False


def statements_about_people(sentences: Iterable[str], *, are_short: bool) -> Iterator[tuple[str, OfPeople]]:
    """Each sentence with the statements in it about people whom it names, or whom the one before named.

    `are_short` is True where the sentences are few: a bare name in a long text is that of a story.
    """
    last: _Person | None = None
    for sentence in sentences:
        found = OfPeople()
        codes = _codes(sentence, names=are_short or last is not None)
        if codes and len(sentence) <= _LONGEST:
            person, found = _read(sentence, codes, last, are_short=are_short)
            last = person or last
        yield sentence, found


def holds_today_alone(statement: str) -> bool:
    """True for a statement about a person that will not hold tomorrow: "My sister is ill"."""
    plain = aligned_text(statement)
    codes = _codes(statement, names=False)
    found = ((code, rest) for code in codes for _, rest in _subjects(statement, plain, code, None))
    return any(_pattern(code, "passing").match(plain[rest:].strip(_EDGES)) for code, rest in found)


def is_short_turn(text: str) -> bool:
    """True for a turn in which a bare name is one of the user's people."""
    return len(text) <= _LONGEST_TURN


def _codes(sentence: str, *, names: bool) -> Sequence[str]:
    """The languages that a sentence about a person may be in, by a possessive, or by a verb behind a name; or ()."""
    words = [word.strip(_EDGES) for word in sentence[:_BEGINNING].lower().split()[:_MOST_BEFORE]]
    possessives = _possessives()
    own = next((possessives[word] for word in words[:_MOST_LEAD] if word in possessives), ())
    if not names or not words:
        return own
    verbs = Counter(code for word in words[1:] for code in _verbs().get(word, ()))
    return tuple(dict.fromkeys((*own, *(code for code, _ in verbs.most_common(_MOST_LANGUAGES)))))


def _read(
    sentence: str, codes: Sequence[str], last: _Person | None, *, are_short: bool
) -> tuple[_Person | None, OfPeople]:
    sentence = _NAME_OF.sub(r"\1 is called", sentence, count=1)
    for code in codes:
        found, is_all, is_first, person = list[str](), True, True, last
        for clause in stated_in(sentence, code):
            text = _without_hedge(clause, code)
            who, told = _read_in(code, text, aligned_text(text), person)
            is_read = bool(who and told) and (are_short or not (who and who.is_bare))
            is_all, is_first = is_all and is_read, is_first and (is_read or bool(found))
            found, person = ([*found, *told], who) if is_read else (found, person)
        if found:
            return person, OfPeople(found, code, is_all, is_first)
    return None, OfPeople()


def _read_in(code: str, text: str, plain: str, last: _Person | None) -> tuple[_Person | None, list[str]]:
    for person, rest in _subjects(text, plain, code, last):
        if found := list(_statements(person, text[rest:], plain[rest:])):
            return person, found
    return None, []


def _without_hedge(clause: str, code: str) -> str:
    """The clause behind "I think that", with its verb in front: "dass Anna hier wohnt" is "Anna wohnt hier"."""
    end = hedge_end(clause, code)
    if not end:
        return clause
    text = clause[end:]
    subject = next((rest for _, rest in _subjects(text, aligned_text(text), code, None)), 0)
    predicate = text[subject:].strip(_EDGES)
    if not subject or " " not in predicate:
        return text
    if clause[:end].endswith(_VERB_LAST):
        rest, _, verb = predicate.rpartition(" ")
    else:
        verb, _, rest = predicate.partition(" ")
        verb = _indicative().get(verb, verb) if code == "it" else verb
    return f"{text[:subject]} {verb} {rest}"


@cache
def _indicative() -> Mapping[str, str]:
    """The Italian verbs of what is believed, and those of what is so: "lavori" is "lavora"."""
    words = _list("words", "indicative").split()
    return dict(zip(words[::2], words[1::2], strict=True))


def _subjects(text: str, plain: str, code: str, last: _Person | None) -> Iterator[tuple[_Person, int]]:
    """The persons that the sentence may begin with, each with the place behind them."""
    if found := _pattern(code, "person").match(plain):
        said = text[found.start("who") if code == "en" else 0 : found.end()].replace(",", "", 1)
        yield _Person(said[:1].upper() + said[1:], code, is_bare=bool(found["small"])), found.end()
    if found := _pattern(code, "apposition").match(plain):
        kin = text[slice(*found.span("kin" if code == "en" else "whole"))]
        yield _Person(f"{kin[:1].upper()}{kin[1:]} {text[slice(*found.span('name'))]}", code), found.end()
    if (
        (found := _pattern(code, "name").match(plain))
        and not _is_ordinary(plain[found.start("name") : found.end()], code)
        and not _pattern(code, "of_several").match(plain)
    ):
        yield _Person(f"{text[:1].upper()}{text[1 : found.end()]}", code, is_bare=not found["kin"]), found.end()
    if last and last.code == code and (found := _pattern(code, "pronoun").match(plain)):
        are_several = re.search(rf"\s(?:{_list(code, 'joins')})\s", last.subject, re.IGNORECASE)
        yield from [(last, found.end())] if _PLURAL.match(plain) or not are_several else []


def _is_ordinary(name: str, code: str) -> bool:
    """True where a capitalised word at the beginning is no name of a person."""
    words = [word.strip(_EDGES).lower() for word in name.split()]
    things = _list("words", "things").split("|")
    return is_ordinary_word(words[0], code) or any(word in things for word in words) or name.isupper()


def _statements(person: _Person, text: str, plain: str) -> Iterator[str]:
    """One statement for each predicate; what cannot stand alone stays with the one before it."""
    pieces: list[str] = []
    for begin, end in _predicates(plain, person.code):
        piece, bare = text[begin:end].strip(_EDGES), plain[begin:end].strip(_EDGES)
        if _begins(bare, person):
            pieces.append(piece)
        elif pieces:
            pieces[-1] = f"{pieces[-1]}{text[slice(*_gap(plain, begin))]}{piece}"
        else:
            return
    for piece in pieces:
        if not _pattern(person.code, "passing").match(without_accents(piece)):
            yield _statement(person, piece)


def _statement(person: _Person, predicate: str) -> str:
    """The subject with the predicate; "Tom is my boss" is "Boss is called Tom"."""
    role = _pattern("en", "role").fullmatch(predicate) if person.code == "en" and person.is_bare else None
    kin = role["kin"] if role else ""
    predicate = _JUST.sub("", predicate) if person.code == "en" else predicate
    return f"{kin[:1].upper()}{kin[1:]} is called {person.subject}" if kin else f"{person.subject} {predicate}"


def _gap(plain: str, begin: int) -> tuple[int, int]:
    """The joining word before a place."""
    found = max((match for match in re.finditer(r"(?:,\s*)?\S*\s*", plain[:begin])), key=lambda match: match.end())
    cut = max(plain.rfind(" ", 0, max(found.start() - 1, 0)), 0)
    return (cut, begin)


def _begins(predicate: str, person: _Person) -> bool:
    """True for a predicate that can be told of the person; a favourite is no role of somebody's."""
    if not person.is_bare:
        return bool(_pattern(person.code, "lasting").match(predicate))
    role = _pattern(person.code, "role").match(predicate)
    return bool(_pattern(person.code, "sure").match(predicate)) and (not role or bool(role["kin"]))


def _predicates(plain: str, code: str) -> Iterator[tuple[int, int]]:
    """The places of the predicates of a clause."""
    begin = 0
    for cut in _pattern(code, "cut").finditer(plain):
        if plain[begin : cut.start()].strip(_EDGES):
            yield begin, cut.start()
        begin = cut.end()
    if plain[begin:].strip(_EDGES):
        yield begin, len(plain)


@cache
def _pattern(code: str, kind: str) -> re.Pattern[str]:
    """A pattern of one language; see the functions that use it."""
    kin = rf"(?:{_list(code, 'with')}(?:{_list(code, 'kin')}|{'|'.join(kin_words())}))"
    mine, joins, who, lasting = (_list(code, name) for name in ("mine", "joins", "who", "lasting"))
    verbs = "|".join(_list(code, "verbs").split())
    names = rf"{_NAME}(?:(?:, | (?:{joins}) ){_NAME})*"
    owner = rf"(?:{kin}'s )?" if code == "en" else ""
    no_name = rf"(?:{_ADVERBS})\b|(?:{verbs})\b|(?:{_MODALS})\b(?! \w+s\b)"
    small = rf" (?!{no_name})[a-z]+(?= (?:{verbs})\b)" if code == "en" else "(?!)"
    of_name = rf"(?:'s (?P<kin>{kin})(?: {_NAME})?)?" if code == "en" else "(?P<kin>(?!))?"
    but = "but|aber|mais|pero|ma|mas|maar"
    whose = rf"{their_words(code)}|{possessive_words()}{'|o|a' if code == 'pt' else ''}"
    adjectives = _list(code, "with") or "(?:)"
    fellow = rf"(?: (?:{joins}) (?:(?:{whose}) {adjectives}[\w-]+(?:,? {_NAME}(?!\w))?|{_NAME}(?!\w)))?"
    patterns = {
        "role": rf"(?:is|are|ist|sind|est|sont|es|son|e|sao|sono|zijn) {mine}(?P<kin>{kin}(?!\w))?",
        "person": rf"{mine}(?P<who>{owner}{kin}(?!\w)(?:,? {names}(?!\w)|(?P<small>{small}))?{fellow})(?=,? )",
        "apposition": rf"(?P<name>{_NAME}), (?P<whole>{mine}(?P<kin>{kin}))(?!\w)(?=,? )",
        "name": rf"{_list(code, 'article')}(?P<name>{names}){of_name}{fellow}(?=,? )",
        "of_several": rf"{_NAME} (?:like|love|hate|enjoy|live|work|have|are)(?!\w)" if code == "en" else "(?!)",
        "pronoun": rf"(?:{_list(code, 'pronoun')})(?= )",
        "cut": rf",\s+(?:{who})\s+|,?\s+(?:{joins}|{but})\s+(?:also |both )?(?={lasting})|,\s+(?={lasting})",
        "lasting": lasting,
        "sure": _list(code, "sure"),
        "passing": _list(code, "passing"),
    }
    return re.compile(patterns[kind], re.IGNORECASE)


@cache
def _possessives() -> Mapping[str, Sequence[str]]:
    """The languages by a possessive with which a sentence begins, or which stands behind an article."""
    words = {
        "en": "my our",
        "de": "mein meine unser unsere",
        "fr": "mon ma mes notre nos",
        "es": "mi mis nuestro nuestra nuestros nuestras",
        "it": "mio mia miei mie nostro nostra nostri nostre",
        "pt": "meu minha meus minhas nosso nossa nossos nossas",
        "nl": "mijn m'n onze ons",
    }
    return {word: (code,) for code, of in words.items() for word in of.split()}


@cache
def _verbs() -> Mapping[str, Sequence[str]]:
    """The languages by the words with which a predicate begins."""
    found: dict[str, list[str]] = {}
    for code in LANGUAGES:
        believed = _indicative() if code == "it" else ()
        for word in {*_list(code, "verbs").split(), *_table()[code]["verbs"].split(), *believed}:
            found.setdefault(word, []).append(code)
    return found


@cache
def _list(code: str, kind: str) -> str:
    text = _table()[code][kind].replace("\n", " " if kind == "verbs" else "")
    for name, words in _table()["words"].items():
        text = text.replace(f"{{{name}}}", "(?:" + words.replace("\n", "") + ")")
    return text


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((files(__package__) / "people.toml").read_text(encoding="utf-8"))
