"""Which cases of a test `make test` has: the few that show the promise. `make test-slow` has the others."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def staged(cases: Iterable[Any], *, quick: Collection[Any] | int) -> list[Any]:
    """All cases for `parametrize`, in their order. Those that are not in `quick` get the marker `slow`.

    A number as `quick` is that of the first cases. A case of several values is a tuple.
    """
    every = list(cases)
    few = every[:quick] if isinstance(quick, int) else quick
    assert all(case in every for case in few), "a quick case is one of all cases"
    return [case if case in few else _slow(case) for case in every]


def _slow(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)


def leave_cases_to_slow(items: Iterable[pytest.Item], *, most: int) -> None:
    """Of each test with more cases than `most`, mark all but so many as slow; those that stay lie evenly apart."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for each in cases.values():
        stay = {round(at * (len(each) - 1) / (most - 1)) for at in range(most)}
        for at, item in enumerate(sorted(each, key=lambda item: item.nodeid)):  # whatever the order of this run
            if len(each) > most and at not in stay:
                item.add_marker(pytest.mark.slow)
