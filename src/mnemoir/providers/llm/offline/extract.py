"""Extraction of facts from a conversation by rule: statements of the user in the first person.

A turn is split into clauses that can each hold one statement. Pasted text, questions and hypothetical sentences are
removed first, so that the rules need not handle them; contractions are written out, which halves the rules.

The rules turn clauses into statements that stand alone, without naming the user: "I row every morning" becomes "Rows
every morning". A shared subject is repeated for each verb before the rules; the wording is edited after them.

A sentence without an English statement is looked up in the shapes of other languages, whose statements are kept as
said, but for relative days.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from mnemoir.core.clock import from_local_text
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decide.matters import CAN_BE_LEFT, LEFT, WORK, matter_of
from mnemoir.memory.facts.decide.places import is_wide, tells_move
from mnemoir.memory.facts.decide.predicates import several_pattern
from mnemoir.memory.facts.decide.shapes import statements_in
from mnemoir.memory.facts.decide.witness_words import has
from mnemoir.memory.facts.reading.clauses import stated_in
from mnemoir.memory.facts.reading.kinds import is_figure_of_speech, languages_of, names_a_state
from mnemoir.memory.facts.reading.own_words import own_sentences
from mnemoir.memory.facts.reading.people import OfPeople, holds_today_alone, is_short_turn, statements_about_people
from mnemoir.memory.facts.reading.persons import about
from mnemoir.providers.llm.offline import vocabulary as v
from mnemoir.providers.llm.offline.days import with_days
from mnemoir.providers.llm.offline.decide import settled_facts
from mnemoir.providers.llm.offline.rules import may_say, said_by
from mnemoir.providers.llm.offline.wording import with_absolute_dates
from mnemoir.search.language import ENGLISH

_STATE = re.compile(
    r"(?:ich bin|je suis|(?:yo )?(?:soy|estoy)|(?:io )?sono|(?:eu )?(?:sou|estou)|ik ben) (?P<word>\w+)",
    re.IGNORECASE,
)
_ENGLISH_ALONE = re.compile(r"\b(?:the|and|with|they|this|that|which|there)\b", re.IGNORECASE)
_LONG = 30  # characters of a sentence whose function words tell that it is English
_MOST_FACTS = 200  # `settled_facts` compares each fact with each
_CONTRACTED = re.compile(r"'|\b(?:i|[Ii]ve|[Ii]m|not|please|moved)\b", re.ASCII)  # what may be written out
_WRITTEN_OUT = (
    (re.compile(r"\b(from now on|going forward|in (?:the )?future),? please\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\b(?:i'm|(?-i:im|Im(?= [a-z\d])))\b", re.IGNORECASE), "I am"),  # "Im Juni" is German
    (re.compile(r"\b(?:i've|ive)\b", re.IGNORECASE), "I have"),
    (re.compile(r"\bi'll\b", re.IGNORECASE), "I will"),
    (re.compile(r"\bi'd (?=like|love|prefer|rather|be)", re.IGNORECASE), "I would "),
    (re.compile(r"\bi'd (?=\w+ed\b|been|never)", re.IGNORECASE), "I had "),
    (re.compile(r"\bwe're\b", re.IGNORECASE), "we are"),
    (re.compile(r"\bwe've\b", re.IGNORECASE), "we have"),
    (re.compile(r"\bname's\b", re.IGNORECASE), "name is"),
    (re.compile(r"\b(?:can't|can not)\b", re.IGNORECASE), "cannot"),
    (re.compile(rf"^(?=cannot (?:eat|drink|have|stand|digest|tolerate|do (?:{v.FOODS}))\b)", re.IGNORECASE), "I "),
    (re.compile(r"\b(do|does|did|is|are|was|have|has) not\b", re.IGNORECASE), r"\1n't"),
    (re.compile(r"\bi\b"), "I"),
    (re.compile(r"\bI amn't\b"), "I am not"),
    (
        re.compile(
            r"\b(I|we) ((?:have |just |finally |recently )*moved)(?:,|,? so|,? and| [-–—])? it(?:'s| is) "
            r"(?=(?-i:[A-Z]))",
            re.IGNORECASE,
        ),
        r"\1 \2 to ",
    ),
)
_LONGEST_WORDS = 30
_SHARED = re.compile(
    rf"(?P<subject>I|We)\s(?P<first>(?:{v.LASTING}|am|have|row|run|use|moved|{v.PAST})\b(?!\sto\s[a-z]).*?),?"
    rf"\s(?:and|but)\s(?:also\s|then\s)?(?P<second>(?:{v.LASTING}|am|have|can|cannot|don't|moved|{v.PAST})\b\s.*)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:,?\s+(?:too|as well|by the way|btw|though|actually|you know|lol|haha|right now|at the moment|currently|"
    r"again|to be honest|at least|I think|please|thanks|thank you|now|then|already|so far|of course|"
    r"and so on|etc))+$",
    re.IGNORECASE,
)
_AHEAD = re.compile(r"\b(?:will|am|are|is|going to|have|next|want|wants|hope|plan|turning)\b", re.IGNORECASE)
_PERSONS = (
    (re.compile(r"\b(?:my|our)\s+(?:own\s+)?", re.IGNORECASE), ""),
    (re.compile(r"\bI am\b"), "they are"),
    (re.compile(r"\bI\b(?!-)"), "they"),
    (re.compile(r"\bmyself\b", re.IGNORECASE), "themselves"),
    (re.compile(r"\b(?:me|us)\b"), "them"),
    (re.compile(r"\bsince (?:in|on) (?=\w)"), "since "),
    (re.compile(r"\b(?:on on|in in|on in|in on) "), "on "),
)


def extract(document: Mapping[str, Any]) -> dict[str, Any]:
    """`{"conversation_date", "turns": [{"role", "text"}]}` to `{"facts": [...]}`, each fact once, in order said.

    Only user turns count. Relative dates refer to the conversation's date. Later statements replace earlier ones that
    they contradict.
    """
    said_at = from_local_text(document.get("conversation_date")) or datetime.now(UTC)
    found: dict[bytes, str] = {}
    for turn in document.get("turns") or ():
        if isinstance(turn, Mapping) and turn.get("role") == "user":
            for fact in facts_of(str(turn.get("text", "")), said_at.date()):
                found.setdefault(content_hash(fact), fact)
    return {"facts": settled_facts(list(found.values())[:_MOST_FACTS])}


def facts_of(text: str, today: date) -> list[str]:
    """The statements of one user turn."""
    said = list(own_sentences(text))
    told = statements_about_people(said, are_short=is_short_turn(text))
    read = (fact for sentence, of_people in told for fact in _facts_in(sentence, of_people, today))
    found = [fact for fact in read if not is_figure_of_speech(fact)]
    found = [fact for fact in found if not fact.startswith("Name is ") or _is_introduction(text, said, fact)]
    return _without_farewells(found) if any(fact.startswith("Left ") for fact in found) else found


def _without_farewells(found: Sequence[str]) -> list[str]:
    """The facts without "Left Bosch" where another one tells the employer or the home that came instead."""
    is_told = any((matter := matter_of(fact)).slot in CAN_BE_LEFT and not matter.denies for fact in found)
    return [fact for fact in found if not (is_told and fact.startswith("Left ") and matter_of(fact).slot == LEFT)]


def _is_introduction(text: str, said: Sequence[str], fact: str) -> bool:
    """True when a name is told as one: by a phrase, behind a greeting, or as the beginning of the one sentence."""
    if has("naming", text) or any(has("naming", sentence) for sentence in said):
        return True
    name = re.escape(fact.removeprefix("Name is "))
    whole = rf"\W*(?:i'?m|i am|this is) (?:{name})(?:(?:,| from| and) [^.!?]*)?\W*"
    return bool(re.fullmatch(whole, text.replace("’", "'"), re.IGNORECASE))


def _facts_in(sentence: str, of_people: OfPeople, today: date) -> list[str]:
    """The facts of a sentence: those of the people whom it names, and the user's own."""
    if of_people.code == "en":
        named = [text for said in of_people.statements if (text := _statement_of(said, said, today))]
    else:
        named = [with_days(said, today) for said in of_people.statements]
    if of_people.is_all:
        return named
    told = stated_in(sentence, ENGLISH) if may_say(sentence) else ()
    found = [fact for clause in told for fact in statements(_written_out(clause), today)]
    if not found and not _is_english(sentence):
        found = [with_days(said, today) for said in statements_in(sentence) if _lasts(said)]
    own = [fact for fact in found if not named or about(fact).who != "person"]
    return [*named, *own] if of_people.is_first else [*own, *named]


