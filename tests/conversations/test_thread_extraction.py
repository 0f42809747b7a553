"""Selection of a thread's rows, compared with an oracle that follows pointers instead of walking the list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.turns.threads import (
    NIL,
    extract_thread_messages,
    get_thread_messages_length,
    row_limit,
    stored_turns,
    use_turn_rows,
    walk_thread,
)
from mnemoir.core.errors import SettingsError
from mnemoir.ports.turns import Turn
from tests.conversations.thread_oracle import thread_of


@dataclass(frozen=True)
class Row:
    id: str
    parent_message_id: str | None


class Rows:
    """A conversation's turns, oldest first, read as a store is read; counts the pages it was asked for."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns[::-1]
        self.pages = 0

    def newest_first(self, conversation_id: str, *, limit: int, before: Turn | None = None) -> Sequence[Turn]:
        self.pages += 1
        start = self.turns.index(before) + 1 if before else 0
        return self.turns[start : start + limit] if conversation_id == "c" else []

    def attachments(self, turn_ids):
        return {}

    def run_features(self, workflow_run_id):
        return None


def turn(turn_id: str, parent: str | None, answer: str = "yes") -> Turn:
    return Turn(
        id=turn_id,
        conversation_id="c",
        parent_message_id=parent,
        query="why?",
        answer=answer,
        created_at=datetime(2026, 1, 7, tzinfo=UTC),
    )


def ids(rows):
    return [row.id for row in rows]


@st.composite
def forests(draw, *, whole: bool = False) -> list[Row]:
    """Rows, newest first. Not whole ones may point anywhere: to themselves, to newer rows, to rows that are gone."""
    count = draw(st.integers(0, 14))
    names = [f"m{number}" for number in range(count)]  # m0 is the oldest
    rows = []
    for number, name in enumerate(names):
        parents = [*names[:number], None, ""]
        if not whole:
            parents += [NIL, name, "gone", *names[number:]]
        rows.append(Row(name, draw(st.sampled_from(parents))))
    return rows[::-1]


@pytest.mark.parametrize("rule", ["scoped", "observed"])
@given(rows=forests(), number=st.none() | st.integers(0, 15))
def test_a_thread_follows_its_pointers(rule, rows, number):
    start = None if number is None else f"m{number}"
    assert ids(extract_thread_messages(rows, rule=rule, start=start)) == thread_of(rows, rule, start)


@given(rows=forests(whole=True), number=st.none() | st.integers(0, 13))
def test_where_every_parent_exists_the_thread_is_the_path_to_the_root(rows, number):
    by_id = {row.id: row for row in rows}
    at = by_id.get(f"m{number}") if number is not None else next(iter(rows), None)
    path = []
    while at is not None:
        path.append(at.id)
        at = by_id.get(at.parent_message_id or "")
    start = None if number is None else f"m{number}"
    assert ids(extract_thread_messages(rows, start=start)) == path


@given(length=st.integers(0, 20), kept=st.lists(st.booleans(), min_size=20, max_size=20))
def test_both_rules_agree_on_linear_histories_with_and_without_kept_pointers(length, kept):
    names = [f"m{number}" for number in range(length)]
    rows = [Row(name, (names[at - 1] if kept[at] else NIL) if at else None) for at, name in enumerate(names)][::-1]
    assert ids(extract_thread_messages(rows)) == ids(extract_thread_messages(rows, rule="observed")) == names[::-1]


def test_a_first_answer_made_twice_and_continued_from_the_first_tells_the_rules_apart():
    rows = [Row("m2", "m0"), Row("m1", None), Row("m0", None)]
    assert ids(extract_thread_messages(rows)) == ["m2", "m0"]
    assert ids(extract_thread_messages(rows, rule="observed")) == ["m2", "m1"]


def test_a_regenerated_answer_replaces_the_one_before_and_what_followed_it():
    rows = [Row("R3", "R1'"), Row("R1'", None), Row("R2", "R1"), Row("R1", None)]
    assert ids(extract_thread_messages(rows)) == ["R3", "R1'"]


