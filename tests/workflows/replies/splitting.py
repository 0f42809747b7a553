"""Ways to cut an answer into pieces, as a network might."""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Protocol


class Filter(Protocol):
    def feed(self, text: str) -> str: ...
    def end(self) -> str: ...


def pieces(text: str, most_cuts: int = 2) -> Iterator[list[str]]:
    """The text whole, cut at each position, cut at each two positions, and in single characters."""
    yield list(text)
    for count in range(most_cuts + 1):
        for cuts in combinations(range(len(text) + 1), count):
            bounds = [0, *cuts, len(text)]
            yield [text[start:stop] for start, stop in pairwise(bounds)]


def joined(stream: Filter, parts: Sequence[str]) -> str:
    return "".join([*(stream.feed(part) for part in parts), stream.end()])
