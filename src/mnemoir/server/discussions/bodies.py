"""Discussions as JSON, both ways: what the routes answer, and what an import and a rebuild accept."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from mnemoir.core.discussion_id import without_tags
from mnemoir.core.discussions import (
    DIGEST_CHARACTERS,
    ChunkSource,
    ChunkSummary,
    Record,
    RollingSummary,
    SourceMessage,
)
from mnemoir.core.messages import Message, text_message
from mnemoir.memory.discussions.transfer import ChunkRecords, DiscussionCopy, RecordCopy, SummaryCopy
from mnemoir.server.memories.bodies import MessageBody
from mnemoir.server.parameters import Body

VERSION = 1
_MOST_SUMMARIES = 20_000
_MOST_MESSAGES = 100_000
_FORMAT = "mnemoir-discussion"

Json = dict[str, Any]


def summary_json(summary: ChunkSummary, said: Sequence[SourceMessage] | None) -> Json:
    """A chunk summary; with the words of its chunk unless `said` is None."""
    told: Json = {
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
    return told if said is None else told | {"source": source_json(said)}


def record_json(record: Record, said: Sequence[SourceMessage] | None) -> Json:
    """A record; with the words of its chunk unless `said` is None."""
    told: Json = {
        "id": record.id,
        "text": record.text,
        "created_at": record.created_at,
        "metadata": dict(record.metadata),
        "chunk": record.chunk,
        "made_by": record.made_by or None,
    }
    return told if said is None else told | {"source": source_json(said)}


def rolling_json(rolling: RollingSummary | None) -> Json | None:
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


def source_json(said: Sequence[SourceMessage]) -> list[Json]:
    """Messages word for word."""
    return [{"role": message.role, "content": message.text} for message in said]


def copy_json(id: str, copy: DiscussionCopy) -> Json:
    """What an export holds, and an import takes."""
    return {
        "format": _FORMAT,
        "version": VERSION,
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


Hash = Annotated[str, Field(max_length=128)]  # "" and odd ones too: another program may have written them
Digest = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{DIGEST_CHARACTERS}}}$")]
Time = Annotated[str, Field(max_length=64)]
Maker = Annotated[str, Field(max_length=1000)]


class SaidBody(Body):
    """A message word for word."""

    role: Annotated[str, Field(max_length=64)]
    content: str


class _Chunk(Body):
    hash: Hash
    digests: list[Digest] = Field(default_factory=list)
    source: list[SaidBody] = Field(default_factory=list)
    forgotten: bool = False
    made_by: Maker | None = None

    def chunk(self) -> ChunkSource:
        """As the stores take it; without words where it was forgotten."""
        words = [] if self.forgotten else self.source
        said = [SourceMessage(role=message.role, text=message.content) for message in words]
        return ChunkSource(hash=self.hash, digests=tuple(self.digests), messages=said)


class SummaryBody(_Chunk):
    """A chunk summary of an export."""

    text: str
    number: Annotated[int, Field(ge=0, lt=2**53)]
    created_at: Time | None = None
    stale: bool = False

    def copy_of_it(self) -> SummaryCopy:
        """As a copy holds it."""
        return SummaryCopy(
            text="" if self.forgotten else self.text,
            source=self.chunk(),
            number=self.number,
            created_at=self.created_at or "",
            is_stale=self.stale,
            is_forgotten=self.forgotten,
            made_by=self.made_by or "",
        )


class RecordBody(Body):
    """A record of an export; members that every record has are made empty where they are missing."""

    metadata: dict[str, Any]
    created_at: Time | None = None

    def copy_of_it(self) -> RecordCopy:
        """As a copy holds it."""
        needed = {"title": "", "summary": "", "entities": [], "key_phrases": []}
        return RecordCopy(metadata=needed | self.metadata, created_at=self.created_at or "")


class RecordChunkBody(_Chunk):
    """The records of a chunk of an export."""

    records: list[RecordBody] = Field(default_factory=list)

    def copy_of_it(self) -> ChunkRecords:
        """As a copy holds it."""
        records = [] if self.forgotten else [record.copy_of_it() for record in self.records]
        return ChunkRecords(
            source=self.chunk(), records=records, is_forgotten=self.forgotten, made_by=self.made_by or ""
        )


class RollingBody(Body):
    """The rolling summary of an export."""

    text: str
    hash: Hash
    number: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    updated_at: Time | None = None
    made_by: Maker | None = None

    def copy_of_it(self) -> RollingSummary:
        """As a copy holds it."""
        return RollingSummary(
            text=self.text,
            hash=self.hash,
            number=self.number,
            updated_at=self.updated_at or "",
            made_by=self.made_by or "",
        )


class DiscussionBody(Body):
    """`POST /api/discussions/{id}/import`: an export. The id in the path counts, not the one in it."""

    format: Literal["mnemoir-discussion"]
    version: Literal[1]
    rolling_summary: RollingBody | None = None
    chunk_summaries: Annotated[list[SummaryBody], Field(max_length=_MOST_SUMMARIES)] = Field(default_factory=list)
    record_chunks: Annotated[list[RecordChunkBody], Field(max_length=_MOST_SUMMARIES)] = Field(default_factory=list)

    def copy_of_it(self) -> DiscussionCopy:
        """As it is stored."""
        return DiscussionCopy(
            summaries=[summary.copy_of_it() for summary in self.chunk_summaries],
            rolling=None if self.rolling_summary is None else self.rolling_summary.copy_of_it(),
            chunks=[chunk.copy_of_it() for chunk in self.record_chunks],
        )


class ConversationMessage(MessageBody):
    """A message of the conversation whose memories are made anew."""

    role: Literal["system", "developer", "user", "assistant", "tool"]

    @field_validator("content", mode="before")
    @classmethod
    def _none_is_blank(cls, content: object) -> object:
        """A model that only calls tools says nothing."""
        return "" if content is None else content

    def message(self) -> Message:
        """As workflows see it: without tags of discussions."""
        return without_tags(text_message(self.role, self.content))


class RebuildBody(Body):
    """`POST /api/discussions/{id}/rebuild`; without messages, those that were kept with the memories are used."""

    messages: Annotated[list[ConversationMessage], Field(max_length=_MOST_MESSAGES)] | None = None

    def conversation(self) -> Sequence[Message] | None:
        """The messages given; None for none."""
        return None if self.messages is None else [message.message() for message in self.messages]
