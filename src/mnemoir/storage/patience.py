"""Retries for a resource that another holder has, with growing pauses."""

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.02


def pauses(wait_s: float) -> Iterator[float]:
    """Pauses between tries in seconds, until `wait_s` seconds are over; none when that is 0."""
    deadline, pause = time.monotonic() + wait_s, _FIRST_PAUSE_S
    while (left := deadline - time.monotonic()) > 0:
        yield min(left, pause * random.uniform(0.5, 1.5))  # random, so that waiting callers do not all retry at once
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)


def patiently(attempt: Callable[[], T | None], wait_s: float) -> T | None:
    """The first result of `attempt` that is not None; None after `wait_s` seconds. It is tried at least once."""
    for pause in pauses(wait_s):
        if (outcome := attempt()) is not None:
            return outcome
        time.sleep(pause)
    return attempt()