def test_with_two_branches_the_thread_is_the_one_of_the_turn_being_answered():
    rows = [Row("b2", "b1"), Row("a2", "a1"), Row("b1", "root"), Row("a1", "root"), Row("root", None)]
    assert ids(extract_thread_messages(rows, start="a2")) == ["a2", "a1", "root"]
    assert ids(extract_thread_messages(rows)) == ["b2", "b1", "root"]


def test_a_start_that_is_not_stored_has_no_thread_under_either_rule():
    rows = [Row("m1", "m0"), Row("m0", None)]
    assert extract_thread_messages(rows, start="gone") == []
    assert extract_thread_messages(rows, start="gone", rule="observed") == []


def test_a_parent_that_is_newer_than_its_child_is_looked_up_by_scoped_and_missed_by_observed():
    rows = [Row("m1", "m0"), Row("m2", "m1"), Row("m0", None)]  # the clock was set back before m2
    assert ids(extract_thread_messages(rows, start="m2")) == ["m2", "m1", "m0"]
    assert ids(extract_thread_messages(rows, start="m2", rule="observed")) == ["m2", "m0"]


def test_a_cycle_of_pointers_ends_the_thread_with_each_row_once():
    rows = [Row("m2", "m1"), Row("m1", "m2"), Row("m0", None)]
    assert ids(extract_thread_messages(rows)) == ["m2", "m1"]
    assert ids(extract_thread_messages([Row("m0", "m0")])) == ["m0"]


def test_the_sentinel_as_start_means_the_newest_row():
    assert ids(extract_thread_messages([Row("m1", "m0"), Row("m0", None)], start=NIL)) == ["m1", "m0"]


def test_without_branches_every_row_is_the_thread():
    rows = [Row("m2", None), Row("m1", "gone"), Row("m0", NIL)]
    assert ids(extract_thread_messages(rows, rule="linear")) == ["m2", "m1", "m0"]


def test_no_row_after_the_root_is_read():
    rows = iter([Row("m2", "m1"), Row("m1", None), Row("m0", None)])
    assert ids(walk_thread(rows)) == ["m2", "m1"]
    assert next(rows).id == "m0"


@pytest.mark.parametrize(
    ("limit", "rows"), [(None, 500), (0, 500), (-3, 500), (1, 1), (499, 499), (500, 500), (501, 500)]
)
def test_a_message_limit_stands_for_at_most_500_rows(limit, rows):
    assert row_limit(limit) == rows


@pytest.mark.parametrize("page_size", [1, 2, 3, 7, 8])
def test_turns_are_read_in_pages_without_gap_or_repetition(page_size):
    rows = Rows([turn(f"m{number}", NIL) for number in range(7)])
    assert ids(stored_turns(rows, "c", page_size=page_size)) == [f"m{number}" for number in reversed(range(7))]
    assert rows.pages == 7 // page_size + 1


def test_a_dialogue_is_counted_over_more_turns_than_any_limit():
    rows = Rows([turn(f"m{number}", f"m{number - 1}" if number else None) for number in range(1203)])
    assert get_thread_messages_length("c", rows=rows) == 1203
    assert rows.pages == 3


@pytest.mark.parametrize(("answer", "length"), [("", 1), ("yes", 2)])
def test_a_newest_turn_without_an_answer_does_not_count(answer, length):
    assert get_thread_messages_length("c", rows=Rows([turn("a", None), turn("b", "a", answer)])) == length


def test_an_unknown_conversation_has_no_turns():
    assert get_thread_messages_length("other", rows=Rows([turn("a", None)])) == 0


def test_an_id_alone_reads_from_the_configured_rows():
    use_turn_rows(Rows([turn("a", None), turn("b", "a")]))
    try:
        assert get_thread_messages_length("c") == 2
    finally:
        use_turn_rows(None)
    with pytest.raises(SettingsError, match="use_turn_rows"):
        get_thread_messages_length("c")
