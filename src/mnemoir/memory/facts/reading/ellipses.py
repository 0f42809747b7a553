"""Second halves: what a clause leaves out, since it stands in the one before it, is put in (`ellipses.toml`).

"My wife works at Siemens and I at Bosch" is "… and I work at Bosch", and "His wife is called Anna, mine is Eva" is
"… my wife is called Eva". Both halves must be alike behind the verb, so that "I live in Graz and Linz" and "I love my
wife and my kids" stay what they are.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise

from mnemoir.core.accents import aligned_text
from mnemoir.memory.facts.reading.kin import kin_by_word
from mnemoir.memory.facts.reading.kinds import languages_of
from mnemoir.memory.facts.reading.persons import is_known_verb, kin_words, possessive_words

_LONGEST = 240  # characters of a sentence that is completed
_MOST_HALVES = 3
_MOST_WORDS = 6  # of the second half
_MOST_OF_NOUN = 2  # words of a noun without an article
_WORD = re.compile(r"[\w'-]+")
_WITH = frozenset(["with", "mit", "avec", "con", "com", "met"])
_NAME = r"(?-i:[A-Z])[\w'-]+"
_OTHER_KIN = {"fr": ("sour", "sours")}  # "sœur", letter for letter
_VOWEL = re.compile(r"[aeiouhéè]", re.IGNORECASE)


def complete(sentences: Iterable[str]) -> Iterator[str]:
    """The sentences with what their second halves leave out; "mine" may refer to the sentence before."""
    before = ""
    for sentence in sentences:
        told = sentence if len(sentence) > _LONGEST else _complete(sentence, before)
        yield told
        before = sentence


def _complete(sentence: str, before: str) -> str:
    words = _words(sentence)
    codes = languages_of(sentence)
    for code in codes:
        if not words.isdisjoint(_signs(code)):
            sentence = _with_noun(sentence, before, code)
        for _ in range(_MOST_HALVES):
            if words.isdisjoint(_verbs(code)) or (longer := _with_verb(sentence, code)) == sentence:
                break
            sentence = longer
    return sentence


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(aligned_text(text).lower().replace("j'", "j' ")))


def _with_verb(sentence: str, code: str) -> str:
    """The sentence with the verb of its first half in the second one."""
    plain = aligned_text(sentence)
    if not any(map(_may_lack_verb, _second_subject(code).finditer(plain))):
        return sentence
    for found in _overlaps(_halves(code), plain):
        if found["bare"] and not re.match(
            rf"(?:{_table()[code]['places']}) (?-i:[A-Z])", found["rest2"], re.IGNORECASE
        ):
            continue
        if _are_alike(found, code):
            verb = _verb_of(found, code)
            subject = _subject(sentence[slice(*found.span("again" if found["again"] else "person2"))], verb, code)
            join = found["join"] if found["join"].strip(" ,") else f", {_table()[code]['joins'].split('|')[0]} "
            end = found.start("join")
            return f"{sentence[:end]}{join}{subject}{verb} {sentence[found.start('rest2') :]}"
    return sentence


def _may_lack_verb(subject: re.Match[str]) -> bool:
    """False for a second subject with a verb behind it, as most have."""
    return not (subject["again"] and is_known_verb(subject["next"].lower()))


@cache
def _second_subject(code: str) -> re.Pattern[str]:
    """What a second half without a verb begins with, and the word behind it; most sentences have none."""
    table = _table()[code]
    who = rf"(?P<again>{table['again']})|{possessive_words()}|{_NAME}|(?:[oa]s?|il|la|i|le) (?:{possessive_words()})"
    return re.compile(rf"(?:,| (?:{table['joins']})) (?:{who}) (?P<next>[\w']+)", re.IGNORECASE)


def _overlaps(pattern: re.Pattern[str], plain: str) -> Iterator[re.Match[str]]:
    """The matches from each place on: a second half may be the first one of the next."""
    found = pattern.search(plain)
    while found:
        yield found
        found = pattern.search(plain, found.start() + 1)


def _subject(said: str, verb: str, code: str) -> str:
    """The subject of the second half with a space; French "moi" is "je"."""
    if code != "fr" or said.lower() != "moi":
        return f"{said} "
    return "j'" if _VOWEL.match(verb) else "je "


def _verb_of(found: re.Match[str], code: str) -> str:
    """The verb of the first half in the person of the second one."""
    said = (found["first"] or found["third"]).lower().replace(" ", "_").replace("'m", "am")
    forms = next(each for each in _forms(code) if said in each)
    verb = forms[0 if found["again"] else 2 if _are_several(found["person2"]) else 1]
    return _SPELLINGS.get((code, verb), verb.replace("_", " "))


def _are_several(person: str) -> bool:
    """True for "my parents"."""
    kin = kin_by_word("people")
    return any(kin.get(word) in _SEVERAL for word in person.lower().split())


_SEVERAL = frozenset(["parents", "children", "siblings", "grandparents"])
_SPELLINGS = {  # the table has no accents
    ("de", "fahrt"): "fährt",
    ("de", "heise"): "heiße",
    ("de", "heist"): "heißt",
    ("de", "mogen"): "mögen",
    ("it", "e"): "è",
    ("pt", "e"): "é",
    ("pt", "sao"): "são",
}


def _are_alike(found: re.Match[str], code: str) -> bool:
    """True where both halves go on alike, and the second one has no verb of its own."""
    rest, rest2 = found["rest"].lower(), found["rest2"].lower()
    words, table = _WORD.findall(rest2), _table()[code]
    if not words or len(words) > _MOST_WORDS or not _WITH.isdisjoint(_WORD.findall(rest)):
        return False
    opens = re.compile(rf"{table['places']}|{table['articles']}").fullmatch
    free = (word for before, word in pairwise(("", *words)) if not (opens(before) or opens(word)))
    if any(word in _verbs(code) or _may_be_verb(word) for word in free):
        return False
    if re.match(rf"(?:{table['not']})(?!\w)", rest2) or re.match(rf"(?:{possessive_words()})(?!\w)", rest):
        return False
    begins = [re.compile(rf"(?:{table[kind]})(?:(?!\w)|(?<='))") for kind in ("places", "articles")]
    if any(bool(each.match(rest)) != bool(each.match(rest2)) for each in begins):
        return False
    return any(each.match(rest2) for each in begins) or _are_bare(found, words, code)


def _may_be_verb(word: str) -> bool:
    return any(is_known_verb(each) for each in (word, word.removesuffix("s"), word.removesuffix("es")))


def _are_bare(found: re.Match[str], words: Sequence[str], code: str) -> bool:
    """True for a noun alone behind the subject: a German one has a capital, others may be a verb behind "is"."""
    is_copula = (found["first"] or found["third"]).lower() in _table()[code]["copula"].split()
    is_noun = found["rest2"].split()[-1][:1].isupper() if code == "de" else not is_copula
    return is_noun and len(words) <= _MOST_OF_NOUN


def _with_noun(sentence: str, before: str, code: str) -> str:
    """The sentence with the noun that "mine" stands for, where somebody else's was named before it."""
    plain = aligned_text(sentence)
    found = _mine(code).search(plain)
    if found is None:
        return sentence
    sources = ((before, len(before)), (sentence, found.start()))
    named = [
        text[slice(*match.span("noun" if match["noun"] else "owned"))]
        for text, end in sources
        for match in _of_others(code).finditer(aligned_text(text), 0, end)
    ]
    if not named:
        return sentence
    table, verb = _table()[code], sentence[slice(*found.span("verb"))] if found["verb"] else ""
    is_name = named[-1].lower().endswith(("name", "nom", "nombre", "nome", "naam"))
    verb = verb or table["be" if is_name else "named"]
    my = _possessive(found["mine"], table["my"].split("|"))
    return f"{sentence[: found.start()]}{my} {named[-1]} {verb} {sentence[found.end() :].lstrip()}"


