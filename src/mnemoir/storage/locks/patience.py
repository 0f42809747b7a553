"""Waiting for a lease that somebody else has: asking again, ever less often."""

import random
import secrets
import time
from collections.abc import Callable

from mnemoir.ports.leases import Lease

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.05


def new_secret() -> str:
    """A secret for a lease."""
    return secrets.token_hex(16)


def patiently(attempt: Callable[[], Lease | None], wait: float) -> Lease | None:
    """The lease that `attempt` took, or None after `wait` seconds; it is tried once at least."""
    deadline = time.monotonic() + wait
    pause = _FIRST_PAUSE_S
    while (lease := attempt()) is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        time.sleep(min(left, pause * random.uniform(0.5, 1.5)))  # those who wait must not all ask at once
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
    return lease
