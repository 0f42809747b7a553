"""Forgetting one chunk: its words, what was made of them, and what was made of that.

What followed from a chunk goes first and the chunk last, so that a forgetting that was broken off is done to its end
when it is asked for again. The chunk keeps its place by hashes alone, so that nothing is made of its messages anew.
"""

from typing import Literal

from mnemoir.core.discussions import BlockKey, ChunkSummary, Discussion
from mnemoir.core.errors import Conflict
from mnemoir.memory.discussions.aside import remove_asides
from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.memory.discussions.writing import to_its_end

Kind = Literal["summaries", "records"]

_PATIENCE_S = 10.0


async def forget_chunk(
    memory: DiscussionMemory,
    discussion: Discussion,
    key: BlockKey,
    *,
    kind: Kind = "summaries",
    patience_s: float = _PATIENCE_S,
) -> bool:
    """Remove for good the summary of a chunk, or its records, and the words kept with them.

    The rolling summary goes with a chunk summary that may be in it; the next update makes it of those that are left.
    The two stores know chunks by keys of their own, so `kind` tells which one is asked. False when it knows no such
    chunk, or the chunk was forgotten before. Raises Conflict while somebody else makes memories of the discussion.
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
    """All but those with a higher number than any in it; forgotten ones are in none that was made since."""
    if chunk.forgotten_at is not None:
        return False
    rolling = await memory.summaries.load(discussion)
    return rolling is not None and (rolling.number is None or chunk.number <= rolling.number)
