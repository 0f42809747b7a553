"""Exports and imports a discussion as one value: chunk summaries, rolling summary, records and their source texts.

A copy is written into a temporary discussion, which replaces the other when complete. Records of stale chunks are not
copied, since no search finds them.
"""

from bisect import bisect
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import Any

from mnemoir.core.discussions import (
    BlockChanges,
    BlockKey,
    ChunkSource,
    ChunkSummary,
    Discussion,
    NewRecord,
    Record,
    RollingSummary,
)
from mnemoir.core.errors import Conflict
from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.memory.discussions.writing import aside, to_its_end

_PAGE = 1000  # records read at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryCopy:
    """A chunk summary with its chunk. `number` orders them by age, as in ChunkSummary.

    A forgotten one has neither summary nor source text; it is copied so that its messages stay forgotten.
    """

    text: str
    source: ChunkSource
    number: int
    created_at: str = ""
    is_stale: bool = False
    is_forgotten: bool = False
    made_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCopy:
    """A record: its object and its creation time."""

    metadata: Mapping[str, Any]
    created_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecords:
    """The records of one chunk; a chunk that was read may have none, and a forgotten one has none."""

    source: ChunkSource
    records: Sequence[RecordCopy]
    is_forgotten: bool = False
    made_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscussionCopy:
    """The whole memory of a discussion, in the order of the conversation."""

    summaries: Sequence[SummaryCopy] = ()
    rolling: RollingSummary | None = None
    chunks: Sequence[ChunkRecords] = ()


async def copy_of(memory: DiscussionMemory, discussion: Discussion) -> DiscussionCopy:
    """A copy of the stored discussion; an empty one when nothing is stored."""
    # a part that refers to another is read first, so data stored meanwhile is left out completely
    rolling = await memory.summaries.load(discussion)
    blocks = [block for block in await memory.records.blocks(discussion) if not block.is_stale]
    records, makers = await _records_by_chunk(memory, discussion)
    said = await memory.records.sources(discussion)
    chunks = [
        ChunkRecords(
            source=ChunkSource(hash=block.hash, digests=block.digests, messages=said.get(block.key, ())),
            records=records.get(block.key, ()),
            is_forgotten=block.is_forgotten,
            made_by=makers.get(block.key, ""),
        )
        for block in blocks
    ]
    return DiscussionCopy(
        summaries=await _summaries(memory, discussion), rolling=rolling, chunks=_with_loose(chunks, records.get(None))
    )


async def put_copy(
    memory: DiscussionMemory, discussion: Discussion, copy: DiscussionCopy, *, replace: bool = False
) -> None:
    """Store a copy as the discussion, completely or not at all. An empty part creates no file.

    Raises Conflict when the discussion has stored data and `replace` is False, or while memories of it are being
    made.
    """
    async with memory.files.making(discussion) as is_alone:
        if not is_alone:
            raise Conflict(
                f"Memories of discussion {discussion.id[:128]!r} are being made at this moment. Try again later.",
                code="discussion_busy",
            )
        is_there = await memory.files.exists(discussion)
        if is_there and not replace:
            raise Conflict(
                f"There is a discussion {discussion.id[:128]!r} already. Delete it first, or ask to replace it.",
                code="discussion_exists",
            )
        # read before any change: unreadable data is not replaced
        has_summaries = bool(copy.summaries or await memory.ledger.blocks(discussion))
        has_records = bool(copy.chunks or await memory.records.blocks(discussion))
        async with _aside(memory, discussion) as made:
            rolling = await _fill(memory, made, copy)

            async def put_in_place() -> None:
                # a summary never stands beside chunk summaries that are not its own
                await memory.summaries.remove(discussion)
                if has_summaries:
                    await memory.ledger.put_in_place(discussion, made)
                if has_records:
                    await memory.records.put_in_place(discussion, made)
                if rolling is not None:
                    await memory.summaries.save(discussion, rolling)

            try:
                await to_its_end(put_in_place())
            except Exception:
                if not is_there:  # nothing of a half import is left; where one is replaced, the next import mends it
                    await memory.files.remove(discussion)
                raise


async def _summaries(memory: DiscussionMemory, discussion: Discussion) -> Sequence[SummaryCopy]:
    kept: Sequence[ChunkSummary] = await memory.ledger.all(discussion)
    said = await memory.ledger.sources(discussion)
    return [
        SummaryCopy(
            text=summary.text,
            source=ChunkSource(hash=summary.hash, digests=summary.digests, messages=said.get(summary.id, ())),
            number=summary.number,
            created_at=summary.created_at,
            is_stale=summary.stale_since is not None,
            is_forgotten=summary.forgotten_at is not None,
            made_by=summary.made_by,
        )
        for summary in kept
    ]


