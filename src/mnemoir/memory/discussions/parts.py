"""The stores, policies, texts and result types of discussion memory, its chunks, digests and backoff.

Every message of a conversation triggers the making of memories. Without backoff, a chunk that a model cannot or will
not answer would cost calls with each message.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.discussions import DIGEST_CHARACTERS
from mnemoir.core.messages import Message
from mnemoir.core.text import estimate_prompt_tokens, hashes
from mnemoir.memory.discussions.record_recall import RecordRecall
from mnemoir.ports.discussions import ChunkLedger, DiscussionFiles, RecordStore, RollingSummaries
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.search.indexing import Indexing

CHUNK_BREAK = "--ChunkBreak--"
BETWEEN_SUMMARIES = "\n--------------\n"  # 14 dashes: chunk summaries that stand in a prompt as what came before
BETWEEN_LATEST = "\n------------\n"  # 12 dashes: chunk summaries that go into the rolling summary
BETWEEN_RECORDS = "\n\n---\n\n"

NO_SUMMARY = "There is not yet a summary file"
NO_STATE_DOCUMENT = "No state document has been created yet"
NO_SUMMARY_FOUND = "No summary found"  # FullChatSummary with isManualConfig
NO_MEMORIES = "There are not yet any memories"
NONE_GENERATED = "No memories have been generated yet"  # RecentMemorySummarizerTool with a discussion
NONE_TO_GRAB = "There are no memories to grab yet"  # the same nodes without a discussion
NONE_PRECEDING = "No preceding memories to show"  # in the prompts that make chunk summaries
TOO_SHORT = "There are no memories. This conversation has not gone long enough for there to be memories."

NO_DISCUSSION = "Cannot perform VectorMemorySearch without a discussionId."
NO_RECORDS = "No relevant memories found in the vector database for the given keywords."
_MOST_PASSED_OVER = 15  # makings in a row
_MOST_KEPT = 1000  # failing discussions; others are retried without backoff
_FILLED = 0.8  # of the target: token counts are estimates, and a chunk must fit the room reserved for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """`own` has one digest for each message, in order; `others` maps digests of its other forms to that one.

    A text with braces has other forms: other programs, and other releases of one, escape them in their own ways.
    """

    own: list[str]
    others: Mapping[str, str]


def digests_of(messages: Sequence[Message]) -> Digests:
    """The beginning of each message's hash; a microsecond or so for each message of ordinary length."""
    own, others = [], {}
    for message in messages:
        text = message.text
        if text and "{" not in text and "}" not in text and not text.isspace():
            own.append(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARACTERS])
            continue
        first, *rest = (form[:DIGEST_CHARACTERS] for form in hashes(message))
        own.append(first)
        others.update(dict.fromkeys(rest, first))
    return Digests(own=own, others=others)


class Backoff:
    """Counts for one process. After a first failure the next making tries again; then 1, 3, 7, 15 are passed over."""

    def __init__(self) -> None:
        self._failures: dict[Hashable, int] = {}
        self._left: dict[Hashable, int] = {}

    def passes_over(self, key: Hashable) -> bool:
        """True when this making should call no model; each such call counts as one passed over."""
        left = self._left.get(key, 0)
        if left:
            self._left[key] = left - 1
        return left > 0

    def note_failure(self, key: Hashable) -> None:
        """Count an unusable answer."""
        if len(self._failures) >= _MOST_KEPT:
            self._failures.clear()
            self._left.clear()
        times = self._failures.get(key, 0)
        self._failures[key] = times + 1
        self._left[key] = min(2**times - 1, _MOST_PASSED_OVER)

    def note_success(self, key: Hashable) -> None:
        """Reset the count: the next failure is the first again."""
        self._failures.pop(key, None)
        self._left.pop(key, None)


def chunk_spans(tokens: Sequence[int], target: float) -> list[tuple[int, int]]:
    """The start and end of each chunk, oldest first, for messages with these token counts; all are covered.

    Chunks are filled from the newest message to the oldest up to four fifths of `target`, so the oldest chunk is what
    remains. A message is never split: one that is larger is a chunk of its own.
    """
    spans: list[tuple[int, int]] = []
    room, stop, held = _FILLED * target, len(tokens), 0
    for at in range(len(tokens) - 1, -1, -1):
        if at + 1 < stop and held + tokens[at] > room:
            spans.append((at + 1, stop))
            stop, held = at + 1, 0
        held += tokens[at]
    if stop:
        spans.append((0, stop))
    return spans[::-1]


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
