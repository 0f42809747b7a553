"""What is kept of a discussion: summaries of its chunks, one rolling summary, records to search.

A *discussion* is a conversation under a name that a client chose. A *chunk* is a run of its messages that a model
read at once. What was made of a chunk knows the chunk's messages by their digests, so that it can be found again in a
conversation that was edited since, and holds them word for word, so that it can be traced and made anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnemoir.core.memories import IndexEntry

DIGEST_CHARACTERS = 16  # of a message hash: 64 bits tell the messages of one conversation apart

BlockKey = str  # names a chunk within its store


@dataclass(frozen=True, slots=True, kw_only=True)
class Discussion:
    """A discussion and where its files are.

    `root` is the directory of the user's discussions, `id` the name as the client sent it. `legacy` is where WilmerAI
    kept the databases of records in 2025, beside its configuration; None where there is no such place.
    """

    root: Path
    id: str
    legacy: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMessage:
    """A message word for word; `uid` names it where the conversation is kept."""

    role: str
    text: str
    uid: str | None = None

    def as_json(self) -> dict[str, str]:
        """As files and answers hold it."""
        told = {"role": self.role, "content": self.text}
        return told if self.uid is None else {**told, "uid": self.uid}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSource:
    """The messages of a chunk: `hash` is that of the last one (`core.message_hash`), `digests` are those of all."""

    hash: str
    digests: Sequence[str]
    messages: Sequence[SourceMessage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A chunk as its place is looked for: what was made of it does not matter.

    Without `digests` another program made it, and `hash`, that of its last message, is all that is known. A stale
    block is of text that the conversation does not hold any more. What was made of a forgotten one is gone for good,
    and it only keeps its place, so that it is not made again.
    """

    key: BlockKey
    hash: str
    digests: Sequence[str] = ()
    is_stale: bool = False
    is_forgotten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockChanges:
    """What a look at the conversation changes: digests for blocks that had none, blocks stale or no longer so."""

    placed: Mapping[BlockKey, Sequence[str]] = field(default_factory=dict)
    stale: frozenset[BlockKey] = frozenset()
    revived: frozenset[BlockKey] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.placed or self.stale or self.revived)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSummary:
    """What a model wrote about a chunk. `number` grows with every one written, whatever its place.

    `made_by` names the endpoint and its model, or the workflow; "" where that is not known. A forgotten one has no
    text; `forgotten_at` is "" where the time is not known.
    """

    id: BlockKey
    text: str
    hash: str
    number: int
    created_at: str = ""  # "" where another program wrote it
    digests: Sequence[str] = ()
    stale_since: str | None = None
    made_by: str = ""
    forgotten_at: str | None = None

    @property
    def is_read(self) -> bool:
        """Whether prompts are to hold it: it is neither stale nor forgotten."""
        return self.stale_since is None and self.forgotten_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingSummary:
    """The summary of a whole discussion so far.

    `hash` is that of the newest chunk summary in it; `number` the highest number among those in it, None where
    another program wrote it. `made_by` is as in ChunkSummary, of the last update.
    """

    text: str
    hash: str
    number: int | None = None
    updated_at: str = ""
    made_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """A structured record to be stored: an object with `title`, `summary`, `entities` and `key_phrases` at least.

    `entry` is what hybrid search needs; None leaves the record to words alone until it is made. `created_at` is ""
    for one that is made now.
    """

    metadata: Mapping[str, Any]
    entry: IndexEntry | None = None
    created_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A stored record; `text` is its summary, `chunk` the block it came from, None where another program made it.

    `made_by` is as in ChunkSummary.
    """

    id: int
    text: str
    created_at: str
    metadata: Mapping[str, Any]
    chunk: BlockKey | None = None
    made_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscussionListed:
    """A discussion in a list. None for a number that is not known without reading everything."""

    id: str
    updated_at: str
    chunk_summaries: int
    records: int
    has_summary: bool
    bytes: int