async def _records_by_chunk(
    memory: DiscussionMemory, discussion: Discussion
) -> tuple[Mapping[BlockKey | None, Sequence[RecordCopy]], Mapping[BlockKey | None, str]]:
    """Records by chunk, oldest first (None: those of another program), and the author of each chunk's records."""
    found: dict[BlockKey | None, list[RecordCopy]] = {}
    makers: dict[BlockKey | None, str] = {}
    before: int | None = None
    while page := await memory.records.newest(discussion, limit=_PAGE, before=before):
        for record in page:
            found.setdefault(record.chunk, []).append(_record(record))
            makers[record.chunk] = record.made_by
        before = page[-1].id
    return {key: records[::-1] for key, records in found.items()}, makers


def _with_loose(chunks: Sequence[ChunkRecords], loose: Sequence[RecordCopy] | None) -> Sequence[ChunkRecords]:
    """The chunks with the records of no known chunk: with one of the same program, so that they go stale with it."""
    if not loose:
        return chunks
    if not chunks:
        return [ChunkRecords(source=ChunkSource(hash="", digests=(), messages=()), records=loose)]
    at = next((at for at, chunk in enumerate(chunks) if not chunk.source.digests), 0)
    joined = changed(chunks[at], records=[*loose, *chunks[at].records])
    return [*chunks[:at], joined, *chunks[at + 1 :]]


def _record(record: Record) -> RecordCopy:
    """A copy with all members that a record must have; another program may have stored one without."""
    needed = {"title": "", "summary": record.text, "entities": [], "key_phrases": []}
    return RecordCopy(metadata=needed | dict(record.metadata), created_at=record.created_at)


@asynccontextmanager
async def _aside(memory: DiscussionMemory, discussion: Discussion) -> AsyncIterator[Discussion]:
    """An empty temporary discussion, always the same one: leftovers of a killed import are removed first."""
    made = aside(discussion, "import")
    async with memory.files.making(made):
        await memory.files.remove(made)
        try:
            yield made
        finally:
            await memory.files.remove(made)


async def _fill(memory: DiscussionMemory, made: Discussion, copy: DiscussionCopy) -> RollingSummary | None:
    """Store all but the rolling summary, which is returned in the form to store."""
    await memory.ledger.begin(made)
    await memory.records.begin(made)
    for chunk in copy.chunks:
        new = [NewRecord(metadata=record.metadata, created_at=record.created_at) for record in chunk.records]
        key = await memory.records.append(made, new, chunk.source, made_by=chunk.made_by)
        if chunk.is_forgotten:
            await memory.records.forget(made, key)
    return await _fill_ledger(memory, made, copy)


async def _fill_ledger(memory: DiscussionMemory, made: Discussion, copy: DiscussionCopy) -> RollingSummary | None:
    """Store the chunk summaries; the rolling summary with the highest number that those in it were given.

    Those that were made after it of chunks in front of its newest one are stored last, so that their numbers still
    tell them from those that are in it.
    """
    end, late = _late(copy)
    stored: dict[int, ChunkSummary] = {}
    in_place: list[int] = []
    early = [at for at in range(len(copy.summaries)) if at not in late]
    for at in [*early, *sorted(late, key=lambda at: copy.summaries[at].number)]:
        summary, place = copy.summaries[at], bisect(in_place, at)
        before = stored[in_place[place]].id if place < len(in_place) else None
        stored[at] = await memory.ledger.append(
            made,
            summary.text,
            summary.source,
            before=before,
            made_by=summary.made_by,
            created_at=summary.created_at,
        )
        in_place.insert(place, at)
    for at, summary in enumerate(copy.summaries):
        if summary.is_forgotten:
            await memory.ledger.forget(made, stored[at].id)
    stale = frozenset(stored[at].id for at, summary in enumerate(copy.summaries) if summary.is_stale)
    if stale:
        await memory.ledger.change(made, BlockChanges(stale=stale))
    if copy.rolling is None or end is None:
        return copy.rolling
    return changed(copy.rolling, number=max((stored[at].number for at in early if at <= end), default=0))


def _late(copy: DiscussionCopy) -> tuple[int | None, frozenset[int]]:
    """The place of the newest chunk in the rolling summary, and those up to there that were made anew since.

    No place where the rolling summary tells none, or where another program wrote it.
    """
    rolling = copy.rolling
    if rolling is None or rolling.number is None:
        return None, frozenset()
    number, places = rolling.number, enumerate(copy.summaries)
    # a stale one tells the place only where no other does, as it is when the rolling summary is brought up to date
    ends = [(not summary.is_stale, at) for at, summary in places if summary.source.hash == rolling.hash]
    if not ends:
        return None, frozenset()
    end = max(ends)[1]
    return end, frozenset(at for at in range(end + 1) if copy.summaries[at].number > number)
