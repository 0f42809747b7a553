"""Fair shares: where several keys exist, one of them takes at most three quarters of what all share.

So however many chats, streams and connections one caller holds, a quarter is left to the others. Where there is one
key, or none, it may take all.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


def share_of(most: int) -> int:
    """The number of so many things that one key may hold while there are others."""
    return max(1, most * 3 // 4)


class Shares:
    """The things that keys hold of `most`, by key; "" is no key. `is_shared` tells whether there are several keys."""

    def __init__(self, most: int, is_shared: Callable[[], bool] = lambda: True) -> None:
        self.most = most
        self._is_shared = is_shared
        self._held: dict[str, int] = {}

    @property
    def held_count(self) -> int:
        """The number that all keys hold together."""
        return sum(self._held.values())

    def has_room(self, key: str) -> bool:
        """Whether this key may hold one more."""
        return not key or not self._is_shared() or self._held.get(key, 0) < share_of(self.most)

    def take(self, key: str) -> None:
        """Note that the key holds one more."""
        self._held[key] = self._held.get(key, 0) + 1

    def give_back(self, key: str) -> None:
        """Note that it holds one less, if it holds any."""
        left = self._held.pop(key, 0) - 1
        if left > 0:
            self._held[key] = left

    @contextmanager
    def holding(self, key: str) -> Iterator[None]:
        """Hold one while the body runs."""
        self.take(key)
        try:
            yield
        finally:
            self.give_back(key)
