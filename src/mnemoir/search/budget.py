"""How much memory indexes may take together: those that were not used for longest are dropped first."""

import threading
from typing import Protocol
from weakref import WeakKeyDictionary

MOST_BYTES = 256 * 2**20  # about 140,000 rows with vectors of 384 dimensions


class Holder(Protocol):
    """Keeps an index in memory that can be made again."""

    def drop(self) -> bool:
        """Let go of the index; False while it is in use. Does not wait."""


class Budget:
    """Thread-safe. Holders are known for as long as somebody else has them; the one used last is never dropped."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._sizes: WeakKeyDictionary[Holder, int] = WeakKeyDictionary()  # bytes; the one used last stands last

    def used(self, holder: Holder, nbytes: int) -> None:
        """`holder` was used just now and keeps so much. What is over the budget goes."""
        with self._lock:
            self._sizes.pop(holder, None)
            self._sizes[holder] = nbytes
            over = sum(self._sizes.values()) - self._most_bytes
            for other in list(self._sizes):
                if over <= 0 or other is holder:
                    break
                if other.drop():
                    over -= self._sizes.pop(other)
