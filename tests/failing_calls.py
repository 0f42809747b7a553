"""Which calls of a change a faulty disk lets fail in turn: some of each kind, or every one in the slow tests.

@failing_calls
def test_a_change_that_fails_changes_nothing(disk, failing):
    with disk.noting() as calls:
        ...                        # the change, or one like it, comes through
    for number in failing(calls):  # until it comes through again
        disk.arm(number, apsw.FullError)
"""

from collections.abc import Iterator, Sequence

import pytest

_MOST_CALLS = 300  # behind these a change that never comes through has failed its test


def some(calls: Sequence[str]) -> Iterator[int]:
    """The numbers, from 1, of the first, middle and last call of each kind; then those behind the last of all."""
    kinds: dict[str, list[int]] = {}
    for number, call in enumerate(calls, 1):
        kinds.setdefault(call, []).append(number)
    yield from sorted({one for at in kinds.values() for one in (at[0], at[len(at) // 2], at[-1])})
    yield from range(len(calls) + 1, _MOST_CALLS)


def every(calls: Sequence[str]) -> Iterator[int]:
    """All numbers from 1 on."""
    yield from range(1, _MOST_CALLS)


failing_calls = pytest.mark.parametrize(
    "failing", [pytest.param(some, id="some"), pytest.param(every, id="every", marks=pytest.mark.slow)]
)
