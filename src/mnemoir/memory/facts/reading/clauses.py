"""The clauses that a user says in a turn: of what kind each is, and whom it is about.

What is quoted, pasted or code is removed before (`own_words`). A clause begins at a comma or a joining word with a
subject behind it, so "My wife lives in Oslo and I live in Graz" is two clauses about two people. What stands before
the joining word must say something by then: "Rosa and her husband live in Rome" is one clause about two people. The
words stand in a table, `clauses.toml`.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal

from mnemoir.core.accents import aligned_text, without_accents
from mnemoir.memory.facts.reading.kinds import begins_with, is_kind_alone, is_of_kind, languages_of, tells_refusal
from mnemoir.memory.facts.reading.own_words import own_sentences
from mnemoir.memory.facts.reading.persons import (
    About,
    about,
    kin_words,
    names_subject_alone,
    possessive_words,
    telling_verbs,
    their_words,
)
from mnemoir.search.language import ENGLISH

Kind = Literal["said", "asked", "wanted", "past", "imagined"]
_EDGES = " \t,.!?…;:*_~-–—()¡¿\"'"
_LONGEST = 400  # characters of a clause that is examined
_MOST_OF_SUBJECT = 6  # words of two subjects and what joins them
_LONGEST_SUBJECT = 60  # characters before a joining word
_NAMING = r"(?:name|nom|nombre|nome|naam)\b"  # goes on with what was said before: "a kitten, her name is Moth"
_AND = re.compile(r"\s+(?:and|und|et|y|e|ed|en)\s+", re.IGNORECASE)
_SIGN = re.compile(r"\b(?P<letters>[ABCDFO0]|AB)(?P<sign>[-–−])[\s.!?,]*$")  # blood types and marks: "A-"
_BARE = re.compile(  # a statement without its subject: "Is single", and no question
    r"(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|may|might|should)\b"
    r"(?!\s+(?:i|you|we|he|she|it|they|there|this|that|the|my|our|your|any\w*|some\w*)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause of the user's, with the sentence it stands in."""

    text: str
    sentence: str
    kind: Kind
    about: About


def clauses_of(text: str) -> Iterator[Clause]:
    """The clauses of a user's turn, in order."""
    for sentence in own_sentences(text):
        codes = languages_of(sentence)
        is_imagined = is_of_kind(sentence, "imagined", codes)
        pieces = _pieces(sentence, codes[0])
        asking = _place_of_question(sentence, pieces, codes)
        hearsay = _places_of_hearsay(sentence, tuple(codes))
        for at, (text, bare) in enumerate(pieces):
            kind: Kind = "imagined" if is_imagined or at in hearsay else _kind(bare, codes, is_question=at >= asking)
            yield Clause(text=text, sentence=sentence, kind=kind, about=_about(text, codes[0]))


def stated_in(sentence: str, code: str) -> Iterator[str]:
    """The clauses of a sentence of one language that state something, as statements by themselves.

    None is asked, imagined or hearsay. They have no fillers at their edges, and the subject that they share with the
    clause before them.
    """
    if is_of_kind(sentence, "imagined", [code]):
        return
    pieces = _pieces(sentence, code)
    subject, is_of_user = _table()[code].get("subject", ""), True
    hearsay = _places_of_hearsay(sentence, (code,))
    for at, (text, bare) in enumerate(pieces[: _place_of_question(sentence, pieces, [code])]):
        if at in hearsay:
            continue
        shares = subject and _shared_verb(code).match(aligned_text(bare))
        if subject and not shares:
            is_of_user = about(text).who not in ("person", "third")
        yield f"{subject} {bare[:1].lower()}{bare[1:]}" if shares and is_of_user else bare


@lru_cache(maxsize=64)  # as `_pieces`
def _places_of_hearsay(sentence: str, codes: Sequence[str]) -> Collection[int]:
    """The places of clauses that are only said to be so; "apparently" alone is about the clause beside it."""
    if not is_of_kind(sentence, "hearsay", codes):
        return ()
    pieces = _pieces(sentence, codes[0])
    found = {at for at, (text, _) in enumerate(pieces) if is_of_kind(text, "hearsay", codes)}
    alone = [at for at in found if is_kind_alone(pieces[at][0], "hearsay", codes)]
    return found | {at + 1 if at + 1 < len(pieces) else at - 1 for at in alone}


