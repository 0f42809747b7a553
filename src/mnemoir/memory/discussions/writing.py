"""Changes of stored discussions that are completed even when their caller is cancelled, and forgetting of one chunk.

A cancelled write continues in its thread. If the lock for making memories were released meanwhile, the write could
restore data that is forgotten or deleted in the next moment.

A discussion that is rebuilt or imported is written beside the other one, under a reserved name. No client can use
such a name (`core.discussion_id.is_allowed`), so no client reads or writes it.

When a chunk is forgotten, derived data is deleted first and the chunk last, so that an interrupted deletion is
completed when it is requested again. The chunk keeps only the hashes of its messages, so that nothing is made from
them again.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, TypeVar, get_args

from mnemoir.core.discussions import BlockKey, ChunkSummary, Discussion
from mnemoir.core.errors import Conflict
from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.ports.discussions import DiscussionFiles

T = TypeVar("T")
Purpose = Literal["rebuild", "import"]
Kind = Literal["summaries", "records"]

_PATIENCE_S = 10.0


async def to_its_end(writing: Awaitable[T]) -> T:
    """Await a write and return its result. When cancelled, even repeatedly, it ends only after the write."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        raise


def aside(discussion: Discussion, purpose: Purpose) -> Discussion:
    """The temporary discussion for a purpose: always the same, so that leftovers of a killed process are found."""
    return replace(discussion, id=f"{purpose}\0{discussion.id}", legacy=None)


def asides(discussion: Discussion) -> Sequence[Discussion]:
    """All temporary discussions that may exist beside it."""
    return [aside(discussion, purpose) for purpose in get_args(Purpose)]


async def remove_asides(files: DiscussionFiles, discussion: Discussion) -> None:
    """Remove what interrupted rebuilds and imports have left. Call only under `files.making(discussion)`."""
    for beside in asides(discussion):
        await files.remove(beside)


async def forget_chunk(
    memory: DiscussionMemory,
    discussion: Discussion,
    key: BlockKey,
    *,
    kind: Kind = "summaries",
    patience_s: float = _PATIENCE_S,
) -> bool:
    """Permanently remove the summary of a chunk, or its records, and the text stored with them.

    The rolling summary goes with a chunk summary that may be in it; the next update makes it of those that are left.
    The two stores know chunks by keys of their own, so `kind` tells which one is asked. False when it has no such
    chunk, or the chunk was forgotten before. Raises Conflict while another task makes memories of the discussion.
    """
    async with memory.files.making(discussion, patience_s=patience_s) as is_alone:
        if not is_alone:
            raise Conflict(
                f"Memories of discussion {discussion.id[:128]!r} are being made, so nothing was forgotten. "
                "Try again later.",
                code="discussion_busy",
            )
        if kind == "records":
            return await to_its_end(_forget_records(memory, discussion, key))
        return await to_its_end(_forget_summary(memory, discussion, key))


async def _forget_records(memory: DiscussionMemory, discussion: Discussion, key: BlockKey) -> bool:
    await remove_asides(memory.files, discussion)
    return await memory.records.forget(discussion, key)


async def _forget_summary(memory: DiscussionMemory, discussion: Discussion, key: BlockKey) -> bool:
    chunk = next((chunk for chunk in await memory.ledger.all(discussion) if chunk.id == key), None)
    if chunk is None:
        return False
    if await _may_be_in_rolling_summary(memory, discussion, chunk):
        await memory.summaries.remove(discussion)
    await remove_asides(memory.files, discussion)
    return await memory.ledger.forget(discussion, key)


async def _may_be_in_rolling_summary(memory: DiscussionMemory, discussion: Discussion, chunk: ChunkSummary) -> bool:
    """True unless the chunk was forgotten before or its number is higher than any in the summary."""
    if chunk.forgotten_at is not None:
        return False
    rolling = await memory.summaries.load(discussion)
    return rolling is not None and (rolling.number is None or chunk.number <= rolling.number)
