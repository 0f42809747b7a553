"""Whose words a sentence is: what somebody else said, wrote or thought is not the user's.

Behind a colon, a comma or "that" after somebody else's verb of saying the words are theirs ("My neighbour said: I
work at Bosch."), up to a "but". Behind a colon they are somebody else's, too, where it names a text of theirs or an
example ("Tom's status:", "Example:"). The user's own words stay ("I said: …", "My job: …"), and what a doctor or a
test says of the user ("My doctor says I have asthma"), other than homes, work, names and family.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from mnemoir.core import first_use
from mnemoir.core.accents import aligned_text, without_accents
from mnemoir.memory.facts.reading.frames import introduces_quote, opens_frame, takes_itself_back
from mnemoir.memory.facts.reading.kinds import LANGUAGES, kind_words, languages_of
from mnemoir.memory.facts.reading.own_name import is_own_name
from mnemoir.memory.facts.reading.persons import (
    about,
    is_name_too,
    is_ordinary_word,
    kin_words,
    subject_words,
    their_words,
)

_HEADING = first_use.pattern(r"(?P<who>[^:\n]{1,120}):\s*$")
_SOMEBODY = "einer|jemand|someone|somebody|quelqu'un|alguien|qualcuno|alguem|iemand"
_TO_WHOM = (
    r"(?:-(?:me|nos|te|lhe))?"
    r"(?:\s+(?:to\s+)?(?:me|us|him|her|them|you|mir|uns|ihm|ihr|dir|mich|moi|nous|lui|que|that|dass|che|dat|mij|ons|"
    rf"hem|tegen|{_SOMEBODY}|this|these|the following|back|folgendes|ceci|esto|questo|isto|dit|today|yesterday|once|"
    r"always|heute|gestern|hier|ayer|ieri|ontem|gisteren|sempre|siempre|toujours|immer|altijd|oft|souvent))*"
)
_NAME = first_use.pattern(r"[A-ZÀ-Þ][a-zà-ÿ][\w'’-]*(?: (?:[A-ZÀ-Þ]\.|[A-ZÀ-Þ][a-zà-ÿ][\w'’-]*)){0,2}")
_EDGES = " \t.,:;!?\"'*_()[]-–—…"
_OPENING = " \t¿¡\"'"
_COLON = first_use.pattern(r"\s?:(?=\s+\S)")
_JOINS = "and|but|so|und|aber|et|mais|pero|y|e|ma|mas|en|maar"
_BREAK = first_use.pattern(rf"[,;:.!?]|\s[-–—]+\s|\s(?:{_JOINS})\s", re.IGNORECASE)
_JOIN_AT_END = first_use.pattern(rf"[,;]?\s(?:{_JOINS})\s?$", re.IGNORECASE)
_WORD = first_use.pattern(r"[^\W\d_][\w'-]*")
_LONGEST_HEADING = 160  # characters before a colon, or of a clause with a verb of saying
_MOST_REPORTS = 20  # verbs of saying in a sentence that are looked at


def own_parts(sentence: str) -> Iterator[str]:
    """The parts of a sentence that are the user's own words."""
    if takes_itself_back(sentence):
        return
    if opens_frame(sentence):
        yield sentence
        return
    heading, colon, said = sentence.partition(":")
    if colon and (introduces_quote(heading) or is_spoken_by_other(heading, said)):
        return
    if colon and addresses(said) and _is_speaker(heading):
        sentence = said.strip()
    plain = aligned_text(sentence)
    words, codes = plain.split(), languages_of(sentence)
    if any(map(_says, plain.replace("-", " ").split())) and (tail := _saying_tail(plain, codes)):
        if _is_expert(tail[0], codes) and not any(_list("life", code).match(plain) for code in codes):
            yield sentence[: tail.start()]
        return
    found = _COLON.search(plain, 0, _LONGEST_HEADING + 1)
    begin = announcement(sentence[: found.start()], codes) if found else None
    if begin is not None:
        yield _until(sentence, begin)
    elif any(map(_tells, words)):
        yield from _without_reports(sentence, plain, codes)
    elif source := _list("sources", "all").search(plain):
        is_sure = _is_expert(source[0], codes)
        yield sentence if is_sure and not source[0].endswith(",") else _until(sentence, source.start())
        if is_sure and source[0].endswith(","):
            yield sentence[source.end() :]
    else:
        yield sentence


def _saying_tail(plain: str, codes: Sequence[str]) -> re.Match[str] | None:
    """What stands at the end of a sentence that somebody else says: ", said my grandma"."""
    return next((found for code in codes if (found := _tail(code).search(plain))), None)


