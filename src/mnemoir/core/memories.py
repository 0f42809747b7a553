"""Values of memory: a memory, changes to memories, their history, and search hits."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal, NamedTuple

from mnemoir.core.ids import ChangeId, MemoryId
from mnemoir.core.text import digest, size_of
from mnemoir.core.usage import Stored

Kind = Literal["fact", "message"]
ChangeEvent = Literal["ADD", "UPDATE", "DELETE"]
Origin = Literal["user", "assistant", "tool", "document", "import", "api", "person"]
FOREIGN: frozenset[Origin] = frozenset(("tool", "document"))  # nobody in the conversation said it
_SAID = ("text", "metadata", "kind", "agent", "app", "conversation", "role", "speaker", "expires_on")


class Unchanged(Enum):
    """Type of UNCHANGED, which leaves a value as it is where None would remove it."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED


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
    given_origin: Origin | None = None

    @property
    def origin(self) -> Origin:
        """Where its words come from: `user` typed them, `api` is a client's, `person` gave them by hand.

        Without a given one a fact is the user's, and a message is of its role.
        """
        if self.given_origin is not None:
            return self.given_origin
        return "user" if self.kind == "fact" else origin_of_role(self.role)


def has_members(metadata: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    """Whether metadata have each wanted member, with the same value or, where a list is wanted, one of its values."""
    return all(
        name in (metadata or {}) and _is_one_of((metadata or {})[name], value) for name, value in wanted.items()
    )


def _is_one_of(value: object, wanted: object) -> bool:
    values = [wanted, *wanted] if isinstance(wanted, list) else [wanted]
    # JSON has true and 1 as two values, which are equal here
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in values)


def origin_of_role(role: str | None) -> Origin:
    """The origin of a message that is kept word for word; what is neither an answer nor a tool's is its client's."""
    return _ORIGINS.get(role or "", "api")


KNOWN_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function", "document"})
"""Roles of messages by which one knows whose words they are."""

