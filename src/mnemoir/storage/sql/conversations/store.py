"""The base class of the session store's parts, and the conversion of rows to sessions and messages.

Texts come as bytes (see the marker `bytes` of named queries). Damage affects only its field, and is logged with the
row's id; only a message without a known role is skipped.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any, TypeVar

import structlog

from mnemoir.conversations.log.message_rows import Columns, message_of
from mnemoir.core.clock import Clock
from mnemoir.core.conversations import (
    MessageRecord,
    SessionExistsError,
    SessionMetadata,
    SessionRecord,
    StoredMessage,
    Summary,
    metadata_of,
    naive_utc,
)
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.ids import new_message_uid
from mnemoir.storage.sql.engine import LogAmounts, ScopedEngine, Sql, Value

_log = structlog.get_logger(__name__)
UNKNOWN_TIME = datetime(1970, 1, 1)  # naive UTC, like all times here
Row = tuple[Any, ...]  # as the database gives it
T = TypeVar("T")

_TOKENS_OF_FILE = 85
_ROWS_AT_FIRST, _FEWEST_ROWS = 100, 10  # of what is removed in one transaction
_PIECE_S = 0.02  # for which that may hold up others
_MOST = 2**62  # databases accept 64-bit numbers; a caller's may be larger


def time_text(instant: datetime) -> str:
    """ISO 8601, naive UTC, always with six digits, so that texts sort as times do."""
    return naive_utc(instant).isoformat(timespec="microseconds")


def time_of(raw: object) -> datetime | None:
    """The instant of a stored time, with or without a fraction; None for an invalid one."""
    try:
        return naive_utc(datetime.fromisoformat(str(text_of(raw))))
    except (ValueError, OverflowError):
        return None


def session_of(row: Row) -> SessionRecord:
    """A session; damaged metadata are empty, a time that cannot be read is 1970."""
    session_id, created_at, updated_at, system_prompt, metadata, context_after, head = row
    name = str(text_of(session_id))
    return SessionRecord(
        id=name,
        created_at=time_of(created_at) or UNKNOWN_TIME,
        updated_at=time_of(updated_at) or UNKNOWN_TIME,
        system_prompt=text_of(system_prompt) or "",
        metadata=stored_metadata(name, metadata),
        context_after=context_after if isinstance(context_after, int) else None,
        head=head,
    )


def stored_metadata(session_id: str, raw: object) -> SessionMetadata:
    """A session's metadata; empty, with a warning, when they are damaged."""
    try:
        members = json.loads(text_of(raw) or "{}")
        if not isinstance(members, dict):
            raise TypeError("not an object")
        return metadata_of(members)
    except (ValueError, TypeError, RecursionError, InvalidRequest) as exc:
        _log.warning("session metadata left out", session_id=session_id, cause=type(exc).__name__)
        return SessionMetadata()


def stored_messages(rows: Iterable[Row]) -> Iterator[StoredMessage]:
    """The messages in rows of `message`, without those with an unknown role."""
    for row in rows:
        (
            message_id,
            session_id,
            role,
            content,
            calls,
            call_id,
            name,
            at,
            parent,
            turn,
            tokens,
            weight,
            pinned,
            files,
            run_id,
            finish_reason,
            off_thread,
            uid,
        ) = row
        columns = Columns(
            text_of(role) or "", text_of(content), text_of(calls), text_of(call_id), text_of(name), text_of(files)
        )
        message = message_of(message_id, columns)
        if message is not None:
            yield StoredMessage(
                id=message_id,
                session_id=str(text_of(session_id)),
                message=message,
                created_at=time_of(at),
                parent_id=parent,
                turn_id=text_of(turn),
                token_count=tokens,
                importance=weight,
                pinned=pinned == 1,
                run_id=text_of(run_id),
                finish_reason=text_of(finish_reason),
                is_on_thread=off_thread is None,
                uid=text_of(uid),
            )


def message_values(record: MessageRecord) -> dict[str, Any]:
    """The values for `add_message`, without its place. A lone surrogate, which no file can store, becomes a "?"."""
    return {
        "role": record.role,
        "content": _storable(record.content),
        "tool_calls": _storable(record.tool_calls),
        "tool_call_id": _storable(record.tool_call_id),
        "name": _storable(record.name),
        "token_count": record.token_count,
        "importance": record.importance,
        "pinned": 1 if record.pinned else None,
        "files": _storable(record.files),
        "run_id": _storable(record.run_id),
        "finish_reason": _storable(record.finish_reason),
        "uid": record.uid or new_message_uid(),
        "estimate": _estimate(record),
    }


def _estimate(record: MessageRecord) -> int:
    """What a message costs in a window, in tokens, roughly; as `stretch` works it out of rows without it."""
    files = json_of(record.files or "[]")
    count = len(files) if isinstance(files, list) else 0
    return (len(record.content or "") + len(record.tool_calls or "")) // 4 + _TOKENS_OF_FILE * count


