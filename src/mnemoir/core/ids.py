"""Generation of ids: random, opaque and URL-safe. No code may parse an id."""

import os
from typing import NewType

MemoryId = NewType("MemoryId", str)
JobId = NewType("JobId", str)
ChangeId = NewType("ChangeId", str)
PlanId = NewType("PlanId", str)
ProposalId = NewType("ProposalId", str)
ImportId = NewType("ImportId", str)

_DRAWN_BYTES = 4096  # per system call: one call for each id costs a chat as much as reading its body


def new_memory_id() -> MemoryId:
    """`mem_` and 32 random hex digits. They are random from the first on, because some clients show only eight."""
    return MemoryId(f"mem_{_hex(16)}")


def new_message_uid() -> str:
    """`msg_` and 32 random hex digits: identifies a stored message across files."""
    return f"msg_{_hex(16)}"


def new_job_id() -> JobId:
    """`evt_` and 32 random hex digits."""
    return JobId(f"evt_{_hex(16)}")


def new_change_id() -> ChangeId:
    """`chg_` and 32 random hex digits."""
    return ChangeId(f"chg_{_hex(16)}")


def new_plan_id() -> PlanId:
    """`pln_` and 32 random hex digits."""
    return PlanId(f"pln_{_hex(16)}")


def new_proposal_id() -> ProposalId:
    """`prp_` and 32 random hex digits."""
    return ProposalId(f"prp_{_hex(16)}")


def new_import_id() -> ImportId:
    """`imp_` and 32 random hex digits."""
    return ImportId(f"imp_{_hex(16)}")


def new_call_id() -> str:
    """`call_` and 24 random hex digits, for a tool call whose model gave it no id."""
    return f"call_{_hex(12)}"


def new_request_id() -> str:
    """16 random hex digits, for `X-Request-ID`."""
    return _hex(8)


def new_run_id() -> str:
    """`run_` and 32 random hex digits."""
    return f"run_{_hex(16)}"


class _Randomness:
    """Random bytes of the operating system, read in large pieces. Thread-safe; a forked process reads its own."""

    def __init__(self) -> None:
        self._left: list[bytes] = []

    def take(self) -> bytes:
        """16 random bytes, never returned twice."""
        try:
            return self._left.pop()
        except IndexError:
            drawn = os.urandom(_DRAWN_BYTES)
            self._left += [drawn[at : at + 16] for at in range(16, _DRAWN_BYTES, 16)]
            return drawn[:16]

    def forget(self) -> None:
        """Discard all bytes read so far."""
        self._left = []


_randomness = _Randomness()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_randomness.forget)


def _hex(count: int) -> str:
    """`count` random bytes, at most 16, as hex digits."""
    return _randomness.take()[:count].hex()