def addresses(said: str) -> bool:
    """True for what the user asks of somebody whom they name before: "can you check this?"."""
    return _list("addressing", "all").match(aligned_text(said).lstrip(_OPENING)) is not None


def is_spoken_by_other(name: str, said: str) -> bool:
    """True for what stands behind somebody else's name and a colon, and is not asked of them."""
    return _is_speaker(name) and not addresses(said)


def introduces_next(sentence: str) -> bool:
    """True for a line that ends in a colon and lets somebody else speak in the lines below it."""
    heading = _HEADING.match(sentence)
    if heading is None:
        return False
    return announcement(heading["who"], languages_of(sentence)) is not None or introduces_quote(heading["who"])


def announcement(heading: str, codes: Sequence[str]) -> int | None:
    """Where words begin behind whose colon somebody else speaks; None where the user does."""
    plain = aligned_text(heading)
    if any(_list("texts", code).search(plain) or _others_text(code).match(plain.strip(_EDGES)) for code in codes):
        return 0
    for word in list(_WORD.finditer(plain))[-_MOST_REPORTS:]:
        spoken = [code for code in codes if _saying_verb(code).match(word[0])] if _tells(word[0]) else []
        before = plain[: word.start()]
        if _list("nouns_too", "all").fullmatch(word[0]) and about(heading).who not in ("person", "third"):
            continue
        if any(_is_of_other(before, code, is_whole=True) for code in spoken):
            return _last_break(before)
    return None


def _without_reports(sentence: str, plain: str, codes: Sequence[str]) -> Iterator[str]:
    """The sentence without what others say in it; what is said behind "but" is the user's again."""
    words = [word for word in _WORD.finditer(plain) if _tells(word[0])]
    for word in words[:_MOST_REPORTS]:
        for code in codes:
            window = plain[max(0, word.start() - _LONGEST_HEADING) : word.start()]
            report = _report(code).match(plain, word.end()) if _saying_verb(code).match(word[0]) else None
            if report and report["who"] and _list("standing", "all").match(word[0]):
                continue
            if report is None or not _is_of_other(window, code, is_inverted=bool(report["who"])):
                continue
            front = word.start() - len(window) + _last_break(window)
            is_sure = _is_expert(plain[front : report.end()], [code])
            is_text = bool(_list("texts", code).search(plain[front : word.start()]))
            is_bare = bool(report["bare"]) and not is_text
            if (is_sure or is_bare) and not _list("life", code).match(plain, report.end()):
                if is_sure:
                    yield from (_until(sentence, front), sentence[report.end() :])
                    return
                continue
            contrast = _list("contrast", code).search(plain, report.end())
            yield _until(sentence, front)
            if contrast:
                yield from _without_reports(sentence[contrast.end() :], plain[contrast.end() :], codes)
            return
    yield sentence


def _is_expert(words: str, codes: Sequence[str]) -> bool:
    return any(_list("experts", code).search(words) for code in codes)


def _until(sentence: str, end: int) -> str:
    """The sentence up to a place, without the joining word before it."""
    return _JOIN_AT_END.sub("", sentence[:end])


def _last_break(before: str) -> int:
    return max((cut.end() for cut in _BREAK.finditer(before)), default=0)


def _is_of_other(before: str, code: str, *, is_whole: bool = False, is_inverted: bool = False) -> bool:
    """True where the verb of saying behind these words has a subject other than the user."""
    front = before[_last_break(before) :].strip(_EDGES)
    front = before.strip(_EDGES) if is_whole and not front else front
    if not front:
        return is_inverted
    if _list("somebody", "all").search(front):
        return True
    return not (_list("own", code).search(front) or _list("no_subject", code).search(front))


def _is_speaker(heading: str) -> bool:
    """True for a name in front of a colon that is not the user's: "Tom: I am vegan"."""
    name = _NAME.fullmatch(heading.strip(_EDGES))
    if name is None or is_own_name(name[0]):
        return False
    words = without_accents(name[0]).lower().split()
    if is_name_too(words[0]):
        return True
    if any(is_ordinary_word(words[0], code) for code in LANGUAGES):
        return False
    return _headings().isdisjoint(words) and not (len(words) == 1 and _ending().search(words[0]))


@lru_cache(maxsize=8192)
def _says(word: str) -> bool:
    """True for a word of saying in any language; most sentences have none."""
    return bool(_saying_words().fullmatch(word.strip(_EDGES)))