def json_of(raw: str | bytes) -> Any:
    """The value of JSON; None for a text that is none, and for null."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def summary_of(row: Row) -> Summary:
    """The summary in a row of `summary`."""
    upto, text, tokens, model, created_at = row
    return Summary(
        upto_message_id=upto,
        text=text_of(text) or "",
        token_count=tokens,
        model=text_of(model) or "",
        created_at=time_of(created_at),
    )


def storable(text: str) -> str:
    """The text, with lone surrogates, which no file can store, replaced."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


def _storable(text: str | None) -> str | None:
    return None if text is None else storable(text)


def text_of(raw: object) -> str | None:
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "replace")
    return None if raw is None else str(raw)


class Store:
    """Methods block, and raise StorageUnavailable when the file cannot be read or written."""

    _file: ScopedEngine
    _clock: Clock

    def _now(self) -> str:
        return time_text(self._clock())

    def _rows(self, query: str, **values: Value) -> list[Row]:
        return self._file.read(lambda sql: sql.rows(query, **values))

    def _row(self, query: str, **values: Value) -> Any:
        return self._file.read(lambda sql: sql.row(query, **values))

    def _add(self, work: Callable[[Sql, LogAmounts], T]) -> T:
        """The result of `work` that may store the first row of its scope, and notes what it adds."""
        return self._file.write(lambda sql: self._count_work(work, self._file.enter(sql)))

    def _remove(self, work: Callable[[Sql, LogAmounts], T]) -> T:
        """The result of `work` that stores nothing new, and notes what it changes of what is counted."""
        return self._file.write(lambda sql: self._count_work(work, sql))

    def _remove_in_pieces(self, work: Callable[[Sql, LogAmounts, int], bool]) -> LogAmounts:
        """What `work` changed, in as many transactions as it takes until it says that nothing is left.

        It gets how many rows it may remove: where several users wait for one database no transaction holds up others
        for long, and else a removal that is cut leaves no part.
        """
        turn = self._file.turn()
        total, most, is_done = LogAmounts(), _MOST if turn is None else _ROWS_AT_FIRST, False

        def remove_some(sql: Sql, added: LogAmounts) -> tuple[bool, LogAmounts, float]:
            began = perf_counter()
            return work(sql, added, most), added, perf_counter() - began

        while not is_done:
            with turn or nullcontext():
                is_done, added, took_s = self._remove(remove_some)
            total.conversations += added.conversations
            total.messages += added.messages
            if turn is not None:
                most = max(_FEWEST_ROWS, min(2 * most, int(most * _PIECE_S / max(took_s, 1e-6))))
        return total

    def _count_work(self, work: Callable[[Sql, LogAmounts], T], sql: Sql) -> T:
        added = LogAmounts()
        result = work(sql, added)
        self._file.count(sql, added)
        return result

    def _change(self, query: str, **values: Value) -> list[Row]:
        """The rows of a writing query."""
        return self._file.write(lambda sql: sql.rows(query, **values))


@dataclass(slots=True, kw_only=True)
class Transaction:
    """An open transaction of a file in its place: all reads and writes are part of it."""

    file: ScopedEngine
    sql: Sql

    @property
    def name(self) -> str:
        """That of the file."""
        return self.file.name

    def enter(self, sql: Sql) -> Sql:
        """The transaction within the scope, as all further reads and writes have it."""
        self.sql = self.file.enter(sql)
        return self.sql

    def count(self, sql: Sql, added: LogAmounts) -> None:
        """Add to what is counted of the file's scope."""
        self.file.count(sql, added)

    def turn(self) -> None:
        """None: the transaction is one piece."""

    def epoch(self) -> str:
        """That of the file."""
        return self.file.epoch()

    def write(self, work: Callable[[Sql], T]) -> T:
        """The result of `work`; the transaction stays open."""
        return work(self.sql)

    read = write

    def empty_log(self) -> None:
        """Does nothing: the file's log is emptied after the transaction."""

    def close(self) -> None:
        """Does nothing: the caller that began the transaction ends it."""


_: type[ScopedEngine] = Transaction  # checked, never run


def count_removed(added: LogAmounts, sizes: Sequence[Row]) -> None:
    """Count messages less, of which a query that deleted them gave the bytes."""
    added.messages -= len(sizes)
    added.bytes -= sum(size for (size,) in sizes)


def session_exists_error(session_id: str) -> SessionExistsError:
    """The error for an id that another session has."""
    return SessionExistsError(
        f"There is a session {session_id!r:.80} already. Choose another id, or go on with that one."
    )


def clamped_number(number: int) -> int:
    """A limit, an offset or an id, clamped to the numbers of a database; no message has an id beyond them."""
    return max(0, min(number, _MOST))