def _about(clause: str, code: str) -> About:
    """Whom a clause is about; what the user thinks of somebody is about that person."""
    end = hedge_end(clause, code)
    thought = about(clause[end:]) if end else None
    return thought if thought and thought.who in ("person", "third") else about(clause)


def hedge_end(clause: str, code: str) -> int:
    """Where what the user thinks begins in "I think Anna lives in Linz"; 0 where no such words stand before it."""
    found = _hedge(code).match(aligned_text(clause))
    return found.end() if found else 0


def _place_of_question(sentence: str, pieces: Sequence[tuple[str, str]], codes: Sequence[str]) -> int:
    """The place of the first clause that asks; none of a statement, the first of another question."""
    end = 0 if sentence.endswith(("?", "？")) else len(pieces)
    return next((at for at, (_, bare) in enumerate(pieces) if _asks(bare, codes)), end)


def kind_of(text: str) -> Kind:
    """The kind of a statement that stands alone."""
    return _kind(text, languages_of(text), is_question=False)


@lru_cache(maxsize=64)  # several read one sentence, one after the other
def _pieces(sentence: str, code: str) -> Sequence[tuple[str, str]]:
    """The clauses of a sentence, each without punctuation at its edges, and without fillers there, too."""
    found = (_without_edges(piece)[:_LONGEST] for piece in _cut_pieces(sentence, code))
    return [(text, _without_fillers(text, code)) for text in found if text]


def _cut_pieces(sentence: str, code: str) -> Iterator[str]:
    begin = 0
    for cut in _cut(code).finditer(aligned_text(sentence)):
        before = cut.string[begin : cut.start()].strip(_EDGES)
        if not (_adds_subject(cut, before, code) or _tells_more(cut, before)):
            yield sentence[begin : cut.start()]
            begin = cut.end()
    yield sentence[begin:]


def _adds_subject(cut: re.Match[str], before: str, code: str) -> bool:
    """True where what stands before a cut is but a subject: "Rosa and her husband live", "Tom, my boss, lives"."""
    adds = cut["joined"] and _AND.fullmatch(cut["joined"])
    if len(before) > _LONGEST_SUBJECT or not (adds or _is_apposition(cut)):
        return False
    return not _verbs_of_user(code).match(before) and names_subject_alone(before)


def _is_apposition(cut: re.Match[str]) -> bool:
    return cut[0].strip() == "," and _apposition().match(cut.string, cut.end()) is not None


def _tells_more(cut: re.Match[str], before: str) -> bool:
    """True where a verb of the user and of others, "travaille", goes on with what is said of somebody else."""
    return bool(cut["shared"]) and about(before).who in ("person", "third")


def _without_edges(piece: str) -> str:
    """The piece without punctuation at its edges, but for a sign that belongs to a letter."""
    trimmed = piece.strip(_EDGES)
    sign = _SIGN.search(piece)
    return f"{trimmed}{sign['sign']}" if sign and trimmed.endswith(sign["letters"]) else trimmed


def _without_fillers(piece: str, code: str) -> str:
    """The clause without greetings and fillers at its edges; "we" for the user and somebody else as its subjects."""
    plain = aligned_text(piece)
    lead, tail = _lead(code).match(plain), _tail(code).search(plain)
    bare = _without_edges(piece[lead.end() if lead else 0 : tail.start() if tail else len(piece)])
    return _as_we(bare, code) if _AND.search(bare, 0, _LONGEST_SUBJECT) else bare


def _as_we(clause: str, code: str) -> str:
    """The clause with "we" for the user and somebody else as its subjects: "My wife and I live in Graz"."""
    words, table = clause.split(), _table()[code]
    end = _end_of_both(words, table["user"].split("|"))
    if not end:
        return clause
    we, rest = table["we"].split("|"), words[end:]
    pronoun = rest.pop(0) if rest[0].lower() in we else we[0]
    return " ".join(filter(None, (pronoun, *rest)))


