"""Turns kept in memory."""

from datetime import timedelta

import pytest

from mnemoir.conversations.turns.threads import NIL, get_thread_messages_length, stored_turns
from mnemoir.conversations.turns.turns import TurnLog
from mnemoir.core.errors import InvalidRequest
from tests.conversations.chats import NOON, attachment, line, turn


def ids(turns):
    return [turn.id for turn in turns]


def test_pages_are_newest_first_and_join_without_a_gap():
    log = TurnLog(line(7))
    assert ids(log.newest_first("c", limit=3)) == ["t6", "t5", "t4"]
    assert ids(stored_turns(log, "c", page_size=3)) == [f"t{seq}" for seq in range(6, -1, -1)]
    assert log.newest_first("another", limit=3) == []


def test_turns_of_one_instant_keep_the_order_in_which_they_were_stored():
    log = TurnLog(clock=lambda: NOON)
    stored = [log.add("c", str(at), "yes", parent=NIL) for at in range(5)]
    assert list(stored_turns(log, "c", page_size=2)) == stored[::-1]


def test_a_clock_set_back_reorders_nothing_and_loses_no_turn():
    times = iter([NOON, NOON - timedelta(hours=1), NOON])
    log = TurnLog(clock=lambda: next(times))
    first = log.add("c", "first", "yes", parent=None)
    second = log.add("c", "second", "yes", parent=first.id)
    third = log.add("c", "third", "yes", parent=second.id)
    assert list(stored_turns(log, "c", page_size=1)) == [third, second, first]
    assert get_thread_messages_length("c", rows=log) == 3


def test_a_parent_must_be_a_turn_of_the_conversation():
    log = TurnLog()
    root = log.add("c", "hello", "hi", parent="")
    assert root.parent_message_id is None
    assert log.add("c", "and", parent=root.id).parent_message_id == root.id
    assert log.add("c", "so", parent=NIL).parent_message_id == NIL
    with pytest.raises(InvalidRequest, match="answer-placeholder-1"):
        log.add("c", "then", parent="answer-placeholder-1")
    with pytest.raises(InvalidRequest):
        log.add("another", "then", parent=root.id)
    assert get_thread_messages_length("c", rows=log) == 2


def test_attachments_come_by_turn_in_their_order():
    files = [attachment("t1", "b.png"), attachment("t0", "x.png"), attachment("t1", "a.png")]
    assert TurnLog(line(3), attachments=files).attachments(["t1", "t2"]) == {"t1": [files[0], files[2]]}


def test_features_are_those_of_the_run():
    log = TurnLog([turn(0)], features={"run": {"file_upload": {"enabled": True}}})
    assert log.run_features("run") == {"file_upload": {"enabled": True}}
    assert log.run_features("gone") is None
