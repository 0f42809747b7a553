"""Values of discussion memory: chunk summaries, one rolling summary, and searchable records.

A *discussion* is a conversation under an id that a client chose. A *chunk* is a series of consecutive messages that a
model read in one call. Memories made of a chunk store the digests of its messages, by which the chunk is found in a
conversation that was edited since, and the messages word for word, for tracing and for rebuilding the memories.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnemoir.core.discussion_id import directory_name, encoded_name
from mnemoir.core.memories import IndexEntry

DIGEST_CHARACTERS = 16  # hex digits of a message hash: 64 bits distinguish the messages of one conversation

BlockKey = str  # id of a chunk within its store


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientKeys:
    """The key that a client sent with a request, and the one it had before, whose discussions are to be its own."""

    current: str = field(repr=False)
    previous: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFolder:
    """The folder of a client's key, by its name; files in it are encrypted by `secret`, and plain if that is None."""

    name: str
    secret: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Discussion:
    """A discussion and the location of its files.

    `root` is the directory of the user's discussions, `id` the id as the client sent it. `legacy` is the directory
    beside its configuration in which WilmerAI stored the record databases in 2025; None without such a directory.
    `is_encoded` is True when a file system may take the id for that of another discussion, which has its name.
    `client` is given when `root` is the folder of a client's key.
    """

    root: Path
    id: str
    legacy: Path | None = None
    is_encoded: bool = False
    client: ClientFolder | None = None

    @property
    def file_name(self) -> str:
        """The name that its files begin with."""
        return encoded_name(self.id) if self.is_encoded else directory_name(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMessage:
    """A message word for word; `uid` is the uid of its stored message, None if it is not stored."""

    role: str
    text: str
    uid: str | None = None

    def as_json(self) -> dict[str, str]:
        """The message as JSON, for files and answers; without `uid` if that is None."""
        message = {"role": self.role, "content": self.text}
        return message if self.uid is None else {**message, "uid": self.uid}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSource:
    """The messages a chunk memory is made of: `hash` of the last one (`core.text.hashes`), `digests` of all."""

    hash: str
    digests: Sequence[str]
    messages: Sequence[SourceMessage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A stored chunk as used to locate it in a conversation, without the memories made of it.

    A block of another program has no `digests`, only the `hash` of its last message. The text of a stale block is no
    longer in the conversation. The memories of a forgotten block are deleted for good; the block itself remains, so
    that they are not made again.
    """

    key: BlockKey
    hash: str
    digests: Sequence[str] = ()
    is_stale: bool = False
    is_forgotten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockChanges:
    """Updates of blocks after comparing them with the conversation.

    `placed` gives digests to blocks that had none; `stale` and `revived` are the blocks whose text left the
    conversation or came back.
    """

    placed: Mapping[BlockKey, Sequence[str]] = field(default_factory=dict)
    stale: frozenset[BlockKey] = frozenset()
    revived: frozenset[BlockKey] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.placed or self.stale or self.revived)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSummary:
    """A model's summary of one chunk. `number` grows with each summary written, in the order of writing.

    `made_by` names the endpoint and its model, or the workflow; "" when unknown. A forgotten summary has no text; its
    `forgotten_at` is "" when the time is unknown.
    """

    id: BlockKey
    text: str
    hash: str
    number: int
    created_at: str = ""  # "" when another program wrote it
    digests: Sequence[str] = ()
    stale_since: str | None = None
    made_by: str = ""
    forgotten_at: str | None = None

    @property
    def is_read(self) -> bool:
        """True when prompts include the summary: it is neither stale nor forgotten."""
        return self.stale_since is None and self.forgotten_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingSummary:
    """The summary of a whole discussion so far.

    `hash` is the hash of the newest chunk summary included, `number` the highest `number` included, None when another
    program wrote it. `made_by` describes the last update, as in ChunkSummary.
    """

    text: str
    hash: str
    number: int | None = None
    updated_at: str = ""
    made_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """A structured record to store. `metadata` has at least `title`, `summary`, `entities` and `key_phrases`.

    `entry` is the entry for hybrid search; until it is added, a record without one is found by keywords only.
    `created_at` is "" for now.
    """

    metadata: Mapping[str, Any]
    entry: IndexEntry | None = None
    created_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A stored record. `text` is its summary; `chunk` is the block it was made of, None when another program made it.

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
    """A discussion in a list. `updated_at` is the last change of its files, as in `core.clock`, or "" if unknown."""

    id: str
    updated_at: str
    chunk_summaries: int
    records: int
    has_summary: bool
    bytes: int
