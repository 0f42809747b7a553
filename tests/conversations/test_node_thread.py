"""Selection of a thread's records, compared with a second implementation of the rules."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.nodes.document import NodeMemoryMessage
from mnemoir.conversations.nodes.thread import thread_records
from mnemoir.conversations.turns.threads import NIL
from mnemoir.ports.turns import Turn
from tests.conversations.thread_oracle import thread_of

AT = datetime(2026, 1, 7, tzinfo=UTC)


def record(id: str, parent: str | None = None, role: str = "user", content: str = "") -> NodeMemoryMessage:
    return NodeMemoryMessage(message_id=id, parent_message_id=parent, role=role, content=content, created_at=AT)


def pair(id: str, parent: str | None = None) -> list[NodeMemoryMessage]:
    return [record(id, parent, "user", f"{id} q"), record(id, parent, "assistant", f"{id} a")]


def row(id: str, parent: str | None = None, **more: Any) -> Turn:
    return Turn(id=id, conversation_id="talk", parent_message_id=parent, query="", created_at=AT, **more)


def contents(records: Sequence[NodeMemoryMessage]) -> list[str]:
    return [record.content for record in records]


def test_the_sample_style_joins_an_answer_to_its_question_and_either_id_names_the_turn() -> None:
    records = [
        record("m1", None, "user", "q1"),
        record("m2", "m1", "assistant", "a1"),
        record("m3", "m2", "user", "q2"),
        record("m4", "m3", "assistant", "a2"),
    ]
    for current in ("m3", "m4"):
        assert contents(thread_records(records, current)) == ["q1", "a1", "q2", "a2"]
    for current in ("m1", "m2"):
        assert contents(thread_records(records, current)) == ["q1", "a1"]
    rows = [row("m4", "m2"), row("m2")]  # the conversation knows the turns by the ids of their answers
    assert contents(thread_records(records, "m4", rows)) == ["q1", "a1", "q2", "a2"]


def test_records_by_run_belong_to_the_turn_of_that_run() -> None:
    records = [*pair("run-1"), *pair("run-2"), *pair("run-3")]
    rows = [row("t4", "t2"), row("t3", "t1", workflow_run_id="run-3"), row("t2", "t1", workflow_run_id="run-2")]
    rows.append(row("t1", None, workflow_run_id="run-1"))
    assert contents(thread_records(records, "t4", rows)) == ["run-1 q", "run-1 a", "run-2 q", "run-2 a"]


def test_turns_without_records_are_passed_on_the_way() -> None:
    rows = [row("c", "b"), row("b", "a"), row("a")]
    assert contents(thread_records(pair("a"), "c", rows)) == ["a q", "a a"]


def test_pointers_of_the_conversation_win_over_the_records() -> None:
    records = [*pair("a"), *pair("b"), *pair("c", "b")]
    rows = [row("c", "a"), row("b", "a"), row("a")]
    assert contents(thread_records(records, "c", rows)) == ["a q", "a a", "c q", "c a"]


def test_the_records_supply_turns_missing_in_the_conversation() -> None:
    records = [*pair("a"), *pair("b", "a"), *pair("c", "b")]
    rows = [row("c", "b"), row("a")]
    assert contents(thread_records(records, "c", rows))[::2] == ["a q", "b q", "c q"]


def test_the_sentinel_takes_the_next_older_turn_of_the_conversation_or_else_of_the_file() -> None:
    rows = [row("c", NIL), row("b", NIL), row("a", NIL)]
    assert contents(thread_records([*pair("a"), *pair("b", "x")], "c", rows))[::2] == ["a q", "b q"]
    records = [*pair("a", NIL), *pair("b", NIL), *pair("c", NIL)]
    assert contents(thread_records(records, "b"))[::2] == ["a q", "b q"]


def test_a_parent_that_is_newer_than_its_child_is_looked_up_by_scoped_and_missed_by_observed() -> None:
    records = [*pair("a"), *pair("b", "a"), *pair("c", "b")]
    rows = [row("b", "a"), row("c", "b"), row("a")]  # the clock was set back before c
    assert contents(thread_records(records, "c", rows))[::2] == ["a q", "b q", "c q"]
    assert contents(thread_records(records, "c", rows, rule="observed"))[::2] == ["a q", "c q"]


def test_observed_takes_the_root_of_another_branch_in_the_conversation_and_in_the_file() -> None:
    records = [*pair("a"), *pair("b"), *pair("c", "a")]
    rows = [row("c", "a"), row("b"), row("a")]
    for known in (rows, []):
        assert contents(thread_records(records, "c", known, rule="observed"))[::2] == ["b q", "c q"]
        assert contents(thread_records(records, "c", known, rule="linear"))[::2] == ["a q", "b q", "c q"]
        assert contents(thread_records(records, "c", known))[::2] == ["a q", "c q"]


def test_observed_starts_a_turn_that_nobody_knows_yet_at_the_parent_that_is_given() -> None:
    records = [*pair("a"), *pair("b", "a"), *pair("x", "a")]
    rows = [row("x", "a"), row("b", "a"), row("a")]
    for known in (rows, []):
        told = thread_records(records, "new", known, parent_message_id="b", rule="observed")
        assert contents(told)[::2] == ["a q", "b q"]


def test_a_cycle_of_pointers_ends_the_thread() -> None:
    records = [*pair("a", "b"), *pair("b", "a"), *pair("self", "self")]
    assert contents(thread_records(records, "b"))[::2] == ["a q", "b q"]
    assert contents(thread_records(records, "self"))[::2] == ["self q"]


def test_only_as_much_of_the_conversation_is_read_as_the_walk_needs() -> None:
    read: list[str] = []

    def rows() -> Any:
        for number in range(100, 0, -1):
            read.append(str(number))
            yield row(str(number), str(number - 1) if number > 98 else None)

    assert contents(thread_records(pair("99"), "100", rows()))[::2] == ["99 q"]
    assert read == ["100", "99", "98"]


IDS = st.sampled_from("abcdefgh")
POINTERS = st.one_of(IDS, st.sampled_from([None, "", NIL, "gone"]))


@st.composite
def talks(draw: st.DrawFn) -> tuple[list[NodeMemoryMessage], list[Turn], str]:
    """A conversation that knows some turns, a file that knows some, rounds of one turn apart from each other."""
    rows = [row(id, draw(POINTERS)) for id in draw(st.lists(IDS, unique=True))]
    parents: dict[str, str | None] = {}
    records: list[NodeMemoryMessage] = []
    for number, id in enumerate(draw(st.lists(IDS, max_size=12))):
        parent = parents.setdefault(id, draw(POINTERS))
        records += [record(id, parent, "user", f"{number} q"), record(id, parent, "assistant", f"{number} a")]
    return records, rows, draw(IDS)


def oracle(records: list[NodeMemoryMessage], rows: list[Turn], current: str) -> list[str]:
    in_table = {turn.id: turn.parent_message_id for turn in rows}
    newest_first = [turn.id for turn in rows]
    in_file: dict[str, str | None] = {}
    for one in records:
        in_file.setdefault(one.message_id, one.parent_message_id)
    file_order = list(in_file)
    thread: list[str] = []
    here: str | None = current
    while here and here not in thread:
        thread.insert(0, here)
        pointer = in_table[here] if here in in_table else in_file.get(here)
        if pointer == NIL:
            if here in in_table:
                older = newest_first[newest_first.index(here) + 1 :]
                here = older[0] if older else None
            else:
                before = file_order[: file_order.index(here)]
                here = before[-1] if before else None
        else:
            here = pointer
    return [one.content for turn in thread for one in records if one.message_id == turn]


@given(talks())
def test_the_thread_is_the_one_of_the_rules(talk: tuple[list[NodeMemoryMessage], list[Turn], str]) -> None:
    records, rows, current = talk
    assert contents(thread_records(records, current, rows)) == oracle(records, rows, current)


@given(talks())
def test_the_observed_thread_is_the_one_pass_over_the_conversation(
    talk: tuple[list[NodeMemoryMessage], list[Turn], str],
) -> None:
    records, rows, current = talk
    table = rows if any(turn.id == current for turn in rows) else [*rows, row(current)]
    thread = thread_of(table, "observed", current)[::-1]
    expected = [one.content for turn in thread for one in records if one.message_id == turn]
    assert contents(thread_records(records, current, table, rule="observed")) == expected
