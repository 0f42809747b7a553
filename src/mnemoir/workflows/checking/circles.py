"""Search for circles in a directed graph."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def circles(edges: Mapping[T, Sequence[T]]) -> list[list[T]]:
    """One circle for every edge that closes one, beginning at the edge's target: [a, b] for a → b → a.

    Linear in the number of edges. Without recursion, because a chain may be longer than Python's stack.
    """
    found: list[list[T]] = []
    done: set[T] = set()
    for start in edges:
        if start not in done:
            found.extend(_circles_from(start, edges, done))
    return found


def _circles_from(start: T, edges: Mapping[T, Sequence[T]], done: set[T]) -> Iterator[list[T]]:
    """Depth-first search; `way` is the current path, `done` the nodes already searched."""
    way: list[T] = [start]
    places = {start: 0}
    ahead = [iter(edges.get(start, ()))]
    while ahead:
        following = next(ahead[-1], None)
        if following is None:
            ahead.pop()
            last = way.pop()
            del places[last]
            done.add(last)
        elif following in places:
            yield way[places[following] :]
        elif following not in done:
            places[following] = len(way)
            way.append(following)
            ahead.append(iter(edges.get(following, ())))
