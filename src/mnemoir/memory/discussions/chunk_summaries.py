"""Chunk summaries: a discussion read in chunks, and what a model writes about each."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from mnemoir.core.discussions import Discussion
from mnemoir.core.messages import Message
from mnemoir.memory.discussions.parts import ChunkPolicy, Control, DiscussionMemory, Made, Plan

_WATCH = Control()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryInputs:
    """What a chunk summary is made from, all as text.

    `recent` are the last three chunk summaries in front of the chunk and `all` all of them, joined by a line of
    dashes; "" where there are none, or where they are not read. `summary` is the rolling summary, or a fixed sentence
    where there is none yet.
    """

    chunk: str
    recent: str
    all: str
    summary: str


Summarise = Callable[[SummaryInputs], Awaitable[str]]


async def make_chunk_summaries(
    memory: DiscussionMemory,
    discussion: Discussion,
    messages: Sequence[Message],
    policy: ChunkPolicy,
    workers: Sequence[Summarise],
    *,
    reads_earlier: bool,
    control: Control = _WATCH,
) -> Made:
    """Summarise what the conversation has of settled messages that no chunk summary covers yet.

    With `reads_earlier` each chunk waits for the one before and is given its summary; any worker may take it, and the
    next takes over where one fails. Otherwise the chunks are spread over all workers.
    """
    raise NotImplementedError


async def plan_chunk_summaries(
    memory: DiscussionMemory, discussion: Discussion, messages: Sequence[Message], policy: ChunkPolicy
) -> Plan:
    """What `make_chunk_summaries` would do now."""
    raise NotImplementedError
