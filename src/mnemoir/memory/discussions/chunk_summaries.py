"""Makes chunk summaries: a discussion is cut into chunks, and a model summarises each."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

from mnemoir.core.discussions import BlockKey, ChunkSource, Discussion
from mnemoir.core.messages import Message
from mnemoir.memory.discussions.making import Chunk, make, plan
from mnemoir.memory.discussions.parts import (
    BETWEEN_SUMMARIES,
    NO_SUMMARY,
    ChunkPolicy,
    Control,
    DiscussionMemory,
    Made,
    Plan,
    Written,
)

_RECENT = 3
_WATCH = Control()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryInputs:
    """The inputs of a chunk summary, all as text.

    `recent` are the last three chunk summaries before the chunk and `all` all of them, joined by a line of dashes;
    "" where there are none, or where they are not read. `summary` is the rolling summary, or a fixed sentence
    where there is none yet.
    """

    chunk: str
    recent: str
    all: str
    summary: str


Summarise = Callable[[SummaryInputs], Awaitable[Written]]


async def make_chunk_summaries(
    memory: DiscussionMemory,
    discussion: Discussion,
    messages: Sequence[Message],
    policy: ChunkPolicy,
    workers: Sequence[Summarise],
    *,
    reads_earlier: bool,
    reads_summary: bool = True,
    control: Control = _WATCH,
) -> Made:
    """Summarise the settled messages of the conversation that no chunk summary covers yet.

    With `reads_earlier` each chunk waits for the one before and is given its summary; any worker may take it, and the
    next takes over where one fails. Otherwise the chunks are spread over all workers. The rolling summary is read
    with `reads_summary` only. An empty answer is not stored; it ends the making, as a failure of all workers does.
    Raises StorageUnavailable.
    """
    reader = _Reader(memory, discussion, reads_earlier=reads_earlier, reads_summary=reads_summary)
    return await make(
        memory.ledger,
        memory.files,
        discussion,
        messages,
        policy,
        partial(_keep, memory, discussion),
        [partial(reader.summary_by, summarise) for summarise in workers],
        in_order=reads_earlier,
        control=control,
        backoff=None if policy.takes_all else memory.backoff,
    )


async def plan_chunk_summaries(
    memory: DiscussionMemory, discussion: Discussion, messages: Sequence[Message], policy: ChunkPolicy
) -> Plan:
    """The model calls that `make_chunk_summaries` would make now."""
    return await plan(memory.ledger, discussion, messages, policy)


class _Reader:
    """Collects the inputs for a chunk and requests its summary."""

    def __init__(
        self, memory: DiscussionMemory, discussion: Discussion, *, reads_earlier: bool, reads_summary: bool
    ) -> None:
        self._memory = memory
        self._discussion = discussion
        self._reads_earlier = reads_earlier
        self._reads_summary = reads_summary

    async def summary_by(self, summarise: Summarise, chunk: Chunk) -> Written | None:
        """The summary of a chunk; None when the model answered with no text."""
        earlier = await self._earlier(chunk.before) if self._reads_earlier else []
        rolling = await self._memory.summaries.load(self._discussion) if self._reads_summary else None
        inputs = SummaryInputs(
            chunk=chunk.text,
            recent=BETWEEN_SUMMARIES.join(earlier[-_RECENT:]),
            all=BETWEEN_SUMMARIES.join(earlier),
            summary=NO_SUMMARY if rolling is None else rolling.text,
        )
        written = await summarise(inputs)
        text = written.text.strip()
        return replace(written, text=text) if text else None

    async def _earlier(self, before: BlockKey | None) -> list[str]:
        """The texts of the chunk summaries before a block, or of all for None."""
        summaries = await self._memory.ledger.all(self._discussion)
        in_front = takewhile(lambda summary: summary.id != before, summaries)
        return [summary.text for summary in in_front if summary.is_read]


async def _keep(
    memory: DiscussionMemory, discussion: Discussion, written: Written, source: ChunkSource, before: BlockKey | None
) -> None:
    await memory.ledger.append(discussion, written.text, source, before=before, made_by=written.by)
