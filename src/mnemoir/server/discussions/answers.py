"""What the routes of discussions answer, as OpenAPI describes it. Nothing is checked against these at run time."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SaidAnswer(_Answer):
    """A message word for word."""

    role: str
    content: str


class ChunkSummaryAnswer(_Answer):
    """What a model wrote about a chunk. `stale_since` is there where its text is no longer in the conversation.

    `source` is there where it was asked for; `messages` is how many the chunk has, null where that is not known.
    """

    id: str
    text: str
    hash: str
    number: int
    created_at: str | None
    made_by: str | None
    messages: int | None
    stale_since: str | None = None
    source: list[SaidAnswer] | None = None


class DiscussionRecordAnswer(_Answer):
    """A record to search. `chunk` names what it was made of; `source` is there where it was asked for."""

    id: int
    text: str
    created_at: str
    metadata: dict[str, Any]
    chunk: str | None
    made_by: str | None
    source: list[SaidAnswer] | None = None


class RollingSummaryAnswer(_Answer):
    """The summary of a whole discussion so far. `number` is that of the newest chunk summary in it."""

    text: str
    hash: str
    number: int | None
    updated_at: str | None
    made_by: str | None


class DiscussionListedAnswer(_Answer):
    """A discussion of which something is remembered."""

    id: str
    updated_at: str
    chunk_summaries: int
    records: int
    has_summary: bool
    bytes: int


class DiscussionPage(_Answer):
    """Discussions by id; `next` is `after` of the following page."""

    results: list[DiscussionListedAnswer]
    next: str | None


class DiscussionOverview(DiscussionListedAnswer):
    """What is remembered of a discussion, in short."""

    summary: RollingSummaryAnswer | None
    latest: list[ChunkSummaryAnswer]


class DiscussionMemories(_Answer):
    """Chunk summaries as they follow each other, or records, newest first."""

    results: list[ChunkSummaryAnswer] | list[DiscussionRecordAnswer]
    next: str | None


class RollingSummaryHeld(_Answer):
    """The rolling summary, null where there is none yet."""

    summary: RollingSummaryAnswer | None


class FoundRecords(_Answer):
    """Records, best first."""

    results: list[DiscussionRecordAnswer]


class DiscussionImported(_Answer):
    """What an import stored."""

    success: bool
    message: str
    chunk_summaries: int
    records: int


class RebuildPlan(_Answer):
    """What a rebuild would ask models about, with `dry_run`."""

    chunks: int
    messages: int
    tokens: int


class RebuildStep(_Answer):
    """A line of a rebuild: how far it is, in chunks. The last one is `finished`, or has an `error` alone."""

    done: int = 0
    all: int = 0
    finished: bool = False
    notes: list[str] = []
    error: str | None = None
    code: str | None = None
