"""The rolling summary: one text about a whole discussion, updated with the chunk summaries made since.

Its contents are identified by the newest chunk summary in it and by the highest number among those in it: a chunk
that was made again precedes that one but has a higher number.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from mnemoir.core.clock import to_text
from mnemoir.core.discussions import ChunkSummary, Discussion, RollingSummary
from mnemoir.core.errors import Conflict, NotFound
from mnemoir.memory.discussions.parts import BETWEEN_LATEST, NO_SUMMARY, Control, DiscussionMemory, Written
from mnemoir.memory.discussions.writing import to_its_end

Condense = Callable[[str, str], Awaitable[Written]]  # (summary so far, latest chunk summaries) to a new summary

_PATIENCE_S = 5.0
_WATCH = Control()


def chunks_since(summaries: Sequence[ChunkSummary], summary: RollingSummary | None) -> list[ChunkSummary]:
    """Chunk summaries not yet in the summary, in the order to add them; stale and forgotten ones are left out.

    First those made again before the newest one in the summary, ordered by number, so that a partial update still
    shows which are in it; then those after it. All when there is no summary, or its contents are unknown.
    """
    at = None if summary is None else _anchor(summaries, summary.hash)
    if summary is None or at is None:
        return [chunk for chunk in summaries if chunk.is_read]
    number = summary.number
    anew = [chunk for chunk in summaries[: at + 1] if number is not None and chunk.number > number]
    ordered = sorted(anew, key=lambda chunk: chunk.number) + list(summaries[at + 1 :])
    return [chunk for chunk in ordered if chunk.is_read]


def count_of(summaries: Sequence[ChunkSummary], summary: RollingSummary | None) -> int:
    """The number of chunk summaries not yet in the summary; -1 without any, or if its contents are unknown."""
    if not any(chunk.is_read for chunk in summaries):
        return -1
    if summary is not None and _anchor(summaries, summary.hash) is None:
        return -1
    return len(chunks_since(summaries, summary))


async def count_since(memory: DiscussionMemory, discussion: Discussion) -> int:
    """`count_of` for the stored summaries."""
    summary = await memory.summaries.load(discussion)  # loaded first, so that it names no chunk missing below
    return count_of(await memory.ledger.all(discussion), summary)


async def update_rolling_summary(
    memory: DiscussionMemory,
    discussion: Discussion,
    condense: Condense,
    *,
    loop_if_exceed: int = 3,
    least: int = 3,
    control: Control = _WATCH,
) -> str:
    """Update the summary and return its text, or a fixed sentence where there is none yet.

    More than `loop_if_exceed` new chunk summaries are taken in so many at a time; what is left then is taken in when
    it is at least `least`. Each step is stored before the next. An empty answer is not stored and ends the update, as
    `control` may. Raises Conflict while another task makes memories of the discussion, and what `condense`
    raises, with all earlier steps stored.
    """
    async with _alone(memory, discussion):
        summary = await memory.summaries.load(discussion)
        summaries = await memory.ledger.all(discussion)
        update = _Update(memory, discussion, condense, summaries)
        batches = _batches(chunks_since(summaries, summary), loop_if_exceed, least)
        summary = await update.run(summary, batches, control)
    return summary.text if summary else NO_SUMMARY


async def save_summary(
    memory: DiscussionMemory, discussion: Discussion, written: Written, *, patience_s: float = _PATIENCE_S
) -> None:
    """Store a text as the summary of all current chunk summaries.

    Raises NotFound when there are none, Conflict when another task still makes memories of it after `patience_s`.
    """
    async with _alone(memory, discussion, patience_s):
        live = [chunk for chunk in await memory.ledger.all(discussion) if chunk.is_read]
        if not live:
            raise NotFound(
                f"Discussion {discussion.id!r} has no chunk summaries, so its summary was not saved: nothing tells "
                "what it is a summary of. Make memories first, with QualityMemory or RecentMemory.",
                code="no_chunk_summaries",
            )
        await to_its_end(memory.summaries.save(discussion, _rolling_summary(memory, written, live, live[-1].hash)))


@asynccontextmanager
async def _alone(memory: DiscussionMemory, discussion: Discussion, patience_s: float = 0.0) -> AsyncIterator[None]:
    async with memory.files.making(discussion, patience_s=patience_s) as is_ours:
        if not is_ours:
            raise Conflict(
                f"Memories of discussion {discussion.id[:128]!r} are being made, so its summary was not saved. "
                "Try again later.",
                code="discussion_busy",
            )
        yield


class _Update:
    """One update, step by step."""

    def __init__(
        self, memory: DiscussionMemory, discussion: Discussion, condense: Condense, summaries: Sequence[ChunkSummary]
    ) -> None:
        self._memory = memory
        self._discussion = discussion
        self._condense = condense
        self._places = {chunk.id: place for place, chunk in enumerate(summaries)}
        self._summaries = summaries

    async def run(
        self, summary: RollingSummary | None, batches: Sequence[Sequence[ChunkSummary]], control: Control
    ) -> RollingSummary | None:
        """Run the update; return the summary stored last."""
        for done, batch in enumerate(batches):
            if not control.goes_on():
                break
            latest = BETWEEN_LATEST.join(chunk.text for chunk in batch)
            written = await self._condense(summary.text if summary else NO_SUMMARY, latest)
            if not written.text.strip():
                break
            summary = self._with(summary, batch, replace(written, text=written.text.strip()))
            await to_its_end(self._memory.summaries.save(self._discussion, summary))
            control.progress(done + 1, len(batches))
        return summary

    def _with(
        self, summary: RollingSummary | None, batch: Sequence[ChunkSummary], written: Written
    ) -> RollingSummary:
        """The summary after a batch, anchored at the newest chunk in it."""
        anchor = None if summary is None else _anchor(self._summaries, summary.hash)
        newest = max(self._places[chunk.id] for chunk in batch)
        if summary is None or anchor is None:
            return _rolling_summary(self._memory, written, batch, self._summaries[newest].hash)
        included = [*batch, *self._summaries[: anchor + 1]] if summary.number is None else batch
        hash_ = self._summaries[max(newest, anchor)].hash
        return _rolling_summary(self._memory, written, included, hash_, number=summary.number)


def _rolling_summary(
    memory: DiscussionMemory,
    written: Written,
    included: Sequence[ChunkSummary],
    newest: str,
    *,
    number: int | None = None,
) -> RollingSummary:
    highest = max([chunk.number for chunk in included] + [number or 0])
    now = to_text(memory.clock())
    return RollingSummary(text=written.text, hash=newest, number=highest, updated_at=now, made_by=written.by)


def _anchor(summaries: Sequence[ChunkSummary], newest: str) -> int | None:
    """The index of the newest chunk of a summary, which may be stale; None when it is unknown."""
    places = [place for place, chunk in enumerate(summaries) if chunk.hash == newest]
    live = [place for place in places if summaries[place].stale_since is None]
    return max(live or places, default=None)


def _batches(new: Sequence[ChunkSummary], most: int, least: int) -> list[Sequence[ChunkSummary]]:
    """Batches of `most` while more than that are left; then the rest, if it has at least `least`."""
    size, start = max(most, 1), 0
    batches: list[Sequence[ChunkSummary]] = []
    while len(new) - start > max(most, 0):
        batches.append(new[start : start + size])
        start += size
    if len(new) - start >= max(least, 1):
        batches.append(new[start:])
    return batches
