"""Conversion of a clause to the statements it makes about its speaker.

Statements stand alone, without naming the user: "I row every morning" becomes "Rows every morning". This module
first repeats a shared subject for each verb, then applies the rules, then edits the wording of the result.
"""

import re
from collections.abc import Iterator
from datetime import date

from mnemoir.providers.llm.offline import vocabulary as v
from mnemoir.providers.llm.offline.dates import resolved
from mnemoir.providers.llm.offline.rules import said_by

_LONGEST_WORDS = 30
_SHARED = re.compile(
    rf"(?P<subject>I|We)\s(?P<first>(?:{v.LASTING}|am|have|row|run|use|moved|{v.PAST})\b(?!\sto\s[a-z]).*?),?"
    rf"\s(?:and|but)\s(?:also\s|then\s)?(?P<second>(?:{v.LASTING}|am|have|can|cannot|don't|moved|{v.PAST})\b\s.*)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:,?\s+(?:too|as well|by the way|btw|though|actually|you know|lol|haha|right now|at the moment|currently|"
    r"to be honest|at least|I think|please|thanks|thank you|now|then|already|so far|of course|and so on|etc))+$",
    re.IGNORECASE,
)
_AHEAD = re.compile(r"\b(?:will|am|are|is|going to|have|next|want|wants|hope|plan)\b", re.IGNORECASE)
_PERSONS = (
    (re.compile(r"\b(?:my|our)\s+(?:own\s+)?", re.IGNORECASE), ""),
    (re.compile(r"\bI am\b"), "they are"),
    (re.compile(r"\bI\b(?!-)"), "they"),
    (re.compile(r"\bmyself\b", re.IGNORECASE), "themselves"),
    (re.compile(r"\b(?:me|us)\b"), "them"),
    (re.compile(r"\bsince (?:in|on) (?=\w)"), "since "),
    (re.compile(r"\b(?:on on|in in|on in|in on) "), "on "),
)


def statements(clause: str, today: date) -> list[str]:
    """The statements of the clause; [] when nothing in it lasts. `today` is the day it was said."""
    raw = [said for part in _with_subject(clause) for said in said_by(part)]
    return [text for said in raw if (text := _worded(said, clause, today))]


def _with_subject(clause: str) -> Iterator[str]:
    """The clause, or one part per verb when one "I" or "we" has two ("I live in Graz and work at a bank")."""
    shared = _SHARED.fullmatch(clause)
    if not shared:
        yield clause
        return
    yield f"{shared['subject']} {shared['first']}"
    yield from _with_subject(f"{shared['subject']} {shared['second']}")


def _worded(said: str, clause: str, today: date) -> str | None:
    """The statement with absolute dates and trimmed edges; None when it is empty or over 30 words."""
    text = _TAIL.sub("", said.strip(" ,;.!"))
    text = resolved(text, today, past=not _AHEAD.search(clause))
    for pattern, instead in _PERSONS:
        text = pattern.sub(instead, text)
    text = text.strip(" ,")
    if not text or len(text.split()) > _LONGEST_WORDS:
        return None
    return text[0].upper() + text[1:]
