"""Which records of a node's memory belong to the thread of a turn.

The walk goes from the turn being answered through parent pointers. The conversation's own turns say where each points
to, as far as they are known; the node's records say it for turns that are not. A turn that the node has no record of
is passed on the way. What the node did before in the same turn, in a loop, is part of the thread.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from mnemoir.conversations.node_document import NodeMemoryMessage
from mnemoir.conversations.threads import NIL
from mnemoir.ports.turns import Turn


def thread_records(
    records: Sequence[NodeMemoryMessage],
    current_message_id: str,
    turns: Iterable[Turn] = (),
    *,
    parent_message_id: str | None = None,
) -> list[NodeMemoryMessage]:
    """The records of the thread, oldest turn first, in the order of the file within a turn.

    `turns` are the conversation's, newest first, and read only as far as needed. `parent_message_id` is where the
    current turn points to, if nothing else knows that yet. A pointer that leads nowhere ends the walk, and so does
    one that leads back.
    """
    recorded = _recorded_turns(records)
    walk = _Walk(recorded, _by_id(recorded), _Table(iter(turns)), parent_message_id)
    thread = list(walk.back_from(current_message_id))
    return [record for turn in reversed(thread) for record in turn.records]


@dataclass(slots=True)
class _RecordedTurn:
    """All records of one turn; either of two ids may name it where a document gives each message an id of its own."""

    place: int  # among the turns of the file
    ids: list[str] = field(default_factory=list)
    records: list[NodeMemoryMessage] = field(default_factory=list)


def _recorded_turns(records: Sequence[NodeMemoryMessage]) -> list[_RecordedTurn]:
    turns: list[_RecordedTurn] = []
    by_id: dict[str, _RecordedTurn] = {}
    questions: set[str | None] = set()  # ids of user records
    for record in records:
        turn = by_id.get(record.message_id)
        if turn is None and record.role != "user" and record.parent_message_id in questions:
            turn = by_id[record.parent_message_id or ""]
        if turn is None:
            turn = _RecordedTurn(place=len(turns))
            turns.append(turn)
        if record.message_id not in by_id:
            by_id[record.message_id] = turn
            turn.ids.append(record.message_id)
        turn.records.append(record)
        if record.role == "user":
            questions.add(record.message_id)
    return turns


def _by_id(turns: Iterable[_RecordedTurn]) -> dict[str, _RecordedTurn]:
    return {id: turn for turn in turns for id in turn.ids}


class _Table:
    """The turns of a conversation, newest first, looked up by id."""

    def __init__(self, turns: Iterator[Turn]) -> None:
        self._unread = turns
        self._read: list[Turn] = []
        self._places: dict[str, int] = {}

    def find(self, id: str) -> Turn | None:
        while id not in self._places:
            if self._read_on(1) == 0:
                return None
        return self._read[self._places[id]]

    def older(self, turn: Turn | None) -> Turn | None:
        """The next older turn; the newest one for None."""
        place = self._places[turn.id] + 1 if turn else 0
        if place == len(self._read) and self._read_on(1) == 0:
            return None
        return self._read[place]

    def _read_on(self, count: int) -> int:
        rows = list(islice(self._unread, count))
        for row in rows:
            self._places.setdefault(row.id, len(self._read))
            self._read.append(row)
        return len(rows)


@dataclass(frozen=True, slots=True)
class _Step:
    """One turn of the walk as both sides know it."""

    id: str
    row: Turn | None = None
    recorded: _RecordedTurn | None = None


@dataclass(frozen=True, slots=True)
class _Walk:
    recorded: Sequence[_RecordedTurn]
    by_id: dict[str, _RecordedTurn]
    table: _Table
    parent_of_current: str | None

    def back_from(self, current: str) -> Iterator[_RecordedTurn]:
        """The recorded turns of the thread, newest first."""
        seen: set[str] = set()
        given: set[int] = set()
        step: _Step | None = self._at(current)
        while step is not None and step.id not in seen:
            seen.add(step.id)
            if step.recorded and step.recorded.place not in given:
                given.add(step.recorded.place)
                yield step.recorded
            step = self._before(step, is_current=len(seen) == 1)

    def _at(self, id: str) -> _Step:
        recorded = self.by_id.get(id)
        names = [id, *(recorded.ids if recorded else ())]
        row = next((row for name in names if (row := self.table.find(name))), None)
        if row is None:
            return _Step(recorded.ids[0] if recorded else id, None, recorded)
        return self._of_row(row)

    def _of_row(self, row: Turn) -> _Step:
        return _Step(row.id, row, self.by_id.get(row.id) or self.by_id.get(row.workflow_run_id or ""))

    def _before(self, step: _Step, *, is_current: bool) -> _Step | None:
        pointer = self._pointer(step, is_current=is_current)
        if not pointer:
            return None
        return self._next_older(step) if pointer == NIL else self._at(pointer)

    def _pointer(self, step: _Step, *, is_current: bool) -> str | None:
        if step.row:
            return step.row.parent_message_id
        if step.recorded:
            return step.recorded.records[0].parent_message_id
        return self.parent_of_current if is_current else None

    def _next_older(self, step: _Step) -> _Step | None:
        """The next older turn of the conversation; of the file, for a turn that the conversation does not know."""
        row = self.table.older(step.row) if step.row or not step.recorded else None
        if row or step.row:
            return self._of_row(row) if row else None
        place = (step.recorded.place if step.recorded else len(self.recorded)) - 1
        return self._at(self.recorded[place].ids[0]) if place >= 0 else None
