"""Positions of variables in a filled text."""

from typing import NamedTuple


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
