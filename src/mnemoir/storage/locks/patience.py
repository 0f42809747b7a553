"""Waiting for a lease that somebody else has: asking again, ever less often."""

import random
import secrets
import time
from collections.abc import Callable

from mnemoir.ports.locks import LockToken

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.05


def patiently(key: str, attempt: Callable[[LockToken], bool], wait: float) -> LockToken | None:
    """The token with which `attempt` succeeded, or None after `wait` seconds; it is tried once at least."""
    token = LockToken(key=key, secret=secrets.token_hex(16))
    deadline = time.monotonic() + wait
    pause = _FIRST_PAUSE_S
    while not attempt(token):
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        time.sleep(min(left, pause * random.uniform(0.5, 1.5)))  # those who wait must not all ask at once
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
    return token
