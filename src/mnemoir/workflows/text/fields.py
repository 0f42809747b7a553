"""Parsing of fields in a text (`{name}`, with a path, a conversion and a format), and positions in a filled text.

The grammar is that of Python's `str.format`, extended so that every text is valid: a brace that opens no field is
literal. Doubled braces mean one, except two closing braces of which the first closes a single open brace. So JSON in
a prompt keeps its braces whether or not its author doubled them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

# a name may be any key of a workflow file without other signs of the grammar
_FIELD = re.compile(
    r"""\{ (?P<name> [^\s\d{}\[\].!:] [^{}\[\].!:\n]* )
           (?P<path> (?: \.[^{}\[\].!:\s]+ | \[[^{}\[\]\n]+\] )* )
           (?: !(?P<conversion>[rsa]) )?
           (?: :(?P<format>[^{}]*) )?
        \}""",
    re.VERBOSE,
)
_STEP = re.compile(r"\.(?P<member>[^.\[]+)|\[(?P<key>[^\]]+)\]")
_BRACE = re.compile(r"[{}]")
_LONGEST_KEPT = 64 * 1024  # characters; longer texts are probably generated and occur once, so they are not cached


class TextPosition(NamedTuple):
    """The position of a variable: characters `start` to `end` are the value of `name`."""

    name: str
    start: int
    end: int


TextPositions = list[TextPosition]  # in the order of the text; functions that fill a text append to it


class Filling(NamedTuple):
    """A filled text, and the positions of its variables."""

    text: str
    places: TextPositions


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One step of a path into a value: `.key` for members of objects, `[key]` for items of lists too."""

    key: str
    is_dotted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field. `source` is its text, which stays if the field cannot be filled."""

    source: str
    name: str
    path: Sequence[Member] = ()
    conversion: str = ""  # r, s or a, as in Python
    format: str = ""


Piece = str | Field


def pieces_of(text: str) -> Sequence[Piece]:
    """The text, split into literal texts and fields."""
    return _remembered(text) if len(text) <= _LONGEST_KEPT else _read(text)


def _read(text: str) -> Sequence[Piece]:
    pieces: list[Piece] = []
    open_singles: list[bool] = []  # for each open brace, True if it is a single one, which one brace closes
    place = 0
    while brace := _BRACE.search(text, place):
        pieces.append(text[place : brace.start()])
        piece, place = _piece_at(text, brace.start(), open_singles)
        pieces.append(piece)
    pieces.append(text[place:])
    return tuple(_joined_pieces(pieces))


def _piece_at(text: str, place: int, open_singles: list[bool]) -> tuple[Piece, int]:
    """The piece that the brace at `place` begins, and the index of its end."""
    brace = text[place]
    is_doubled = text.startswith(brace, place + 1)
    if brace == "}":
        closes_single = bool(open_singles) and open_singles.pop()
        return brace, place + (2 if is_doubled and not closes_single else 1)
    if is_doubled:
        open_singles.append(False)
        return brace, place + 2
    if found := _FIELD.match(text, place):
        return _field(found), found.end()
    open_singles.append(True)
    return brace, place + 1


def _field(found: re.Match[str]) -> Field:
    return Field(
        source=found[0],
        name=found["name"],
        path=tuple(_member(step) for step in _STEP.finditer(found["path"])),
        conversion=found["conversion"] or "",
        format=found["format"] or "",
    )


def _member(step: re.Match[str]) -> Member:
    return Member(key=step["member"] or step["key"], is_dotted=step["member"] is not None)


def _joined_pieces(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces with adjacent texts joined and empty texts left out."""
    for is_text, group in groupby(pieces, lambda piece: isinstance(piece, str)):
        if not is_text:
            yield from group
        elif text := "".join(piece for piece in group if isinstance(piece, str)):
            yield text


_remembered = lru_cache(maxsize=1024)(_read)
