"""Selection of the records of a node's memory that belong to the thread of a turn.

The rule `scoped` follows the parent pointers from the current turn on. The pointers come from the conversation's
turns where these are known, else from the node's records. The other rules of `threads` pass once over the
conversation's turns, or over the recorded turns when the conversation has none. Turns without a record are skipped.
Earlier rounds of the node in the same turn, in a loop, belong to the thread.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mnemoir.conversations.nodes.document import NodeMemoryMessage
from mnemoir.conversations.turns.threads import NIL, RowTable, ThreadRule, follow, walk_thread
from mnemoir.ports.turns import Turn


def thread_records(
    records: Sequence[NodeMemoryMessage],
    current_message_id: str,
    turns: Iterable[Turn] = (),
    *,
    parent_message_id: str | None = None,
    rule: ThreadRule = "scoped",
) -> list[NodeMemoryMessage]:
    """The records of the thread, oldest turn first, in the document's order within a turn.

    `turns` are the conversation's, newest first, and read only as far as needed. `parent_message_id` is the parent of
    the current turn, used when no turn and no record has it. With `scoped` an unknown parent and a cycle end the
    thread.
    """
    recorded = _recorded_turns(records)
    walk = _Walk(recorded, _by_id(recorded), RowTable(turns))
    current = walk.at(current_message_id, parent_message_id)
    steps = walk.looked_up(current) if rule == "scoped" else walk.one_pass(current, rule)
    thread = list({step.recorded.place: step.recorded for step in steps if step.recorded}.values())
    return [record for turn in reversed(thread) for record in turn.records]


@dataclass(slots=True)
class _RecordedTurn:
    """All records of one turn. It has two ids when the document gives each message its own id."""

    place: int  # index among the turns of the document
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _ThreadTurn:
    """One turn of the thread, with its row of the conversation and its records, where they exist."""

    id: str
    parent_message_id: str | None
    row: Turn | None = None
    recorded: _RecordedTurn | None = None


@dataclass(frozen=True, slots=True)
class _Walk:
    recorded: Sequence[_RecordedTurn]
    by_id: dict[str, _RecordedTurn]
    table: RowTable[Turn]

    def looked_up(self, current: _ThreadTurn) -> Iterator[_ThreadTurn]:
        """The thread by the rule `scoped`, newest turn first, without repetitions."""
        return follow(current, self._before, lambda step: step.id)

    def one_pass(self, current: _ThreadTurn, rule: ThreadRule) -> Iterator[_ThreadTurn]:
        """The thread by a rule that passes over the rows once, newest turn first."""
        return walk_thread(self._rows(current), rule=rule, start=current.id)

    def at(self, id: str, parent: str | None = None) -> _ThreadTurn:
        """The turn with that id; `parent` is its parent when neither rows nor records know the turn."""
        recorded = self.by_id.get(id)
        names = [id, *(recorded.ids if recorded else ())]
        row = next((row for name in names if (row := self.table.find(name))), None)
        if row:
            return self._of_row(row)
        return (
            self._of_file(recorded) if recorded else _ThreadTurn(id=id, parent_message_id=self._first_id_of(parent))
        )

    def _rows(self, current: _ThreadTurn) -> Iterator[_ThreadTurn]:
        """The turns of the conversation, newest first; without any, the recorded turns before the current one."""
        if current.row is None:
            yield current
        if self.table.older(None):
            yield from map(self._of_row, self.table.all())
            return
        end = current.recorded.place if current.recorded else len(self.recorded)
        yield from map(self._of_file, reversed(self.recorded[:end]))

    def _of_row(self, row: Turn) -> _ThreadTurn:
        recorded = self.by_id.get(row.id) or self.by_id.get(row.workflow_run_id or "")
        return _ThreadTurn(id=row.id, parent_message_id=row.parent_message_id, row=row, recorded=recorded)

    def _of_file(self, turn: _RecordedTurn) -> _ThreadTurn:
        parent = self._first_id_of(turn.records[0].parent_message_id)
        return _ThreadTurn(id=turn.ids[0], parent_message_id=parent, recorded=turn)

    def _first_id_of(self, parent: str | None) -> str | None:
        """The parent pointer, converted to the first id of the recorded turn it names."""
        recorded = self.by_id.get(parent or "")
        return recorded.ids[0] if recorded else parent

    def _before(self, step: _ThreadTurn) -> _ThreadTurn | None:
        if not step.parent_message_id:
            return None
        return self._next_older(step) if step.parent_message_id == NIL else self.at(step.parent_message_id)

    def _next_older(self, step: _ThreadTurn) -> _ThreadTurn | None:
        """The next older turn of the conversation, or of the document for a turn unknown to the conversation."""
        row = self.table.older(step.row) if step.row or not step.recorded else None
        if row or step.row:
            return self._of_row(row) if row else None
        place = (step.recorded.place if step.recorded else len(self.recorded)) - 1
        return self.at(self.recorded[place].ids[0]) if place >= 0 else None
