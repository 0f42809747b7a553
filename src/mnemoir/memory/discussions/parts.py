"""The stores, policies and result types of discussion memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.messages import Message
from mnemoir.core.text import estimate_prompt_tokens
from mnemoir.memory.discussions.backoff import Backoff
from mnemoir.memory.discussions.digests import Digests, digests_of
from mnemoir.memory.discussions.record_recall import RecordRecall
from mnemoir.ports.discussions import ChunkLedger, DiscussionFiles, RecordStore, RollingSummaries
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.search.indexing import Indexing


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscussionMemory:
    """The stores behind their ports, and the embedding model of hybrid search.

    `recall` is that search; it keeps indexes in memory, so a copy of this object starts without any.
    """

    ledger: ChunkLedger
    summaries: RollingSummaries
    records: RecordStore
    files: DiscussionFiles
    indexing: Indexing
    embedding: EmbeddingModel
    clock: Clock = utc_now
    backoff: Backoff = field(default_factory=Backoff, repr=False, compare=False)
    recall: RecordRecall = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "recall", RecordRecall(self.records, self.embedding))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPolicy:
    """The times at which chunks are made, and their size in tokens as `estimate` counts them.

    The newest `lookback` messages are left out, since people still change them. More than that are looked at once
    they have `target_tokens` together, or once there are `most_messages` of them; with `takes_all` however few.
    `digests` computes the digests that identify messages.
    """

    target_tokens: int = 1000
    most_messages: int = 5
    takes_all: bool = False
    lookback: int = 3
    estimate: Callable[[str], int] = estimate_prompt_tokens
    digests: Callable[[Sequence[Message]], Digests] = digests_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A model's text and its author: an endpoint with its model, or a workflow; "" when unknown."""

    text: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """Hooks to observe and stop a making: `goes_on` is called between chunks, `progress` with (done, all)."""

    goes_on: Callable[[], bool] = lambda: True
    progress: Callable[[int, int], None] = lambda done, total: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The result of a making: chunks made and still to make, blocks that became stale or live again, and notes.

    `is_busy` means that nothing was done because another task is making memories of the discussion, `is_unusable`
    that it ended at a chunk whose answer could not be used.
    """

    chunks: int = 0
    left: int = 0
    stale: int = 0
    revived: int = 0
    notes: Sequence[str] = field(default=())
    is_busy: bool = False
    is_unusable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The work of a future making: chunks to ask a model about, their messages and estimated tokens."""

    chunks: int
    messages: int
    tokens: int
