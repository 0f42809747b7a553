"""Who said it: participants named in a query.

People talk of themselves in the first person, and are asked about in the third. So a query that names a participant
is put into the first person before it is embedded ("Where does Caroline work?" → "Where do I work?"), its words go
without the name, which says who and not what, and rows of that speaker gain.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.search.terms import STOP_WORDS

_SHORTEST_FIRST_NAME = 3
_FIRST_PERSON = (
    (r"\bdoes I\b", "do I"),
    (r"\bis I\b", "am I"),
    (r"\bhas I\b", "have I"),
    (r"\bI does\b", "I do"),
    (r"\bI is\b", "I am"),
    (r"\bI has\b", "I have"),
    (r"\b(?:his|her|their)\b", "my"),
    (r"\b(?:he|she)\b", "I"),
    (r"\b(?:him|herself|himself)\b", "me"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed:
    """A query with its participants: `spoken` puts them in the first person, `bare` leaves their names out."""

    names: tuple[str, ...]
    spoken: str
    bare: str


def address(query: str, speakers: Sequence[str]) -> Addressed:
    """Find which of `speakers` (longest name first) the query names, in full or by first name."""
    names, spoken, bare = [], query, query
    lowered = query.lower()
    for speaker in speakers:
        pattern = next((p for p in map(_pattern, _names_of(speaker, lowered)) if p.search(query)), None)
        if pattern is None:
            continue
        names.append(speaker)
        spoken = re.sub(pattern.pattern + r"(?:['’]s?)(?!\w)", "my", spoken, flags=pattern.flags)
        spoken = pattern.sub("I", spoken)
        bare = pattern.sub(" ", bare)
    if not names:
        return Addressed(names=(), spoken=query, bare=query)
    for found, instead in _FIRST_PERSON:
        spoken = re.sub(found, instead, spoken, flags=re.IGNORECASE)
    return Addressed(names=tuple(names), spoken=" ".join(spoken.split()), bare=bare)


def _names_of(speaker: str, lowered_query: str) -> list[str]:
    """What the speaker may be called that occurs in the query at all: a cheap first look."""
    first = speaker.split()[0] if speaker.strip() else ""
    usable = [speaker.strip()] + ([first] if len(first) >= _SHORTEST_FIRST_NAME else [])
    return [name for name in dict.fromkeys(usable) if name and name.lower() in lowered_query]


def _pattern(name: str) -> re.Pattern[str]:
    """The name as a whole word; in scripts without spaces, anywhere. A name like Will needs its capital."""
    edged = rf"(?<!\w){re.escape(name)}(?!\w)" if name.isascii() or " " in name else re.escape(name)
    return re.compile(edged, 0 if name.lower() in STOP_WORDS else re.IGNORECASE)
