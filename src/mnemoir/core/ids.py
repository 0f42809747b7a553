"""Ids: opaque, URL-safe, made here. Nothing may parse one."""

import os
from typing import NewType

MemoryId = NewType("MemoryId", str)
JobId = NewType("JobId", str)

_DRAWN_BYTES = 4096  # at a time: a call of the system for each id costs a chat as much as reading its body


def new_memory_id() -> MemoryId:
    """`mem_` and 32 random hex digits: the entropy comes first because some clients print eight characters."""
    return MemoryId(f"mem_{_hex(16)}")


def new_job_id() -> JobId:
    """`evt_` and 32 random hex digits."""
    return JobId(f"evt_{_hex(16)}")


def new_request_id() -> str:
    """16 random hex digits, for `X-Request-ID`."""
    return _hex(8)


def new_run_id() -> str:
    """`run_` and 32 random hex digits."""
    return f"run_{_hex(16)}"


class _Randomness:
    """Random bytes of the system, drawn many at a time. Threads may share it; a forked process draws its own."""

    def __init__(self) -> None:
        self._left: list[bytes] = []

    def take(self) -> bytes:
        """16 bytes that nothing else is given."""
        try:
            return self._left.pop()
        except IndexError:
            drawn = os.urandom(_DRAWN_BYTES)
            self._left += [drawn[at : at + 16] for at in range(16, _DRAWN_BYTES, 16)]
            return drawn[:16]

    def forget(self) -> None:
        """Give away nothing that was drawn so far."""
        self._left = []


_randomness = _Randomness()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_randomness.forget)


def _hex(count: int) -> str:
    """`count` random bytes, at most 16, as hex digits."""
    return _randomness.take()[:count].hex()
