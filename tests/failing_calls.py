"""Attempts at a change while a faulty disk fails one call after another, until the change comes through.

@failing_calls
def test_a_change_that_fails_changes_nothing(disk, failing):
    with disk.noting() as calls:
        ...                                                  # the change, or one like it, comes through
    for attempt in failing(disk, calls, apsw.FullError):
        with attempt:
            ...                                              # the change
        if attempt.struck:
            ...                                              # it was told, and nothing has changed

In `make test` the first, middle and last call of each kind fail, in the slow tests every one.
"""

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol

import pytest

from mnemoir.core.errors import StorageUnavailable

_MOST_CALLS = 300  # behind these a change that never comes through has failed its test


class FaultyCalls(Protocol):
    """The calls of the operating system or of a database, one of which is to fail."""

    def arm(self, at: int, error: Any) -> None: ...

    def disarm(self) -> bool:
        """Whether a call failed."""


class Attempt:
    """One run of the change, in which call `number` fails, from 1; nothing of the disk fails behind it."""

    def __init__(self, disk: FaultyCalls, number: int, error: Any) -> None:
        self.number, self.struck = number, False
        self.told: str | None = None  # the words of the error that the change raised
        self._disk, self._error = disk, error

    def __enter__(self) -> None:
        self._disk.arm(self.number, self._error)

    def __exit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> bool:
        self.struck = self._disk.disarm()
        if not isinstance(error, StorageUnavailable | OSError):
            return False
        self.told = str(error)
        return self.struck  # an error that nobody asked for fails the test


def some(disk: FaultyCalls, calls: Sequence[str], error: Any) -> Iterator[Attempt]:
    """Attempts that fail at the first, middle and last call of each kind; then one that comes through."""
    kinds: dict[str, list[int]] = {}
    for number, call in enumerate(calls, 1):
        kinds.setdefault(call, []).append(number)
    first = sorted({one for at in kinds.values() for one in (at[0], at[len(at) // 2], at[-1])})
    yield from attempts(disk, [*first, *range(len(calls) + 1, _MOST_CALLS)], error)


def every(disk: FaultyCalls, calls: Sequence[str], error: Any) -> Iterator[Attempt]:
    """Attempts that fail at all calls, in order; then one that comes through."""
    yield from attempts(disk, range(1, _MOST_CALLS), error)


def attempts(disk: FaultyCalls, numbers: Iterable[int], error: Any, *, least: int = 2) -> Iterator[Attempt]:
    """Attempts that fail at these calls, up to the first one that comes through; `least` must fail before."""
    for number in numbers:
        attempt = Attempt(disk, number, error)
        yield attempt
        if not attempt.struck:
            assert number > least, "the change hardly touched the disk"
            return
    pytest.fail("the change never came through")


failing_calls = pytest.mark.parametrize(
    "failing", [pytest.param(some, id="some"), pytest.param(every, id="every", marks=pytest.mark.slow)]
)