@cache
def _saying_words() -> re.Pattern[str]:
    words = "|".join(kind_words(code, "saying") for code in LANGUAGES)
    return first_use.pattern(rf"(?:{words})", re.IGNORECASE)


@lru_cache(maxsize=8192)
def _tells(word: str) -> bool:
    """True for a word of saying, or of what a text says ("states"), in any language."""
    return any(_saying_verb(code).match(word.strip(_EDGES)) for code in LANGUAGES)


@cache
def _saying_verb(code: str) -> re.Pattern[str]:
    return first_use.pattern(rf"(?:{kind_words(code, 'saying')}|{_words('showing', code)})(?!\w)", re.IGNORECASE)


@cache
def _report(code: str) -> re.Pattern[str]:
    """What joins a verb of saying with words of the first person; `bare` is its end where nothing joins them."""
    others = "|".join(sorted(map(re.escape, subject_words() - _own_words()), key=len, reverse=True))
    who = rf"(?P<who>\s+(?:(?:{_words('possessive', 'all')})\s+\w+|(?:{others})|(?-i:[A-Z])\w+)(?!\w))?"
    told = rf"(?:\s+(?:{_words('to_whom', 'all')}))*"
    speaks = rf"(?:{_words('speaks', code)})(?!\w)"
    any_words = r"(?:[\w'-]+\s+){0,3}?" if code in ("en", "de", "fr", "nl") else ""
    joined = rf",?\s+(?:{_words('that', code)})(?:\s+|(?<='))(?={any_words}{speaks})"
    bare = rf"(?P<bare>\s+(?={speaks}))" if code == "en" else "(?P<bare>(?!))"
    return first_use.pattern(rf"{who}{told}(?:{joined}|,\s+(?={speaks})|{bare})", re.IGNORECASE)


@cache
def _others_text(code: str) -> re.Pattern[str]:
    """ "Tom's status", "her profile": something of somebody else, as the whole of a heading."""
    kin = "|".join(kin_words())
    name = r"(?-i:[A-Z])[a-z]+"
    owner = rf"(?:{name}|(?:my |our )?(?:{kin}))'s" if code == "en" else "(?!)"
    whose = rf"(?:(?:{_words('places', code)})\s+)?(?:{owner}|{their_words(code)})\s+\w+(?:\s+\w+){{0,3}}$"
    behind = r"(?:\w+\s+){1,3}(?:dele|dela|deles|delas)$" if code == "pt" else "(?!)"
    return first_use.pattern(rf"{whose}|{behind}", re.IGNORECASE)


@cache
def _list(kind: str, code: str) -> re.Pattern[str]:
    return first_use.pattern(rf"(?<!\w)(?:{_words(kind, code)})(?!\w)", re.IGNORECASE)


def _words(kind: str, code: str) -> str:
    return str(_table()[kind][code]).replace("\n", "")


@cache
def _tail(code: str) -> re.Pattern[str]:
    """ "…, said my grandma" and "…, she wrote" at the end of a sentence."""
    others = "|".join(sorted(map(re.escape, subject_words() - _own_words()), key=len, reverse=True))
    saying = kind_words(code, "saying")
    own = "my|mein\\w*|mon|ma|mi|mio|mia|meu|minha|mijn|the|der|die|el|la|il"
    person = rf"(?:(?:o |a |os |as |il |la |i |le )?(?:{others}|{own})\s+\w+|(?-i:[A-Z])\w+)"
    behind = rf"(?:,\s*|\s)(?:{saying})\s+(?:{person}|{others})(?:\s+\w+)?"
    inverted = rf",\s*(?:{person}|{others})\s+(?:{saying}){_TO_WHOM}"
    perfect = rf",\s*(?:hat|haben|heeft|hebben)\s+(?:{person}|{others})\s+(?:{saying})"
    return first_use.pattern(rf"(?:{behind}|{inverted}|{perfect})[\s.!?\"']*$", re.IGNORECASE)


@cache
def _headings() -> frozenset[str]:
    return frozenset(_table()["headings"].split())


@cache
def _ending() -> re.Pattern[str]:
    return first_use.pattern(rf"\w{{2}}(?:{_table()['endings']})$".replace("\n", ""))


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "speakers.toml").read_text(encoding="utf-8"))


def _own_words() -> frozenset[str]:
    own = "i we ich wir je nous yo nosotros nosotras io noi eu ik wij im ive mine myself ourselves"
    possessives = "my our mein meine meinem meinen meiner mon ma mes mi mis mio mia miei mie meu minha mijn onze ons"
    return frozenset(f"{own} {possessives}".split())
