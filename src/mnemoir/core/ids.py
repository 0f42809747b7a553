"""Ids: opaque, URL-safe, made here. Nothing may parse one."""

import uuid
from typing import NewType

MemoryId = NewType("MemoryId", str)
JobId = NewType("JobId", str)


def new_memory_id() -> MemoryId:
    """`mem_` and 32 random hex digits: the entropy comes first because some clients print eight characters."""
    return MemoryId(f"mem_{uuid.uuid4().hex}")


def new_job_id() -> JobId:
    """`evt_` and 32 random hex digits."""
    return JobId(f"evt_{uuid.uuid4().hex}")


def new_request_id() -> str:
    """16 random hex digits, for `X-Request-ID`."""
    return uuid.uuid4().hex[:16]


def new_run_id() -> str:
    """`run_` and 32 random hex digits."""
    return f"run_{uuid.uuid4().hex}"
