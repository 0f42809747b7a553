"""Where variables stand in a text that was filled."""

from typing import NamedTuple


class Place(NamedTuple):
    """Characters `start` to `end` are the value of the variable `name`."""

    name: str
    start: int
    end: int


Places = list[Place]  # in the order of the text; whoever fills one appends


class Filling(NamedTuple):
    """A text with the variables in it, and where they stand."""

    text: str
    places: Places
