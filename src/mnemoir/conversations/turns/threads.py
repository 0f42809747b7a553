"""Threads: the turns of a conversation that lead to the current one.

A conversation with regenerated answers is a forest. Its rows are given newest first. Each row of the thread names
the next one by its parent pointer; the sentinel `NIL` means that no pointer was stored, and stands for the next
older row.

There are three rules. `scoped` looks up each parent by its id, so that a parent which is newer than its child (after
a clock was set back) loses no turn, and ends at a row without a pointer. `observed` passes over the rows once, from
new to old, and takes the first row without a pointer, even one of another branch, as existing chat applications do.
`linear` treats every pointer as the sentinel, for sessions without branches.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import dropwhile
from typing import Any, Generic, Literal, Protocol, TypeVar

from mnemoir.core.errors import SettingsError
from mnemoir.ports.turns import Turn, TurnRows

NIL = "00000000-0000-0000-0000-000000000000"
ThreadRule = Literal["scoped", "observed", "linear"]

_MOST_ROWS = 500


class ThreadRow(Protocol):
    """A row of a conversation. A parent pointer of None or "" marks a root, `NIL` means the next older row."""

    @property
    def id(self) -> str: ...

    @property
    def parent_message_id(self) -> str | None: ...


Row = TypeVar("Row", bound=ThreadRow)
Step = TypeVar("Step")


def extract_thread_messages(
    messages: Sequence[Row], *, rule: ThreadRule = "scoped", start: str | None = None
) -> list[Row]:
    """The rows of the thread, newest first, from all rows of a conversation, newest first.

    The thread ends with the row `start`, by default with the newest row. It is empty for an unknown `start`, because
    another branch would be wrong. It stops at a missing parent and at a parent that is in the thread already.
    """
    return list(walk_thread(messages, rule=rule, start=start))


def walk_thread(rows: Iterable[Row], *, rule: ThreadRule = "scoped", start: str | None = None) -> Iterator[Row]:
    """The thread as an iterator that reads only as many rows as needed. `start` may also be a parent pointer."""
    known_start = start if start != NIL else None
    if rule == "scoped":
        return _scoped_thread(rows, known_start)
    if known_start:
        rows = dropwhile(lambda row: row.id != known_start, rows)
    return _ONE_PASS[rule](rows)


def follow(first: Step | None, before: Callable[[Step], Step | None], name: Callable[[Step], str]) -> Iterator[Step]:
    """`first` and its predecessors; ends when `before` gives None or an item whose name occurred already."""
    met: set[str] = set()
    while first is not None and name(first) not in met:
        yield first
        met.add(name(first))
        first = before(first)


class RowTable(Generic[Row]):
    """Rows of a conversation, newest first, found by id or by order; rows are read only as far as needed."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._unread = iter(rows)
        self._read: list[Row] = []
        self._places: dict[str, int] = {}

    def find(self, id: str) -> Row | None:
        """The row with that id, the newest of several; None when there is none."""
        while id not in self._places:
            if not self._read_one():
                return None
        return self._read[self._places[id]]

    def older(self, row: Row | None) -> Row | None:
        """The next older row, or None; for None the newest row."""
        place = self._places[row.id] + 1 if row else 0
        if place == len(self._read) and not self._read_one():
            return None
        return self._read[place]

    def all(self) -> Iterator[Row]:
        """All rows, newest first."""
        place = 0
        while place < len(self._read) or self._read_one():
            yield self._read[place]
            place += 1

    def _read_one(self) -> bool:
        for row in self._unread:
            self._places.setdefault(row.id, len(self._read))
            self._read.append(row)
            return True
        return False


def row_limit(message_limit: int | None) -> int:
    """The number of rows for a `message_limit`: 500 when it is None, not positive, or above 500."""
    if message_limit is None or message_limit <= 0:
        return _MOST_ROWS
    return min(message_limit, _MOST_ROWS)


def stored_turns(rows: TurnRows, conversation_id: str, *, page_size: int = _MOST_ROWS) -> Iterator[Turn]:
    """All turns of a conversation, newest first, read page by page as needed."""
    before: Turn | None = None
    while True:
        page = rows.newest_first(conversation_id, limit=page_size, before=before)
        yield from page
        if len(page) < page_size:
            return
        before = page[-1]


def get_thread_messages_length(
    conversation_id: str, *, rows: TurnRows | None = None, rule: ThreadRule = "scoped"
) -> int:
    """The number of turns of the newest thread; a newest turn without an answer is not counted.

    Reads from `rows`, else from those of `use_turn_rows`. Raises SettingsError when there are neither.
    """
    source = _usual_rows() if rows is None else rows
    thread = list(walk_thread(stored_turns(source, conversation_id), rule=rule))
    return len(thread) - bool(thread and not thread[0].answer)


def use_turn_rows(rows: TurnRows | None) -> None:
    """Set the default `rows` of `get_thread_messages_length` for this process; None removes them."""
    _usual["rows"] = rows


def _usual_rows() -> TurnRows:
    rows = _usual["rows"]
    if rows is None:
        raise SettingsError(
            "The turns of the conversation cannot be counted: no place to read them from is known; "
            "pass rows=, or call use_turn_rows(rows) once."
        )
    return rows


def _scoped_thread(rows: Iterable[Row], start: str | None) -> Iterator[Row]:
    table = RowTable(rows)

    def before(row: Row) -> Row | None:
        parent = row.parent_message_id
        return table.older(row) if parent == NIL else table.find(parent) if parent else None

    return follow(table.find(start) if start else table.older(None), before, lambda row: row.id)


def _observed_thread(rows: Iterable[Row]) -> Iterator[Row]:
    awaited = NIL
    for row in rows:
        if not row.parent_message_id:
            yield row
            return
        if awaited in (NIL, row.id):
            yield row
            awaited = row.parent_message_id


# Any: the type of a table cannot express that each function returns the row type it gets
_ONE_PASS: dict[ThreadRule, Callable[[Iterable[Any]], Iterator[Any]]] = {
    "observed": _observed_thread,
    "linear": iter,
}
_usual: dict[str, TurnRows | None] = {"rows": None}
