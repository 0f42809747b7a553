"""The memories of discussions as JSON."""

from collections.abc import Sequence
from typing import Any, NotRequired

from mnemoir.core.discussions import (
    ChunkSource,
    ChunkSummary,
    DiscussionListed,
    Record,
    RollingSummary,
    SourceMessage,
)
from mnemoir.memory.discussions.transfer import DiscussionCopy
from mnemoir.server.answer import Done, Json, JsonObject

_FORMAT, _VERSION = "mnemoir-discussion", 1


class SaidAnswer(JsonObject):
    """A message verbatim; `uid` is its id in the stored conversation."""

    role: str
    content: str
    uid: NotRequired[str]


class ChunkSummaryAnswer(JsonObject):
    """A model's summary of a chunk. `stale_since` is present where its text is no longer in the conversation.

    `source` is present on request; `messages` is the number of messages in the chunk, null where that is not known.
    """

    id: str
    text: str
    hash: str
    number: int
    created_at: str | None
    made_by: str | None
    messages: int | None
    stale_since: NotRequired[str]
    source: NotRequired[list[SaidAnswer]]


class DiscussionRecordAnswer(JsonObject):
    """A searchable record. `chunk` is the chunk it was made from; `source` is present on request."""

    id: int
    text: str
    created_at: str
    metadata: dict[str, Any]
    chunk: str | None
    made_by: str | None
    source: NotRequired[list[SaidAnswer]]


class RollingSummaryAnswer(JsonObject):
    """The summary of a whole discussion so far. `number` is that of the newest chunk summary it includes."""

    text: str
    hash: str
    number: int | None
    updated_at: str | None
    made_by: str | None


class DiscussionPage(JsonObject):
    """Discussions by id; `next` is `after` of the following page."""

    results: Sequence[DiscussionListed]
    next: str | None


class DiscussionOverview(JsonObject):
    """An overview of a discussion's memories."""

    id: str
    updated_at: str
    chunk_summaries: int
    records: int
    has_summary: bool
    bytes: int
    summary: RollingSummaryAnswer | None
    latest: list[ChunkSummaryAnswer]


class DiscussionMemories(JsonObject):
    """Chunk summaries in the order of the discussion, or records, newest first."""

    results: list[ChunkSummaryAnswer] | list[DiscussionRecordAnswer]
    next: str | None


class RollingSummaryHeld(JsonObject):
    """The rolling summary, null where there is none yet."""

    summary: RollingSummaryAnswer | None


class FoundRecords(JsonObject):
    """Records, best first."""

    results: list[DiscussionRecordAnswer]


class DiscussionImported(Done):
    """The counts of what an import stored."""

    chunk_summaries: int
    records: int


class RebuildPlan(JsonObject):
    """The amount that a rebuild would send to models; the answer with `dry_run`."""

    chunks: int
    messages: int
    tokens: int


class RebuildStep(JsonObject):
    """A line of a rebuild: its progress in chunks. The last line is `finished`, or has an `error` only."""

    done: NotRequired[int]
    all: NotRequired[int]
    finished: NotRequired[bool]
    notes: NotRequired[list[str]]
    error: NotRequired[str]
    code: NotRequired[str]


def summary_json(summary: ChunkSummary, said: Sequence[SourceMessage] | None) -> ChunkSummaryAnswer:
    """A chunk summary; with the words of its chunk unless `said` is None."""
    told: ChunkSummaryAnswer = {
        "id": summary.id,
        "text": summary.text,
        "hash": summary.hash,
        "number": summary.number,
        "created_at": summary.created_at or None,
        "made_by": summary.made_by or None,
        "messages": len(summary.digests) or None,
    }
    if summary.stale_since is not None:
        told["stale_since"] = summary.stale_since
    if said is not None:
        told["source"] = source_json(said)
    return told


def record_json(record: Record, said: Sequence[SourceMessage] | None) -> DiscussionRecordAnswer:
    """A record; with the words of its chunk unless `said` is None."""
    told: DiscussionRecordAnswer = {
        "id": record.id,
        "text": record.text,
        "created_at": record.created_at,
        "metadata": dict(record.metadata),
        "chunk": record.chunk,
        "made_by": record.made_by or None,
    }
    if said is not None:
        told["source"] = source_json(said)
    return told


def rolling_json(rolling: RollingSummary | None) -> RollingSummaryAnswer | None:
    """The rolling summary; None for none."""
    if rolling is None:
        return None
    return {
        "text": rolling.text,
        "hash": rolling.hash,
        "number": rolling.number,
        "updated_at": rolling.updated_at or None,
        "made_by": rolling.made_by or None,
    }


def overview_json(
    listed: DiscussionListed, rolling: RollingSummary | None, latest: Sequence[ChunkSummary]
) -> DiscussionOverview:
    """An overview of a discussion, with its newest chunk summaries."""
    return {
        "id": listed.id,
        "updated_at": listed.updated_at,
        "chunk_summaries": listed.chunk_summaries,
        "records": listed.records,
        "has_summary": listed.has_summary,
        "bytes": listed.bytes,
        "summary": rolling_json(rolling),
        "latest": [summary_json(summary, None) for summary in latest],
    }


def source_json(said: Sequence[SourceMessage]) -> list[SaidAnswer]:
    """Messages verbatim."""
    return [
        {"role": one.role, "content": one.text, "uid": one.uid}
        if one.uid is not None
        else {"role": one.role, "content": one.text}
        for one in said
    ]


def copy_json(id: str, copy: DiscussionCopy) -> Json:
    """The JSON of an export, which an import accepts."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "id": id,
        "rolling_summary": rolling_json(copy.rolling),
        "chunk_summaries": [
            {
                "text": summary.text,
                "number": summary.number,
                "created_at": summary.created_at or None,
                "stale": summary.is_stale,
                "forgotten": summary.is_forgotten,
                "made_by": summary.made_by or None,
                **_chunk_json(summary.source),
            }
            for summary in copy.summaries
        ],
        "record_chunks": [
            {
                **_chunk_json(chunk.source),
                "forgotten": chunk.is_forgotten,
                "made_by": chunk.made_by or None,
                "records": [
                    {"created_at": record.created_at or None, "metadata": dict(record.metadata)}
                    for record in chunk.records
                ],
            }
            for chunk in copy.chunks
        ],
    }


def _chunk_json(source: ChunkSource) -> Json:
    return {"hash": source.hash, "digests": list(source.digests), "source": source_json(source.messages)}
