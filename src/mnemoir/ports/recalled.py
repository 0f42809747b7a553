"""What was recalled for the questions of a stored conversation, as references: never its words.

A reference names a memory, or a stored message for what was said and not yet learned from, with a digest of the
line's words as they were then. The line is written again only while those are the words still. So nothing has to be
taken out of a conversation when a memory is deleted, corrected or erased, whichever way that happens.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import orjson

from mnemoir.core.scope import Scope
from mnemoir.core.text import RecalledLine, digest

Source = Literal["memory", "message"]
_SOURCES = get_args(Source)
SAID = "Said: "  # what begins the line of a message
MOST_SAID = 500  # characters of a message that its line shows


class Reference(NamedTuple):
    """One line in front of a question: the id of a memory or the uid of a message, what the line said, and its day.

    `digest` is that of the text with its origin, as 32 hex digits. One that `fits` had something in common with the
    question.
    """

    source: Source
    id: str
    digest: str
    day: str = ""
    fits: bool = True

    def is_worded(self, line: RecalledLine) -> bool:
        """Whether the line says what it said then."""
        return digest_of(line) == self.digest


def digest_of(line: RecalledLine) -> str:
    """The digest of a line's words, without its day."""
    return digest(line.text_with_origin).hex()


def reference_of(line: RecalledLine) -> Reference | None:
    """The reference to a line; None for one of a chat that is not kept, which can be found nowhere again."""
    source: Source = "memory" if line.id else "message"
    named = line.id or line.said_uid
    return Reference(source, named, digest_of(line), line.day, line.fits) if named else None


def references_as_json(references: Sequence[Reference]) -> str:
    """The references as they are stored: a list of lists, without the last member where that is True."""
    rows = [[one.source, one.id, one.digest, one.day, *(() if one.fits else (False,))] for one in references]
    return orjson.dumps(rows).decode()


def read_references(text: str | None) -> Sequence[Reference] | None:
    """The references in a stored text, without what is none; None where nothing was recalled or it is damaged."""
    try:
        rows = None if text is None else orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return [Reference(*row) for row in rows if _is_reference(row)] if isinstance(rows, list) else None


def _is_reference(row: Any) -> bool:  # any JSON
    if not isinstance(row, list) or not 4 <= len(row) <= 5 or row[0] not in _SOURCES:
        return False
    return all(type(one) is str for one in row[1:4]) and row[4:] in ([], [False])


@dataclass(slots=True, kw_only=True)
class KeptRecall:
    """What was recalled for the questions of a conversation, by the uid of their messages.

    `known` is as it is stored: an empty list for a question that nothing was found for, or that lost its lines, and
    no entry for one that nothing was recalled for. `question` is the uid of the newest question, None without one.
    `changed` is to be stored with the answer.
    """

    known: Mapping[str, Sequence[Reference]]
    question: str | None = None
    changed: dict[str, Sequence[Reference]] = field(default_factory=dict)

    def note(self, question: str, references: Sequence[Reference]) -> None:
        """Replace the references of a question when the answer is stored."""
        if list(self.known.get(question, ())) != list(references) or question not in self.known:
            self.changed[question] = references


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How lines of former questions are found again.

    `lines` gives the lines of references as they read now, of those that may be written: of memories that are current
    and visible and of messages that are there, each worded as then. `most_tokens` gives how many tokens the lines of
    all former questions may have together.
    """

    lines: Callable[[Scope, Collection[Reference]], Awaitable[Mapping[Reference, RecalledLine]]]
    most_tokens: Callable[[], Awaitable[int]]
