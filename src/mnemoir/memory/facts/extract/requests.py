"""Requests to fact memory, their results and receipts, and the settings of fact memory."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from mnemoir.core.errors import Conflict, MemoryTooLong, NotFound, TooLarge
from mnemoir.core.events import Usage
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import FOREIGN, Applied, Hit, Memory, Origin, origin_of_role, size_of_metadata
from mnemoir.core.proposals import Proposal
from mnemoir.core.text import estimate_tokens, size_of
from mnemoir.ports.memory_store import Receipt, RedeemedReceipt
from mnemoir.ports.project_settings import Quarantine, Reviewed

MOST_FACTS = 100  # of one add; an answer with more is a model failure
MOST_CHARACTERS = 2000  # of one fact
MOST_AT_ONCE = 2**20  # bytes of all texts that one request keeps word for word, with their metadata
UNDATED = "undated_in"  # the member of metadata that names the import whose file had no time for what was said
MOST_METADATA_KIB = 16  # of one memory that comes in
_INSTRUCTING_ROLES = frozenset({"system", "developer"})
NOTHING_FOUND = "nothing_found"  # the reason kept with the receipt of an add that had nothing to remember


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of an add. `said_at` and `metadata` are the message's own, over the request's."""

    role: str
    text: str
    speaker: str | None = None
    said_at: datetime | None = None
    metadata: Mapping[str, Any] | None = None

    @property
    def origin(self) -> Origin:
        """Whose words they are, if they are kept word for word."""
        return origin_of_role(self.role)

    @property
    def may_be_kept(self) -> bool:
        """Whether it is kept word for word, unless it is empty; instructions are not."""
        return self.role not in _INSTRUCTING_ROLES

    @property
    def message_uid(self) -> str | None:
        """The uid of its stored message, if its metadata name one."""
        return _text_or_none((self.metadata or {}).get("message_uid"))


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact in words, when it was said (None for now), and whether the user said it in own words.

    `origin` is whose words they are. A suspected one may be an instruction to a model. `undated_in` is the import
    whose file had no time for it: `said_at` then orders it among what else that import had no time for, and nothing
    tells whether it was said before or after any other memory.
    """

    text: str
    said_at: datetime | None = None
    is_sure: bool = True
    origin: Origin = "user"
    is_suspected: bool = False
    undated_in: str | None = None

    @property
    def is_outside(self) -> bool:
        """True when it may change no memory, and is only added beside them."""
        return self.is_suspected or self.origin in FOREIGN


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRequest:
    """The turns to remember, and how to store them.

    Without `infer` every turn is kept word for word and no model is asked. `said_at` is the time of turns without
    their own: it resolves relative dates, and what is added holds from then on. A time more than a day ahead of the
    clock counts as the time of arrival. `zone` is the name of the time zone in which days are read where a time has
    no offset of its own (`core.zones`). `is_by_hand`: a person wrote what is kept word for word. `context` is what
    was said just before the turns: it makes them understandable, and nothing is learned from it. `is_past`: what was
    said before a memory was told or confirmed changes and renews it in no way.
    """

    turns: Sequence[Turn]
    metadata: Mapping[str, Any] | None = None
    infer: bool = True
    said_at: datetime | None = None
    expires_on: str | None = None
    receipt: Receipt | None = None
    is_by_hand: bool = False
    context: Sequence[Turn] = ()
    zone: str | None = None
    is_past: bool = False

    def date(self, facts: Sequence[Statement]) -> list[Statement]:
        """The facts of its turns, with the import that its metadata name as the one that had no time for them."""
        mark = undated_in(self.metadata) if self.is_past else None
        return [fact if mark is None else replace(fact, undated_in=mark) for fact in facts]

    def metadata_of(self, turn: Turn) -> Mapping[str, Any] | None:
        """The metadata of a turn that is kept word for word: those of the request, and its own over them."""
        if self.metadata is None and turn.metadata is None:
            return None
        return {**(self.metadata or {}), **(turn.metadata or {})}

    @property
    def session(self) -> str | None:
        """The session of its turns, if its metadata name one."""
        return _text_or_none((self.metadata or {}).get("session_id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddResult:
    """The changes of an add, in the order applied. `facts_found` is False when there was nothing to remember.

    `known` are the memories that already said a fact, each once. `redeemed` is True when the answer is that of an
    earlier request with the same key; it names no known ones. `proposed` waits for a review; `dropped` older
    proposals had to go for it. `left_out` counts the facts that may not be stored, by their fault.
    """

    applied: Sequence[Applied]
    facts_found: bool
    usage: Usage
    known: Sequence[Memory] = ()
    redeemed: bool = False
    proposed: Sequence[Proposal] = ()
    dropped: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalls:
    """How many calls of which model something takes: at least, and at most where no answer is asked for again."""

    model: str
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """How many tokens the hits of a search may have in all, and how many of them facts; None means no own limit."""

    tokens: int
    fact_tokens: int | None = None

    def can_hold(self, hit: Hit) -> bool:
        """True when the hit fits where it is the only one."""
        return bool(self.cut([hit]))

    def cut(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits that fit, in order; one that goes beyond what is left makes room for those behind it."""
        kept: list[Hit] = []
        left, left_for_facts = self.tokens, self.tokens if self.fact_tokens is None else self.fact_tokens
        for hit in hits:
            cost = estimate_tokens(hit.memory.text)
            is_fact = hit.memory.kind == "fact"
            if cost > left or (is_fact and cost > left_for_facts):
                continue
            kept.append(hit)
            left -= cost
            left_for_facts -= cost if is_fact else 0
        return kept


