"""Backoff for chunks whose answers are unusable: models are asked about them again, but less and less often.

Every message of a conversation triggers the making of memories. Without backoff, a chunk that a model cannot or will
not answer would cost calls with each message.
"""

from collections.abc import Hashable

_MOST_PASSED_OVER = 15  # makings in a row
_MOST_KEPT = 1000  # failing discussions; others are retried without backoff


class Backoff:
    """Counts for one process. After a first failure the next making tries again; then 1, 3, 7, 15 are passed over."""

    def __init__(self) -> None:
        self._failures: dict[Hashable, int] = {}
        self._left: dict[Hashable, int] = {}

    def passes_over(self, key: Hashable) -> bool:
        """True when this making should call no model; each such call counts as one passed over."""
        left = self._left.get(key, 0)
        if left:
            self._left[key] = left - 1
        return left > 0

    def failed(self, key: Hashable) -> None:
        """Count an unusable answer."""
        if len(self._failures) >= _MOST_KEPT:
            self._failures.clear()
            self._left.clear()
        times = self._failures.get(key, 0)
        self._failures[key] = times + 1
        self._left[key] = min(2**times - 1, _MOST_PASSED_OVER)

    def succeeded(self, key: Hashable) -> None:
        """Reset the count: the next failure is the first again."""
        self._failures.pop(key, None)
        self._left.pop(key, None)
