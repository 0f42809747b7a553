"""Reading the memory of a discussion in a node: a failure of memory never fails a chat."""

from collections.abc import Awaitable
from typing import TypeVar

import structlog

from mnemoir.core.errors import StorageUnavailable
from mnemoir.workflows.step import Step

_log = structlog.get_logger(__name__)

T = TypeVar("T")


async def read_or(step: Step, reading: Awaitable[T], nothing: T) -> T:
    """The result of `reading`; `nothing`, with a note in the trace, while memory cannot be read or written."""
    try:
        return await reading
    except StorageUnavailable as exc:
        step.note(f"Memory was left out: {exc.message}")
        _log.warning("discussion memory not read", node=step.definition.title, code=exc.code)
        return nothing