def _end_of_both(words: Sequence[str], user: Sequence[str]) -> int:
    """The place behind the subjects "my wife and I", or "me and my wife"; 0 where a clause has no such ones."""
    at = next((at for at, word in enumerate(words[:_MOST_OF_SUBJECT]) if _AND.fullmatch(f" {word} ")), 0)
    if not at or len(words) < at + 3:
        return 0
    if at == 1 and words[0].lower() in user:
        ends = range(min(_MOST_OF_SUBJECT, len(words) - 1), 2, -1)
        return next((end for end in ends if names_subject_alone(" ".join(words[2:end]))), 0)
    is_user = words[at + 1].strip(",").lower() in user
    return at + 2 if is_user and names_subject_alone(" ".join(words[:at])) else 0


def _kind(piece: str, codes: Sequence[str], *, is_question: bool) -> Kind:
    if is_question:
        return "asked"
    if is_of_kind(piece, "wanted", codes) or tells_refusal(piece):
        return "wanted"
    return "past" if is_of_kind(piece, "past", codes) else "said"


def _asks(piece: str, codes: Sequence[str]) -> bool:
    return begins_with(piece, "asking", codes) and not (ENGLISH in codes and _BARE.match(piece))


@cache
def _cut(code: str) -> re.Pattern[str]:
    """Where a clause ends and the next one begins; group `joined` where words alone join them."""
    words = _table()[code]
    starts, verbs = words["starts"], words["verbs"]
    begins = rf"(?:{words.get('commas', starts)}|{words.get('breaks', '(?!)')})(?!\w)"
    if "subject" in words:  # "…, bin 25", not "…, bin ich"
        begins = rf"(?:{begins}|(?:{verbs})(?!\w|\s(?:ich|wir|ik|wij|we)(?!\w)))"
    theirs = rf"(?:{their_words(code)})\s+(?!{_NAMING})(?:\w+\s+){{1,3}}?(?-i:{telling_verbs()})"
    named = rf"(?-i:[A-Z])\w+\s+(?-i:{words.get('named', telling_verbs())})"
    behind = rf"(?:{starts}|(?P<shared>{verbs})|{theirs}|{named})(?!\w)"
    joined = rf"(?P<joined>(?:,\s*|\s+)(?:{words['joins']})\s+(?={behind}))"
    cuts = [joined, rf",\s*(?={begins}|(?:{theirs}|{named})(?!\w))", r"\s+[-–—]+\s+", words.get("more", "(?!)")]
    return re.compile(without_accents("|".join(cuts)), re.IGNORECASE)


@cache
def _hedge(code: str) -> re.Pattern[str]:
    return re.compile(_table()[code]["hedge"], re.IGNORECASE)


@cache
def _apposition() -> re.Pattern[str]:
    return re.compile(rf"(?:{possessive_words()}) (?:\w+ ){{0,2}}?(?:{'|'.join(kin_words())}),", re.IGNORECASE)


@cache
def _verbs_of_user(code: str) -> re.Pattern[str]:
    """The verbs, and other words, with which a clause about the user begins, but for possessives."""
    words = rf"(?!(?:{possessive_words()})\b)(?:{_table()[code]['starts']}|{_table()[code]['verbs']})(?!\w)"
    return re.compile(without_accents(words), re.IGNORECASE)


@cache
def _shared_verb(code: str) -> re.Pattern[str]:
    """A verb that may share its subject with the clause before."""
    return re.compile(without_accents(rf"(?:{_table()[code]['verbs']})(?!\w)"), re.IGNORECASE)


@cache
def _lead(code: str) -> re.Pattern[str]:
    return re.compile(without_accents(rf"(?:(?:{_table()[code]['lead']})(?!\w)[\s,!.:]*)+"), re.IGNORECASE)


@cache
def _tail(code: str) -> re.Pattern[str]:
    return re.compile(without_accents(rf"(?:[,\s]+(?:{_table()[code]['tail']}))+$"), re.IGNORECASE)


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    tables = tomllib.loads((files(__package__) / "clauses.toml").read_text(encoding="utf-8"))
    lines = {code: {name: text.replace("\n", "") for name, text in words.items()} for code, words in tables.items()}
    return {
        code: {name: text.replace("{not_moved}", words.get("not_moved", "")) for name, text in words.items()}
        for code, words in lines.items()
    }