_ORIGINS: Mapping[str, Origin] = {
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "document": "document",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTurn:
    """A turn that a memory was derived from, word for word. `said_at` is as in `core.clock`.

    `message_uid` is the uid of its stored message, None without one.
    """

    role: str
    text: str
    speaker: str | None = None
    said_at: str | None = None
    message_uid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The origin of a change: its source turns, the model that decided it, and the reason.

    `reason` is a word of Mnemoir (`extracted`, `verbatim`, `exact_duplicate_revived`, `request`, …). `session` is the
    caller's id of the conversation that the turns belong to. `change` is the id of the commit, None for a new one;
    `undo_of` is the change that the commit undoes. `at` is when it was made, as text, where that was not now.
    """

    reason: str
    model: str | None = None
    turns: Sequence[SourceTurn] = ()
    session: str | None = None
    change: ChangeId | None = None
    undo_of: ChangeId | None = None
    at: str | None = None


class Space(NamedTuple):
    """A vector space beside that of the embedding model: its name, and the name of the model of its vectors."""

    name: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """The search index data of a text, stored beside it (`search.indexing` writes and reads it).

    `terms` are the words of the text: one 64-bit hash per word, little endian, in order, with repetitions. `vector`
    is float16 of unit length; `token_ids` are uint16; `token_codes` have one bit per dimension, in rows of
    dimension / 8 bytes. `model` names the vector space; it is None, and there is no vector, while the embedding model
    cannot be reached. `names` are those of a statement (`search.links.name_keys`), b"" for none.

    `vectors` are those of further spaces, each with its parts one behind the other, in the same form. `waits` are the
    names of the spaces in which the text needs a vector that is still to be made.
    """

    terms: bytes
    names: bytes = b""
    model: str | None = None
    vector: bytes | None = None
    token_ids: bytes | None = None
    token_codes: bytes | None = None
    vectors: Mapping[Space, bytes] = field(default_factory=dict)
    waits: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Store `memory`. A fact with a text that the scope already has is not stored again, and gets no Applied.

    A memory with `valid_to` is stored as a past state of `replaced_by`; a store that keeps no past leaves it out.
    One that is moved is removed elsewhere next, so it needs no room.
    """

    memory: Memory
    entry: IndexEntry
    reason: str = "extracted"
    is_moved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Replace the text of `target` if it still is `expected`.

    `created_at` stays, and metadata and the last day unless given.

    The words are as before of the target's origin unless another is given. Metadata that are given have so many more
    bytes than those before.
    `text == expected` only renews `updated_at`, which makes a decayed memory visible again. With `as_of`, the time of
    the last renewal of the target, as text, must equal it too. The text holds from `at` on, but not from before the
    last renewal; None means now.
    """

    target: MemoryId
    expected: str
    text: str
    entry: IndexEntry
    reason: str = "extracted"
    metadata: Mapping[str, Any] | Unchanged | None = UNCHANGED
    more_metadata_bytes: int = 0
    expires_on: str | Unchanged | None = UNCHANGED
    origin: Origin | Unchanged = UNCHANGED
    as_of: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Hide `target` from reads if its text still is `expected`, because a newer fact replaced it.

    `replaced_by` is the index, within the same commit, of the change with the newer fact; `successor` is its memory
    where it was stored before. `as_of` is as in `Update`.
    The target held until `at`, at least until its last renewal; None means now. With `is_past` it is a past state,
    which then never held. One that goes `with_past` takes along the states that it replaced: no time shows it.
    """

    target: MemoryId
    expected: str
    replaced_by: int | None = None
    reason: str = "extracted"
    as_of: str | None = None
    is_past: bool = False
    with_past: bool = False
    at: str | None = None
    successor: MemoryId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """Restore `target`, which was removed with the text `expected`, with the same id, times and metadata."""

    target: MemoryId
    expected: str
    entry: IndexEntry
    reason: str = "restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revert:
    """Give `target` back an earlier text and time of renewal, and metadata and last day of then unless unchanged.

    `expected` and `as_of` are as in `Update`. No fact is joined with another: a text that another has is stale.
    """

    target: MemoryId
    expected: str
    text: str
    entry: IndexEntry
    updated_at: str | None
    reason: str = "undone"
    metadata: Mapping[str, Any] | Unchanged | None = UNCHANGED
    expires_on: str | Unchanged | None = UNCHANGED
    origin: Origin | Unchanged | None = UNCHANGED
    as_of: str | None = None


Change = Add | Update | Remove | Restore | Revert


def size_of_metadata(metadata: Mapping[str, Any] | None) -> int:
    """The bytes of a memory's metadata, as JSON in UTF-8; 0 for none."""
    return 0 if metadata is None else size_of(json.dumps(metadata, ensure_ascii=False, separators=(",", ":")))


def growth_of(changes: Sequence[Change]) -> Mapping[Stored, int]:
    """How many memories the changes may add, as they add or restore one, and how many bytes of texts and metadata."""
    growing = [change for change in changes if not (isinstance(change, Add) and change.is_moved)]
    added = sum(isinstance(change, Add | Restore) for change in growing)
    return {"memories": added, "memory_bytes": sum(max(_growth_of(change), 0) for change in growing)}


def _growth_of(change: Change) -> int:
    match change:
        case Add():
            return size_of(change.memory.text) + size_of_metadata(change.memory.metadata)
        case Restore():
            return size_of(change.expected)
        case Update():
            return size_of(change.text) - size_of(change.expected) + change.more_metadata_bytes
        case _:
            return 0


def lacks_vector(changes: Sequence[Change]) -> bool:
    """True when any of the changes has a text without a vector."""
    return any(not isinstance(change, Remove) and change.entry.model is None for change in changes)


def waits_of(changes: Sequence[Change]) -> frozenset[str]:
    """The names of the further spaces in which texts of the changes need a vector."""
    return frozenset().union(*(change.entry.waits for change in changes if not isinstance(change, Remove)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A change that was made. For a Remove, `memory` is the removed memory. Repeated answers tell no `reason`."""

    event: ChangeEvent
    memory: Memory
    previous_text: str | None = None
    reason: str = field(default="", compare=False)

    def is_like(self, other: "Applied") -> bool:
        """True when both do the same to the same state of a memory, at whatever time."""
        return (self.event, self.memory.id, self.previous_text, state_hash(self.memory)) == (
            other.event,
            other.memory.id,
            other.previous_text,
            state_hash(other.memory),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One row of a memory's history; lists have the oldest first. `session` is the conversation of the turns.

    `change` is the change that it was part of; None for one of another program.
    """

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
    change: ChangeId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory found for a query. `score` is in [0, 1]; higher is better; comparable only within one result.

    `signals` holds the score of each search stage before weighting. A hit that is not `is_likely` was found
    only because the user has few facts. One that `fits` shares a content word with the query, or is near enough to it
    by itself. One that was found by its links has the key of the name that led to it.
    """

    memory: Memory
    score: float
    signals: Mapping[str, float] = field(default_factory=dict)
    is_likely: bool = True
    fits: bool = False
    linked_by: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMemory:
    """One event of a change. `before` is the memory before it, where that is kept; `left` is the stored hash of what
    it left (`state_hash`), None for a deleted memory and where words were erased. `place` is its agent, app and
    conversation."""

    event: ChangeEvent
    memory_id: MemoryId
    old_text: str | None
    new_text: str | None
    reason: str
    before: Memory | None = None
    left: bytes | None = None
    place: tuple[str | None, str | None, str | None] = (None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedChange:
    """One commit with its events in order; `place` orders the commits of a user.

    `undo_of` is the change that it undid, `undone_by` the change that undid it and was not undone itself.
    """

    id: ChangeId
    place: int
    at: str
    rows: Sequence[ChangedMemory]
    model: str | None = None
    session: str | None = None
    undo_of: ChangeId | None = None
    undone_by: ChangeId | None = None


def state_hash(memory: Memory) -> bytes:
    """A hash of 16 bytes of all that a memory says: its text and its members, without its times and its end."""
    members = {name: getattr(memory, name) for name in _SAID}
    told = {name: value for name, value in members.items() if value not in (None, {})}
    return digest(json.dumps(told, sort_keys=True, default=str))