def _possessive(mine: str, forms: Sequence[str]) -> str:
    """The possessive for what stands in the sentence: "la mienne" is "ma", "il mio" is "mio"."""
    is_feminine = mine.lower().endswith(("a", "nne"))
    return forms[-1] if is_feminine else forms[0]


@cache
def _halves(code: str) -> re.Pattern[str]:
    table = _table()[code]
    kin = "|".join((*kin_words(), *_OTHER_KIN.get(code, ())))
    article = r"(?:[oa]s? |il |la |i |le |a )?" if code in ("es", "it", "pt") else ""
    person = rf"{article}(?:{possessive_words()}) (?:[\w-]+ )?(?:{kin})(?:,? {_NAME})?"
    first = "|".join((*(forms[0].replace("_", " ") for forms in _forms(code)), "'m"))
    third = "|".join(dict.fromkeys(form.replace("_", " ") for forms in _forms(code) for form in forms[1:]))
    user = rf"(?:{table['user']})(?: |(?=')|(?<='))" if table["user"] else rf"(?:{table['again']} |a me |a mi )?"
    subject = rf"(?:{user}(?P<first>{first})|(?:{person}|{_NAME}) (?P<third>{third}))"
    again = rf"(?:(?P<again>{table['again']})|(?P<person2>{person}|(?P<bare>{_NAME})))"
    join = rf"(?P<join>,? (?:{table['joins']}) |, )"
    halves = rf"{subject} (?P<rest>[^,;.!?:]{{1,80}}?){join}{again} (?P<rest2>[^,;!?:]{{1,60}}?)"
    return re.compile(rf"(?<![\w'-]){halves}(?=[.!?…\s]*$|[,;] )", re.IGNORECASE)


