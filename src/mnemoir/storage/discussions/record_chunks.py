"""Chunks and their records as rows: blocking functions over one open transaction.

A chunk's position is a number among the ids of the hash log, so that chunks of ours and hashes that another program
logged have one order. Other programs continue after the last hash of the log, or after the one of the tracker. So
both always name the newest chunk that is not stale, also after chunks before it were inserted or removed.

A record has a row in `memories`, and one in `memories_fts` while its chunk is not stale; no program finds a record
without a row there.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from mnemoir.core.discussions import Block, BlockChanges, BlockKey, ChunkSource, NewRecord, SourceMessage
from mnemoir.core.ids import new_request_id
from mnemoir.core.memories import IndexEntry
from mnemoir.storage.sql.engine import Damaged, Sql, queries

_QUERIES = queries("records/records")


def new_position(sql: Sql, before: BlockKey | None) -> float:
    """A free position before a block; at the end without one, or when there is no such block."""
    found = None if before is None else sql.row(_QUERIES["position_of"], key=before)
    if found is None:
        return float(sql.row(_QUERIES["last_position"])[0]) + 1
    position = float(found[0])
    free = _free_before(sql, position)
    if free is None:
        _space_out(sql, position)
        position = float(sql.row(_QUERIES["position_of"], key=before)[0])
        free = _free_before(sql, position)
    if free is None:
        raise Damaged("the positions of its chunks leave no room")
    return free


def note_progress(sql: Sql, discussion: str, now: str) -> None:
    """Make log and tracker end with the newest block that is not stale."""
    chunk, foreign = sql.row(_QUERIES["newest_live"]), sql.row(_QUERIES["newest_foreign"])
    if chunk is not None and (foreign is None or chunk[3] > foreign[0]):
        _log_last(sql, chunk, {"discussion": discussion, "hash": chunk[2], "now": now})
        _set_tracker(sql, discussion, chunk[2], now)
    elif foreign is not None:
        _set_tracker(sql, discussion, foreign[1], now)
    else:
        sql.run(_QUERIES["forget_tracker"])


def _log_last(sql: Sql, chunk: tuple[Any, ...], values: Mapping[str, str]) -> None:
    number, log_id, *_ = chunk
    last = sql.row(_QUERIES["newest_logged"])
    if last is not None and last[0] == log_id:
        return
    if log_id is not None:
        sql.run(_QUERIES["unlog"], id=log_id)
    ((added,),) = sql.rows(_QUERIES["log_hash"], **values)
    sql.run(_QUERIES["set_log_id"], id=number, log_id=added)


def _set_tracker(sql: Sql, discussion: str, hash_: str, now: str) -> None:
    sql.run(_QUERIES["set_tracker"], discussion=discussion, hash=hash_, now=now)


def _free_before(sql: Sql, position: float) -> float | None:
    """Half-way to the previous position; None when no floating point number lies between the two."""
    low = float(sql.row(_QUERIES["position_before"], position=position)[0])
    middle = low + (position - low) / 2
    return middle if low < middle < position else None


def _space_out(sql: Sql, position: float) -> None:
    """Space the chunks around a position evenly between the enclosing rows of other programs."""
    low, high = sql.row(_QUERIES["fixed_around"], position=position)
    if high is None:
        high = float(sql.row(_QUERIES["last_position"])[0]) + 1
    chunks = sql.rows(_QUERIES["positions_between"], low=low, high=high)
    step = (high - low) / (len(chunks) + 1)
    moved = [{"id": chunk, "position": low + step * (at + 1)} for at, (chunk,) in enumerate(chunks)]
    sql.many(_QUERIES["move_chunk"], moved)


def blocks(sql: Sql) -> list[Block]:
    """All blocks, in the order of the conversation."""
    return [
        Block(
            key=key,
            hash=hash_,
            digests=_digests(digests),
            is_stale=bool(is_stale),
            is_forgotten=bool(is_forgotten),
        )
        for key, hash_, digests, is_stale, is_forgotten, _ in sql.rows(_QUERIES["blocks"])
    ]


def sources(sql: Sql) -> dict[BlockKey, Sequence[SourceMessage]]:
    """The messages of our chunks, in the order of the conversation; chunks without stored messages are left out."""
    return {key: _messages(source) for key, source in sql.each(_QUERIES["sources"]) if source != "[]"}


class Chunks:
    """Writer of one discussion's chunks with the time `now` (ISO, UTC); `finish` must be called last."""

    def __init__(self, sql: Sql, discussion: str, now: str) -> None:
        self._sql = sql
        self._discussion = storable(discussion)
        self._now = now

    def append(
        self, records: Sequence[NewRecord], source: ChunkSource, before: BlockKey | None, made_by: str
    ) -> BlockKey:
        """Write a new chunk with its records; its key."""
        key = new_request_id()
        ((chunk,),) = self._sql.rows(
            _QUERIES["add_chunk"],
            key=key,
            position=new_position(self._sql, before),
            hash=source.hash,
            digests=json.dumps(list(source.digests)),
            source=json.dumps([said.as_json() for said in source.messages]),
            created_at=self._now,
            made_by=storable(made_by),
        )
        for record in records:
            self._add(record, chunk)
        return key

    def change(self, changes: BlockChanges) -> None:
        """Write the changes of blocks. A changed block that another program logged becomes a chunk of ours."""
        for key in (*changes.placed, *changes.stale, *changes.revived):
            self._sql.run(_QUERIES["adopt"], key=key)
        for key, digests in changes.placed.items():
            self._sql.run(_QUERIES["place"], key=key, digests=json.dumps(list(digests)))
        for key in changes.stale:
            self._make_stale(key)
        for key in changes.revived:
            self._revive(key)

    def forget(self, key: BlockKey) -> bool:
        """Delete the records and messages of a chunk; False when there is none, or it was forgotten before."""
        forgotten = self._sql.rows(_QUERIES["forget"], key=key, now=self._now)
        for (chunk,) in forgotten:
            for number, *_ in self._sql.rows(_QUERIES["of_chunk"], chunk=chunk):
                for query in ("drop_words", "drop_embeddings", "drop_record"):
                    self._sql.run(_QUERIES[query], id=number)
            self._sql.run(_QUERIES["merge_words"])
        return bool(forgotten)

    def finish(self) -> None:
        """Record for other programs how far the conversation is processed."""
        note_progress(self._sql, self._discussion, self._now)

    def _add(self, record: NewRecord, chunk: int) -> None:
        metadata = json.dumps(record.metadata)
        text = storable(_as_words(record.metadata.get("summary")))
        made = record.created_at or self._now
        values = {"discussion": self._discussion, "text": text, "now": made, "metadata": metadata}
        ((number,),) = self._sql.rows(_QUERIES["add_record"], **values)
        self._sql.run(_QUERIES["link_record"], id=number, chunk=chunk)
        self._sql.run(_QUERIES["add_words"], id=number, **words_of(record.metadata))
        if record.entry is not None:
            put_entry(self._sql, number, record.entry)

    def _make_stale(self, key: BlockKey) -> None:
        for chunk, log_id in self._sql.rows(_QUERIES["make_stale"], key=key, now=self._now):
            records = self._sql.rows(_QUERIES["of_chunk"], chunk=chunk)
            for number, *_ in records:
                self._sql.run(_QUERIES["drop_words"], id=number)
            self._sql.run(_QUERIES["count_removals"], count=len(records))
            self._sql.run(_QUERIES["unlog"], id=log_id)

    def _revive(self, key: BlockKey) -> None:
        for (chunk,) in self._sql.rows(_QUERIES["revive"], key=key):
            for number, metadata, text in self._sql.rows(_QUERIES["of_chunk"], chunk=chunk):
                self._sql.run(_QUERIES["add_words"], id=number, **words_of(metadata_of(metadata, text)))
                mark_changed(self._sql, number)


