"""Memories, what may happen to them, and what did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal

from mnemoir.core.ids import MemoryId

Kind = Literal["fact", "message"]
ChangeEvent = Literal["ADD", "UPDATE", "DELETE"]


class Kept(Enum):
    """Stands for "as it is", where None would mean "none"."""

    KEPT = "kept"


KEPT: Final = Kept.KEPT


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory of one user, with its times as text (`core.clock`), exactly as stored.

    A fact is a statement derived from messages; a message is kept word for word, with its `speaker` and
    `role`. `expires_on` is a date (`YYYY-MM-DD`); `valid_to` closes a state that a newer one replaced, and
    `replaced_by` names that one. `extra` holds members of an imported file that Mnemoir does not know.
    """

    id: MemoryId
    text: str
    user: str
    created_at: str
    updated_at: str | None = None
    metadata: Mapping[str, Any] | None = None  # the caller's object, stored verbatim
    kind: Kind = "fact"
    agent: str | None = None
    app: str | None = None
    conversation: str | None = None
    role: str | None = None
    speaker: str | None = None
    expires_on: str | None = None
    valid_to: str | None = None
    replaced_by: MemoryId | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTurn:
    """A turn that a memory was derived from, word for word; `message_uid` names the message that is stored of it."""

    role: str
    text: str
    speaker: str | None = None
    said_at: str | None = None
    message_uid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a change came from: the turns, the model that decided, and why.

    `reason` is one of ours (`extracted`, `verbatim`, `exact_duplicate_revived`, `request`, …). `session` is where the
    turns were said, as the caller calls it.
    """

    reason: str
    model: str | None = None
    turns: Sequence[SourceTurn] = ()
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """What a text looks like to search, as stored beside it (`search.indexing` makes and reads it).

    `terms` are the words of the text: one 64-bit hash a word, little endian, in order, repeats kept. `vector` is
    float16 of unit length; `token_ids` uint16; `token_codes` one bit a dimension, rows of dimension / 8 bytes.
    `model` names the vector space; None, and no vector, while the embedding model is out of reach.
    """

    terms: bytes
    model: str | None = None
    vector: bytes | None = None
    token_ids: bytes | None = None
    token_codes: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Store `memory`. A fact whose text the scope holds already is not stored twice (no Applied for it)."""

    memory: Memory
    entry: IndexEntry
    reason: str = "extracted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Replace the text of `target`, if it still reads `expected`; created_at stays, and metadata unless it is given.

    `text == expected` only renews `updated_at`, which brings a decayed memory back. With `as_of`, the target must
    also have been renewed last at that time, as text.
    """

    target: MemoryId
    expected: str
    text: str
    entry: IndexEntry
    reason: str = "extracted"
    metadata: Mapping[str, Any] | Kept | None = KEPT
    as_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Take `target` out of reads, if it still reads `expected`, because a newer fact replaced it.

    `replaced_by` is the index, in the same commit, of the change whose memory replaced it.
    """

    target: MemoryId
    expected: str
    replaced_by: int | None = None
    reason: str = "extracted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """Take back `target`, which was removed while it read `expected`, as it was then: id, times, metadata and all."""

    target: MemoryId
    expected: str
    entry: IndexEntry
    reason: str = "restored"


Change = Add | Update | Remove | Restore


def lacks_vector(changes: Sequence[Change]) -> bool:
    """Whether a text comes without a vector."""
    return any(not isinstance(change, Remove) and change.entry.model is None for change in changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A change as it happened. For a Remove, `memory` is what was removed."""

    event: ChangeEvent
    memory: Memory
    previous_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One row of a memory's history, oldest first in a listing. `session` is where the turns were said."""

    id: str
    memory_id: MemoryId
    event: ChangeEvent
    old_text: str | None
    new_text: str | None
    at: str
    reason: str
    model: str | None = None
    turns: Sequence[SourceTurn] = ()
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory found for a query. `score` lies in [0, 1], higher is better, comparable within one result.

    `signals` holds each stage's own figure before weighting.
    """

    memory: Memory
    score: float
    signals: Mapping[str, float] = field(default_factory=dict)
