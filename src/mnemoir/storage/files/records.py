"""Conversion of memories to JSON records of the project file, and back.

The six members that every record has come first, then our optional ones. Members of other programs stay in the
record; a value of a wrong type (a number for a date) is read as missing, and stays unchanged too.
"""

from collections.abc import Mapping
from typing import Any

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Kind, Memory
from mnemoir.storage.files.project_file import Record

_ALWAYS = ("id", "memory", "user_id", "created_at", "updated_at", "metadata")
_WHEN_SET = ("agent_id", "app_id", "run_id", "kind", "role", "name", "expiration_date")
_KNOWN = frozenset((*_ALWAYS, *_WHEN_SET))


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
    }
    record |= {name: value for name, value in optional.items() if value is not None}
    return record | {name: value for name, value in memory.extra.items() if name not in _KNOWN}


def rewritten(record: Record, *, text: str, updated_at: str) -> Record:
    """The record with another text; every other member keeps its place and value."""
    return record | {"memory": text, "updated_at": updated_at}


def _text(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    return value if isinstance(value, str) else None


def _object(record: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    value = record.get(name)
    return value if isinstance(value, dict) else None
