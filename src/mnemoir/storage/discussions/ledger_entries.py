"""Parsing of a ledger's entries: the chunk summaries among them, each with its key and number.

An entry of WilmerAI has only a text and a hash, so its key is derived from these two and from the count of equal
entries before it, and its number is its position. The next rewrite of the ledger stores both in it; if WilmerAI then
drops them, the same key is derived again. Entries that are no summaries keep their place and are not returned. An
entry without any text is a forgotten summary: it only marks a place.
"""

import hashlib
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from typing import Any

from mnemoir.core.clock import to_text
from mnemoir.core.discussions import (
    BlockChanges,
    BlockKey,
    ChunkSource,
    ChunkSummary,
    Discussion,
    SourceMessage,
)
from mnemoir.storage.discussions.ledger_lines import Entry, Json

_STALE = "stale_since"
_FORGOTTEN = "forgotten_at"
_MADE_BY = "made_by"
_OF_FORGOTTEN = ("hash", "id", "number", "created_at", "messages", "discussion", "behind", _STALE)  # none has text


def chunks_in(entries: Sequence[Entry]) -> list[ChunkSummary | None]:
    """The summary of each entry; None for one that is no summary. Keys are unique."""
    taken: set[BlockKey] = set()
    chunks: list[ChunkSummary | None] = []
    position = 0
    for entry in entries:
        chunk = None
        if is_summary(entry.value):
            position += 1
            chunk = _chunk(entry.value, position, taken)
            taken.add(chunk.id)
        chunks.append(chunk)
    return chunks


def is_summary(value: Json) -> bool:
    """True for an object with a text."""
    return isinstance(value, dict) and isinstance(value.get("text_block"), str)


def complete_chunk(value: Json) -> ChunkSummary | None:
    """The summary of an entry that stores its key and number; None for any other."""
    return _chunk(value, 0, frozenset()) if isinstance(value.get("id"), str) and _number(value) else None


def messages_in(value: Mapping[str, Json]) -> list[SourceMessage]:
    """The messages of its chunk; none when another program wrote the entry."""
    source = value.get("source")
    found = [
        (item.get("role"), item.get("content"), item.get("uid")) for item in _list(source) if isinstance(item, dict)
    ]
    return [
        SourceMessage(role=role, text=text, uid=uid if isinstance(uid, str) else None)
        for role, text, uid in found
        if isinstance(role, str) and isinstance(text, str)
    ]


def new_entry(discussion: Discussion, chunk: ChunkSummary, source: ChunkSource) -> Entry:
    """The entry of a new summary."""
    value: dict[str, Any] = {  # JSON
        "text_block": chunk.text,
        "hash": chunk.hash,
        "id": chunk.id,
        "number": chunk.number,
        "created_at": chunk.created_at,
        "messages": list(chunk.digests),
        "source": [message.as_json() for message in source.messages],
    }
    made_by = {_MADE_BY: chunk.made_by} if chunk.made_by else {}
    return Entry(value | made_by | naming(discussion))


def naming(discussion: Discussion) -> dict[str, str]:
    """The member with the discussion's id; none when the name of its files is the id."""
    return {} if discussion.file_name == discussion.id else {"discussion": discussion.id}


def entry_for_discussion(entry: Entry, discussion: Discussion) -> Entry:
    """The entry, rewritten for the ledger of another discussion."""
    return entry.with_members(without=["discussion"], **naming(discussion)) if is_summary(entry.value) else entry


def with_stored_keys(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with key and number written into each, because a rewrite may change positions."""
    return [
        entry if chunk is None else _with_stored_key(entry, chunk)
        for entry, chunk in zip(entries, chunks_in(entries), strict=True)
    ]


def with_changes(entries: Sequence[Entry], changes: BlockChanges, now: datetime) -> list[Entry]:
    """Settled entries after the changes; unknown keys are skipped."""
    return [_changed_entry(entry, changes, to_text(now)) if is_summary(entry.value) else entry for entry in entries]


def without_block(entries: Sequence[Entry], key: BlockKey, now: datetime) -> list[Entry]:
    """Entries with stored keys, of which the block `key` keeps only its place and the time of forgetting."""
    return [
        _forgotten_entry(entry, to_text(now)) if is_summary(entry.value) and entry.value["id"] == key else entry
        for entry in entries
    ]


def is_stale(entry: Entry) -> bool:
    """True for a summary of text that the conversation does not contain any more."""
    return is_summary(entry.value) and isinstance(entry.value.get(_STALE), str)


def is_forgotten(entry: Entry) -> bool:
    """True for a forgotten summary."""
    return is_summary(entry.value) and _forgotten_at(entry.value) is not None


def _forgotten_entry(entry: Entry, now: str) -> Entry:
    kept = {name: entry.value[name] for name in _OF_FORGOTTEN if name in entry.value}
    return Entry({"text_block": "", **kept, _FORGOTTEN: now})


def _changed_entry(entry: Entry, changes: BlockChanges, now: str) -> Entry:
    key = entry.value["id"]
    if key in changes.placed:
        entry = entry.with_members(messages=list(changes.placed[key]))
    if key in changes.stale and not isinstance(entry.value.get(_STALE), str):
        entry = entry.with_members(**{_STALE: now})
    if key in changes.revived and _STALE in entry.value:
        entry = entry.with_members(without=[_STALE])
    return entry


def _with_stored_key(entry: Entry, chunk: ChunkSummary) -> Entry:
    if entry.value.get("id") == chunk.id and _number(entry.value) == chunk.number:
        return entry
    return entry.with_members(id=chunk.id, number=chunk.number)


def _chunk(value: Mapping[str, Json], position: int, taken: Set[BlockKey]) -> ChunkSummary:
    hash, created_at, stale_since = value.get("hash"), value.get("created_at"), value.get(_STALE)
    text, id, made_by = value["text_block"], value.get("id"), value.get(_MADE_BY)
    hash = hash if isinstance(hash, str) else ""
    return ChunkSummary(
        id=id if isinstance(id, str) and id and id not in taken else _derived_key(text, hash, taken),
        text=text,
        hash=hash,
        number=_number(value) or position,
        created_at=created_at if isinstance(created_at, str) else "",
        digests=tuple(digest for digest in _list(value.get("messages")) if isinstance(digest, str)),
        stale_since=stale_since if isinstance(stale_since, str) else None,
        made_by=made_by if isinstance(made_by, str) else "",
        forgotten_at=_forgotten_at(value),
    )


def _forgotten_at(value: Mapping[str, Json]) -> str | None:
    at = value.get(_FORGOTTEN)
    return at if isinstance(at, str) else None if value["text_block"] else ""


def _derived_key(text: str, hash: str, taken: Set[BlockKey]) -> BlockKey:
    content = hashlib.sha256(f"{hash}\0{text}".encode("utf-8", "surrogatepass"))
    key, occurrence = f"w{content.hexdigest()[:16]}", 0
    while key in taken:
        occurrence += 1
        again = content.copy()
        again.update(f"\0{occurrence}".encode())
        key = f"w{again.hexdigest()[:16]}"
    return key


def _number(value: Mapping[str, Json]) -> int | None:
    number = value.get("number")
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
