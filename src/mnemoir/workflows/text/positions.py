"""Where variables stand in a text that was filled."""

from typing import NamedTuple


class TextPosition(NamedTuple):
    """Characters `start` to `end` are the value of the variable `name`."""

    name: str
    start: int
    end: int


TextPositions = list[TextPosition]  # in the order of the text; whoever fills one appends


class Filling(NamedTuple):
    """A text with the variables in it, and where they stand."""

    text: str
    places: TextPositions