def undated_in(metadata: Mapping[str, Any] | None) -> str | None:
    """The import that had no time for what the metadata belong to; None for what has one."""
    return _text_or_none((metadata or {}).get(UNDATED))


def _text_or_none(value: object) -> str | None:
    """The value if it is text, else None."""
    return value if isinstance(value, str) else None


def unknown_memory(memory_id: MemoryId) -> NotFound:
    """The error for a memory that does not exist or is not the caller's."""
    return NotFound(
        f"There is no memory {memory_id[:128]!r} here. List the user's memories to see their ids.",
        code="memory_not_found",
    )


@dataclass(frozen=True, slots=True)
class TextBound:
    """How long a memory's text may be that comes in, in KiB of UTF-8. What is stored may be longer, and stays so."""

    most_kib: int = 32

    def holds(self, text: str) -> bool:
        """Whether a text is short enough."""
        return size_of(text) <= self.most_kib * 1024

    def holds_memory(self, memory: Memory) -> bool:
        """Whether a memory's text and metadata are short enough."""
        return self.holds(memory.text) and size_of_metadata(memory.metadata) <= MOST_METADATA_KIB * 1024

    def check(self, text: str, field: str = "memory") -> None:
        """Raise MemoryTooLong for a text that is too long."""
        if not self.holds(text):
            raise MemoryTooLong(
                f"{field} is a memory of {size_of(text):,} bytes, and one may have {self.most_kib * 1024:,} "
                "(memory.max_text_kib). Shorten it, or keep it in several memories.",
                field=field,
            )

    def check_metadata(self, metadata: Mapping[str, Any] | None, field: str = "metadata") -> None:
        """Raise TooLarge (`metadata_too_large`) for more metadata than a memory may have that comes in."""
        if (size := size_of_metadata(metadata)) > MOST_METADATA_KIB * 1024:
            raise TooLarge(
                f"{field} has {size:,} bytes, and that of one memory may have {MOST_METADATA_KIB * 1024:,}. Keep "
                "what is long in a text or a file, and name it here.",
                code="metadata_too_large",
                field=field,
            )

    def check_request(self, request: AddRequest) -> None:
        """Raise MemoryTooLong or TooLarge where a memory that may be made of a request, or all of it, is too long.

        Turns that are not kept may be of any length.
        """
        self.check_metadata(request.metadata)
        total = 0
        for number, turn in enumerate(() if request.infer else request.turns):
            if turn.may_be_kept:
                metadata, field = request.metadata_of(turn), f"messages.{number}"
                self.check_metadata(metadata, f"{field}.metadata")
                self.check(turn.text, f"{field}.content")
                total += size_of(turn.text) + size_of_metadata(metadata)
        if total > MOST_AT_ONCE:
            raise MemoryTooLong(
                f"The messages are memories of {total:,} bytes together, and one request may bring {MOST_AT_ONCE:,}. "
                "Send them in several requests.",
                field="messages",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSettings:
    """The server's own settings; a project may set `decay_days`, `search_limit` and `review` over them.

    `time_zone` is the zone of people who tell none; None means the server's.
    `learn_from` are the origins besides user and assistant that facts are drawn from: `tool`, `document`.

    With `recall_unlikely` few facts are all found, whatever is asked. `window_tokens` bounds the conversation shown
    in one model call, `answer_tokens` what the model may write. `alike_floor` is the cosine from which a stored
    memory is worth showing to the model beside a new fact. Measured with MiniLM on 60 pairs of everyday facts: pairs
    that settle each other have 0.21 to 0.96 ("Is married to Tom" and "Is single" 0.24), pairs about different things
    0.01 to 0.15, a few neighbours of a subject up to 0.3. The context that facts are embedded with adds about 0.02.
    """

    decay_days: float | None = None
    touch_on_none: bool = False
    search_limit: int = 5
    review: Reviewed = "off"
    recall_unlikely: bool = True
    window_tokens: int = 8000
    answer_tokens: int = 4000
    alike_floor: float = 0.2
    learn_from: Collection[Origin] = ()
    quarantine: Quarantine = "rules"
    text_bound: TextBound = TextBound()
    time_zone: str | None = None


def earlier_result(earlier: RedeemedReceipt, receipt: Receipt) -> AddResult:
    """The earlier answer. Raises Conflict (`idempotency_mismatch`) when the key was used for another request.

    Its cost is not reported again, since no model was called this time.
    """
    if earlier.request_hash != receipt.request_hash:
        raise Conflict(
            "This Idempotency-Key was used for another request in the last 24 hours. Use a new key for this one.",
            code="idempotency_mismatch",
        )
    found = earlier.reason != NOTHING_FOUND
    return AddResult(
        applied=earlier.applied, facts_found=found, usage=Usage(), redeemed=True, proposed=earlier.proposed
    )