@cache
def _mine(code: str) -> re.Pattern[str]:
    table = _table()[code]
    verbs = "|".join(sorted({table["named"], *(forms[1] for forms in _forms(code))}, key=len, reverse=True))
    name = rf"(?P<name>(?:(?:{table['be']}) )?(?={_NAME}[\s.!]*$))"
    return re.compile(
        rf"(?<!\w)(?P<mine>{table['mine']}) (?:{name}|(?P<verb>{aligned_text(verbs)})(?!\w))", re.IGNORECASE
    )


@cache
def _of_others(code: str) -> re.Pattern[str]:
    """Somebody else's person, or something that is told of all: "his wife", "your wife's name", "a mulher dele"."""
    table = _table()[code]
    kin = rf"(?:{'|'.join(kin_words())})(?:'s name)?"
    things = "name|first name|surname|nickname|birthday|job" if code == "en" else "name|nom|nombre|nome|naam"
    noun = rf"(?:(?:older|younger|best) )?(?:{kin}|{things})"
    behind = rf"(?P<owned>{noun}) {table['behind'] or '(?!)'}"
    return re.compile(rf"(?<!\w)(?:(?:{table['others']}) (?P<noun>{noun})|{behind})(?!\w)", re.IGNORECASE)


@cache
def _signs(code: str) -> frozenset[str]:
    return frozenset(_table()[code]["signs"].split())


@cache
def _verbs(code: str) -> frozenset[str]:
    words = {word for forms in _forms(code) for form in forms for word in form.split("_")}
    return frozenset(words | ({"i'm"} if code == "en" else set()))


@cache
def _forms(code: str) -> Sequence[tuple[str, str, str]]:
    """The verbs of a language in the first and the third person, and in the third one of several."""
    several = dict(_rows(_table()[code]["several"]))
    return [(first, third, several.get(third, third)) for first, third in _rows(_table()[code]["verbs"])]


def _rows(text: str) -> Iterator[tuple[str, str]]:
    for row in text.split(","):
        first, second = row.split()
        yield first, second


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    tables = tomllib.loads((files(__package__) / "ellipses.toml").read_text(encoding="utf-8"))
    return {code: {name: text.replace("\n", "") for name, text in of.items()} for code, of in tables.items()}
