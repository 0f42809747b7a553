"""Records of the project file as memories and back, and as rows in memory: parsed once for reads and search.

The six members that every record has are written first, then our optional ones. Members of other programs stay in the
record; a value of a wrong type (a number for a date) is read as missing, and stays unchanged too.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from mnemoir.core.errors import NotSupported
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry, Kind, Memory, Origin
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import Visible
from mnemoir.ports.search_rows import SearchRow
from mnemoir.storage.files.project_file import Record
from mnemoir.storage.planning import effective_at, expires_at, seconds_of

_ALWAYS = ("id", "memory", "user_id", "created_at", "updated_at", "metadata")
_WHEN_SET = ("agent_id", "app_id", "run_id", "kind", "role", "name", "expiration_date", "origin")
_KNOWN = frozenset((*_ALWAYS, *_WHEN_SET))
Key = tuple[str, MemoryId]  # user and id: two users of an edited file may have the same id


def memory_of(record: Record) -> Memory | None:
    """The memory of a record; None for an object without an id, a text and an owner."""
    identity, text, user = record.get("id"), record.get("memory"), record.get("user_id")
    if not (isinstance(identity, str) and isinstance(text, str) and isinstance(user, str) and identity):
        return None
    kind: Kind = "message" if record.get("kind") == "message" else "fact"
    return Memory(
        id=MemoryId(identity),
        text=text,
        user=user,
        created_at=_text(record, "created_at") or "",
        updated_at=_text(record, "updated_at"),
        metadata=_object(record, "metadata"),
        kind=kind,
        agent=_text(record, "agent_id"),
        app=_text(record, "app_id"),
        conversation=_text(record, "run_id"),
        role=_text(record, "role"),
        speaker=_text(record, "name"),
        expires_on=_text(record, "expiration_date"),
        given_origin=_origin(record),
        extra={name: value for name, value in record.items() if name not in _KNOWN},
    )


def record_of(memory: Memory) -> Record:
    """A new record; our optional members are left out unless they are set."""
    record: Record = {
        "id": memory.id,
        "memory": memory.text,
        "user_id": memory.user,
        "created_at": memory.created_at,
    }
    if memory.updated_at is not None:
        record["updated_at"] = memory.updated_at
    record["metadata"] = None if memory.metadata is None else dict(memory.metadata)
    optional = {
        "agent_id": memory.agent,
        "app_id": memory.app,
        "run_id": memory.conversation,
        "kind": "message" if memory.kind == "message" else None,
        "role": memory.role,
        "name": memory.speaker,
        "expiration_date": memory.expires_on,
        "origin": memory.given_origin,
    }
    record |= {name: value for name, value in optional.items() if value is not None}
    return record | {name: value for name, value in memory.extra.items() if name not in _KNOWN}


def rewritten(record: Record, memory: Memory) -> Record:
    """The record with the memory's text, origin and time; every other member keeps its place and value."""
    changed = record | {"memory": memory.text, "updated_at": memory.updated_at or ""}
    if memory.given_origin is not None:
        return changed | {"origin": memory.given_origin}
    return {name: value for name, value in changed.items() if name != "origin" or _origin(record) is None}


def _origin(record: Record) -> Origin | None:
    value = record.get("origin")
    return next((each for each in get_args(Origin) if each == value), None)


def _text(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    return value if isinstance(value, str) else None


def _object(record: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    value = record.get(name)
    return value if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A memory as a search row, with its JSON object from the file.

    `search.seq` is the order of storing, `changed` counts writes in the project: both are valid within one epoch.
    `text_hash` is of the exact text, `content_hash` of its normal form.
    """

    changed: int
    record: Record
    memory: Memory
    search: SearchRow
    text_hash: bytes
    content_hash: bytes

    @property
    def seq(self) -> int:
        """The order of storing."""
        return self.search.seq

    @property
    def key(self) -> Key:
        """The memory's key within the project."""
        return key_of(self.memory)


def make_row(record: Record, memory: Memory, entry: IndexEntry, *, seq: int, changed: int) -> Row:
    """The row of a record."""
    effective, said, expires = effective_at(memory), seconds_of(memory.created_at), expires_at(memory)
    search = SearchRow(
        seq=seq,
        is_message=memory.kind == "message",
        speaker=memory.speaker,
        agent=memory.agent,
        app=memory.app,
        conversation=memory.conversation,
        effective_at=math.inf if effective is None else effective,
        said_at=math.nan if said is None else said,
        expires_at=math.inf if expires is None else expires,
        entry=without_codes(entry),
    )
    return Row(
        changed=changed,
        record=record,
        memory=memory,
        search=search,
        text_hash=text_hash(memory.text),
        content_hash=content_hash(memory.text),
    )


def without_codes(entry: IndexEntry) -> IndexEntry:
    """The entry without token codes, which are not kept in memory."""
    return entry if entry.token_codes is None else replace(entry, token_codes=None)


def key_of(memory: Memory) -> Key:
    """The memory's key within its project."""
    return memory.user, memory.id


def text_hash(text: str) -> bytes:
    """A hash of 16 bytes, to detect a change of the text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def is_shown(visible: Visible) -> Callable[[Row], bool]:
    """A predicate for rows that have neither decayed nor expired. Raises NotSupported for a past instant."""
    if visible.at is not None:
        raise NotSupported(
            "Project files hold only what is current, so no earlier state can be shown. "
            "Set STORAGE_BACKEND=sqlite to keep superseded memories."
        )
    horizon = -math.inf if visible.horizon is None else visible.horizon.timestamp()
    now = visible.now.timestamp()
    return lambda row: row.search.effective_at >= horizon and row.search.expires_at > now


def newest_first(rows: Iterable[Row]) -> list[Row]:
    """By `created_at`, newest first, unreadable ones last; ties by id descending."""
    return sorted(rows, key=lambda row: place_of(row.search.said_at, row.memory.id), reverse=True)


def place_of(at: float | None, memory_id: MemoryId, *, ascending: bool = False) -> tuple[float, str]:
    """The sort key of a row in the direction of a list. Rows without a finite time come last."""
    has_time = at is not None and math.isfinite(at)
    return (at if at is not None and has_time else math.inf if ascending else -math.inf), memory_id