def put_entry(sql: Sql, number: int, entry: IndexEntry) -> None:
    """Write or replace the index entry of a record, if the record still exists."""
    sql.run(
        _QUERIES["put_entry"],
        id=number,
        model=entry.model,
        terms=entry.terms,
        vector=entry.vector,
        token_ids=entry.token_ids,
        token_codes=entry.token_codes,
    )
    mark_changed(sql, number)


def mark_changed(sql: Sql, number: int) -> None:
    """Bump the revision of a record so that search indexes reload it."""
    sql.run(_QUERIES["count_change"])
    sql.run(_QUERIES["mark_changed"], id=number)


def words_of(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The columns of the full text of a record."""
    columns = ("title", "summary", "entities", "key_phrases")
    return {column: storable(_as_words(metadata.get(column))) for column in columns}


def metadata_of(stored: str | None, text: str) -> dict[str, Any]:
    """The metadata object of a record; when another program left it out or wrote another shape, only its text."""
    try:
        metadata = json.loads(stored or "{}")
    except ValueError:
        metadata = {}
    return metadata if isinstance(metadata, dict) and metadata else {"summary": text}


def storable(text: str) -> str:
    """The text with lone surrogates escaped, which no database can store."""
    return text.encode("utf-8", "backslashreplace").decode()


def _as_words(value: Any) -> str:
    """The value as text; of a list its items, joined, without the quotes that other programs add."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return " ".join(map(_as_words, value)).replace('"', "")
    return "" if value is None else json.dumps(value)


def _digests(stored: str) -> Sequence[str]:
    with _json_errors():
        return tuple(orjson.loads(stored))


def _messages(stored: str) -> Sequence[SourceMessage]:
    # the standard library's JSON, as orjson refuses the lone surrogates that a message may have
    with _json_errors():
        return tuple(
            SourceMessage(role=said["role"], text=said["content"], uid=said.get("uid")) for said in json.loads(stored)
        )


@contextmanager
def _json_errors() -> Iterator[None]:
    """Raise Damaged in place of errors from reading a chunk's stored JSON."""
    try:
        yield
    except (ValueError, TypeError, LookupError) as exc:
        raise Damaged("what it says of a chunk cannot be read") from exc
