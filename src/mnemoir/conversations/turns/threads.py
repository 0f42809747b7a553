"""Threads: which turns of a conversation lead to the one being answered.

A conversation with regenerated answers is a forest. Its rows come newest first. Each row of the thread names the next
one by its parent pointer; the sentinel `NIL` means that no pointer was kept, and stands for the next older row.

There are three rules. `scoped` looks each parent up by its id, so that a parent which is newer than its child (a
clock was set back) loses no turn, and ends at a row without a pointer. `observed` passes over the rows once, from new
to old, and takes any row without a pointer that it meets, even one of another branch, as existing chat applications
do. `linear` reads every pointer as the sentinel: sessions without branches are that.
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
    """What the walk looks at. A pointer of None or "" marks a root, `NIL` the next older row."""

    @property
    def id(self) -> str: ...

    @property
    def parent_message_id(self) -> str | None: ...


Row = TypeVar("Row", bound=ThreadRow)
Step = TypeVar("Step")


def extract_thread_messages(
    messages: Sequence[Row], *, rule: ThreadRule = "scoped", start: str | None = None
) -> list[Row]:
    """The rows of the thread, newest first, out of all rows of a conversation, newest first.

    The thread is the one of the row `start`, and of the newest row when that is not given. A `start` that is not
    among the rows has no thread: another branch would be the wrong answer. A parent that is missing leaves the part
    that was found, and so does one that is in the thread already.
    """
    return list(walk_thread(messages, rule=rule, start=start))


def walk_thread(rows: Iterable[Row], *, rule: ThreadRule = "scoped", start: str | None = None) -> Iterator[Row]:
    """The same, row by row: reads no further than the rows asked for need. A parent pointer serves as `start` too."""
    known_start = start if start != NIL else None
    if rule == "scoped":
        return _scoped(rows, known_start)
    if known_start:
        rows = dropwhile(lambda row: row.id != known_start, rows)
    return _ONE_PASS[rule](rows)


def follow(first: Step | None, before: Callable[[Step], Step | None], name: Callable[[Step], str]) -> Iterator[Step]:
    """A step and those that lead to it, each once: ends where there is none before, or one of a name met already."""
    met: set[str] = set()
    while first is not None and name(first) not in met:
        yield first
        met.add(name(first))
        first = before(first)


class RowTable(Generic[Row]):
    """Rows of a conversation, newest first, found by id or by place; the reader is asked for no more than needed."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._unread = iter(rows)
        self._read: list[Row] = []
        self._places: dict[str, int] = {}

    def find(self, id: str) -> Row | None:
        """The row of that id, the newest one should several have it."""
        while id not in self._places:
            if not self._read_one():
                return None
        return self._read[self._places[id]]

    def older(self, row: Row | None) -> Row | None:
        """The next older row; the newest one for None."""
        place = self._places[row.id] + 1 if row else 0
        if place == len(self._read) and not self._read_one():
            return None
        return self._read[place]

    def all(self) -> Iterator[Row]:
        """Every row, newest first."""
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
    """How many rows a `message_limit` stands for: 500 when it is not given, not positive, or above 500."""
    if message_limit is None or message_limit <= 0:
        return _MOST_ROWS
    return min(message_limit, _MOST_ROWS)


def stored_turns(rows: TurnRows, conversation_id: str, *, page_size: int = _MOST_ROWS) -> Iterator[Turn]:
    """All turns of a conversation, newest first, read page by page as they are asked for."""
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
    """How many turns the newest thread has, over the whole conversation; a newest one without an answer is left out.

    Reads from `rows`, else from what `use_turn_rows` was given. Raises SettingsError when there is neither.
    """
    source = _usual_rows() if rows is None else rows
    thread = list(walk_thread(stored_turns(source, conversation_id), rule=rule))
    return len(thread) - bool(thread and not thread[0].answer)


def use_turn_rows(rows: TurnRows | None) -> None:
    """Set where `get_thread_messages_length` reads when it is called with an id alone; None takes it back."""
    _usual["rows"] = rows


def _usual_rows() -> TurnRows:
    rows = _usual["rows"]
    if rows is None:
        raise SettingsError(
            "The turns of the conversation cannot be counted: no place to read them from is known; "
            "pass rows=, or call use_turn_rows(rows) once."
        )
    return rows


def _scoped(rows: Iterable[Row], start: str | None) -> Iterator[Row]:
    table = RowTable(rows)

    def before(row: Row) -> Row | None:
        parent = row.parent_message_id
        return table.older(row) if parent == NIL else table.find(parent) if parent else None

    return follow(table.find(start) if start else table.older(None), before, lambda row: row.id)


def _observed(rows: Iterable[Row]) -> Iterator[Row]:
    awaited = NIL
    for row in rows:
        if not row.parent_message_id:
            yield row
            return
        if awaited in (NIL, row.id):
            yield row
            awaited = row.parent_message_id


# Any: a table cannot say that each walk gives out what it is given
_ONE_PASS: dict[ThreadRule, Callable[[Iterable[Any]], Iterator[Any]]] = {
    "observed": _observed,
    "linear": iter,
}
_usual: dict[str, TurnRows | None] = {"rows": None}
