"""Ids: opaque, URL-safe, made here. Nothing may parse one."""

from secrets import token_hex
from typing import NewType

MemoryId = NewType("MemoryId", str)
JobId = NewType("JobId", str)


def new_memory_id() -> MemoryId:
    """`mem_` and 32 random hex digits: the entropy comes first because some clients print eight characters."""
    return MemoryId(f"mem_{token_hex(16)}")


def new_message_uid() -> str:
    """`msg_` and 32 random hex digits: names a stored message in any file."""
    return f"msg_{token_hex(16)}"


def new_job_id() -> JobId:
    """`evt_` and 32 random hex digits."""
    return JobId(f"evt_{token_hex(16)}")


def new_request_id() -> str:
    """16 random hex digits, for `X-Request-ID`."""
    return token_hex(8)


def new_run_id() -> str:
    """`run_` and 32 random hex digits."""
    return f"run_{token_hex(16)}"
