"""The request bodies of an import and a rebuild of a discussion."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from mnemoir.core.discussion_id import without_tags
from mnemoir.core.discussions import DIGEST_CHARACTERS, ChunkSource, RollingSummary, SourceMessage
from mnemoir.core.messages import Message, text_message
from mnemoir.memory.discussions.transfer import ChunkRecords, DiscussionCopy, RecordCopy, SummaryCopy
from mnemoir.server.body import Body
from mnemoir.server.door.errors import Invalid
from mnemoir.server.memories.bodies import MessageBody

_MOST_SUMMARIES = 20_000
_MOST_MESSAGES = 100_000


Hash = Annotated[str, Field(max_length=128)]  # may be "" or malformed: another program may have written it
Digest = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{DIGEST_CHARACTERS}}}$")]
Time = Annotated[str, Field(max_length=64)]
Maker = Annotated[str, Field(max_length=1000)]


class SaidBody(Body):
    """A message verbatim."""

    role: Annotated[str, Field(max_length=64)]
    content: str
    uid: Annotated[str | None, Field(max_length=64)] = None


class _Chunk(Body):
    hash: Hash
    digests: list[Digest] = Field(default_factory=list)
    source: list[SaidBody] = Field(default_factory=list)
    forgotten: bool = False
    made_by: Maker | None = None

    def chunk(self) -> ChunkSource:
        """The chunk in the stores' type; without text where it was forgotten."""
        words = [] if self.forgotten else self.source
        said = [SourceMessage(role=one.role, text=one.content, uid=one.uid) for one in words]
        return ChunkSource(hash=self.hash, digests=tuple(self.digests), messages=said)


class SummaryBody(_Chunk):
    """A chunk summary of an export."""

    text: str
    number: Annotated[int, Field(ge=0, lt=2**53)]
    created_at: Time | None = None
    stale: bool = False

    def copy_of_it(self) -> SummaryCopy:
        """This body in the type of a discussion copy."""
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
    """A record of an export; missing members that every record has become empty."""

    metadata: dict[str, Any]
    created_at: Time | None = None

    def copy_of_it(self) -> RecordCopy:
        """This body in the type of a discussion copy."""
        needed = {"title": "", "summary": "", "entities": [], "key_phrases": []}
        return RecordCopy(metadata=needed | self.metadata, created_at=self.created_at or "")


class RecordChunkBody(_Chunk):
    """The records of a chunk of an export."""

    records: list[RecordBody] = Field(default_factory=list)

    def copy_of_it(self) -> ChunkRecords:
        """This body in the type of a discussion copy."""
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
        """This body in the type of a discussion copy."""
        return RollingSummary(
            text=self.text,
            hash=self.hash,
            number=self.number,
            updated_at=self.updated_at or "",
            made_by=self.made_by or "",
        )


class DiscussionBody(Body):
    """`POST /api/discussions/{id}/import`: an export. The id in the path counts, not the one in it.

    What replaces a discussion names all parts, for a part that is left out would be lost; an empty list is meant.
    """

    format: Literal["mnemoir-discussion"]
    version: Literal[1]
    rolling_summary: RollingBody | None = None
    chunk_summaries: Annotated[list[SummaryBody], Field(max_length=_MOST_SUMMARIES)] = Field(default_factory=list)
    record_chunks: Annotated[list[RecordChunkBody], Field(max_length=_MOST_SUMMARIES)] = Field(default_factory=list)

    def check_parts(self) -> None:
        """Raise Invalid, with each part that is left out."""
        parts = ("rolling_summary", "chunk_summaries", "record_chunks")
        missing = [name for name in parts if name not in self.model_fields_set]
        if missing:
            told = "It would be lost with ?replace=true. Send it, empty if that is meant."
            raise Invalid([{"loc": ["body", name], "msg": told, "type": "missing"} for name in missing])

    def copy_of_it(self) -> DiscussionCopy:
        """The whole body as a discussion copy."""
        return DiscussionCopy(
            summaries=[summary.copy_of_it() for summary in self.chunk_summaries],
            rolling=None if self.rolling_summary is None else self.rolling_summary.copy_of_it(),
            chunks=[chunk.copy_of_it() for chunk in self.record_chunks],
        )


class ConversationMessage(MessageBody):
    """A message of the conversation whose memories are rebuilt."""

    role: Literal["system", "developer", "user", "assistant", "tool"]

    @field_validator("content", mode="before")
    @classmethod
    def _none_is_blank(cls, content: object) -> object:
        """Read null as "": the content of a model's message that only calls tools."""
        return "" if content is None else content

    def message(self) -> Message:
        """The message in the form workflows use: without tags of discussions."""
        return without_tags(text_message(self.role, self.content or ""))


class RebuildBody(Body):
    """`POST /api/discussions/{id}/rebuild`; without messages, those stored with the memories are used."""

    messages: Annotated[list[ConversationMessage], Field(max_length=_MOST_MESSAGES)] | None = None

    def conversation(self) -> Sequence[Message] | None:
        """The messages given; None for none."""
        return None if self.messages is None else [message.message() for message in self.messages]
