"""Many cases of one statement in one test: all are tried, and each that fails is named."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def check_each(cases: Iterable[Any], check: Callable[..., object]) -> None:
    """Call `check` with the values of each case, a tuple, or with a case that is none; there is at least one.

    Raises AssertionError behind the last case, with all that failed.
    """
    failures, count = [], 0
    for case in cases:
        count += 1
        try:
            check(*case if isinstance(case, tuple) else (case,))
        except (AssertionError, pytest.fail.Exception) as exc:
            failures.append(f"{case!r}: {exc}")
        except Exception as exc:
            exc.add_note(f"The case was {case!r}.")
            raise
    assert count, "there is no case"
    assert not failures, f"{len(failures)} of {count} cases:\n" + "\n".join(failures)
