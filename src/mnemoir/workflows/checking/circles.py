"""Things that lead back to themselves."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def circles(edges: Mapping[T, Sequence[T]]) -> list[list[T]]:
    """One way around for every edge that closes a circle, from where it begins: [a, b] for a → b → a.

    Linear in the number of edges, and without recursion: a chain may be longer than Python's stack.
    """
    found: list[list[T]] = []
    done: set[T] = set()
    for start in edges:
        if start not in done:
            found.extend(_circles_from(start, edges, done))
    return found


def _circles_from(start: T, edges: Mapping[T, Sequence[T]], done: set[T]) -> Iterator[list[T]]:
    """Depth first; `way` is where the walk stands, `done` what need not be walked again."""
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