def _is_english(sentence: str) -> bool:
    """True for a sentence that is so long that its function words leave no doubt."""
    return len(sentence) >= _LONG and bool(_ENGLISH_ALONE.search(sentence)) and languages_of(sentence) == [ENGLISH]


def _lasts(said: str) -> bool:
    """True for a statement of another language that tells more than how somebody is today."""
    state = _STATE.fullmatch(said)
    return not holds_today_alone(said) and not (state and names_a_state(state["word"]))


def _written_out(clause: str) -> str:
    if not _CONTRACTED.search(clause):
        return clause
    for pattern, full in _WRITTEN_OUT:
        clause = pattern.sub(full, clause)
    return clause


def statements(clause: str, today: date) -> list[str]:
    """The statements of the clause; [] when nothing in it lasts. `today` is the day it was said."""
    raw = [said for part in _with_subject(clause) for said in said_by(part) or _said_by_bare(part)]
    return [text for said in raw if (text := _statement_of(said, clause, today))]


def _said_by_bare(clause: str) -> Sequence[str]:
    """The statements of a clause without the fillers at its end; () for one that has none."""
    bare = _TAIL.sub("", clause)
    return () if bare == clause else said_by(bare)


def _with_subject(clause: str) -> Iterator[str]:
    """The clause, or one part per verb when one "I" or "we" has two ("I live in Graz and work at a bank")."""
    shared = _SHARED.fullmatch(clause)
    if not shared:
        yield clause
        return
    yield f"{shared['subject']} {shared['first']}"
    yield from _with_subject(f"{shared['subject']} {shared['second']}")


def _with_move(text: str, clause: str) -> str:
    """A home in a country or a part of it as a new one, where the clause tells of a move: a former town ends so."""
    home = matter_of(text) if tells_move(clause) else None
    is_new = home is not None and home.slot == "home" and is_wide(home.value)
    return f"Now {text[0].lower()}{text[1:].replace(' since ', ', since ')}" if is_new else text


def _statement_of(said: str, clause: str, today: date) -> str | None:
    """The statement with absolute dates and trimmed edges; None when it is empty or over 30 words."""
    text = _TAIL.sub("", said.strip(" ,;.!"))
    text = with_absolute_dates(text, today, past=not _AHEAD.search(clause))
    for pattern, instead in _PERSONS:
        text = pattern.sub(instead, text)
    text = text.strip(" ,")
    if not text or len(text.split()) > _LONGEST_WORDS:
        return None
    if text.startswith(("lives ", "Lives ")):
        text = _with_move(text, clause)
    is_one_of_several = several_pattern().search(clause) and not several_pattern().search(text)
    if is_one_of_several and matter_of(text).slot in WORK:
        text = f"also {text[0].lower()}{text[1:]}"
    return text[0].upper() + text[1:]
