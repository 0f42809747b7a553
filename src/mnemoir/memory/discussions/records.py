"""Records: what a discussion holds, as small structured objects that can be searched."""

from collections.abc import Awaitable, Callable, Sequence

from mnemoir.core.discussions import Discussion
from mnemoir.core.messages import Message
from mnemoir.memory.discussions.parts import ChunkPolicy, Control, DiscussionMemory, Made, Plan

Extract = Callable[[str, str], Awaitable[str]]  # a chunk, and what was wrong with the answer before ("" at first)

_WATCH = Control()


async def make_records(
    memory: DiscussionMemory,
    discussion: Discussion,
    messages: Sequence[Message],
    policy: ChunkPolicy,
    workers: Sequence[Extract],
    *,
    control: Control = _WATCH,
) -> Made:
    """Make records of what the conversation has of settled messages that none were made of yet."""
    raise NotImplementedError


async def plan_records(
    memory: DiscussionMemory, discussion: Discussion, messages: Sequence[Message], policy: ChunkPolicy
) -> Plan:
    """What `make_records` would do now."""
    raise NotImplementedError
