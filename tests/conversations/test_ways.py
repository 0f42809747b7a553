"""Ways through a tree of messages: what stands before one and behind it, branches in short, stretches of a thread."""

import pytest

from mnemoir.conversations import MemoryManager, Message
from mnemoir.core.branches import BranchRun, in_tree_order
from mnemoir.core.conversations import ROOT
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.session_kit import said


@pytest.fixture
def storage(tmp_path):
    with MemoryStorage(tmp_path / "memory.db") as opened:
        yield opened


def line(storage, *texts, behind=None, session="s"):
    """Messages one behind the other; their ids."""
    return storage.append_messages(session, [said(text) for text in texts], parent_id=behind)


@pytest.fixture
def forked(storage):
    """a ─ b ─ c ─ d, and b ─ x ─ y beside c; the thread ends with d."""
    a, b, c, d = line(storage, *"abcd")
    x, y = line(storage, *"xy", behind=b)
    storage.set_head("s", d)
    return {"a": a, "b": b, "c": c, "d": d, "x": x, "y": y}


def words(messages):
    return [stored.message.text for stored in messages]


@pytest.mark.parametrize(("at", "before"), [("d", "cba"), ("y", "xba"), ("a", "")])
def test_what_stands_before_a_message_is_of_its_branch(storage, forked, at, before):
    assert words(storage.way_before("s", forked[at], 10)) == list(before)
    assert words(storage.way_before("s", forked[at], 1)) == list(before[:1])


@pytest.mark.parametrize(("at", "behind"), [("a", "bcd"), ("b", "cd"), ("x", "y"), ("d", ""), ("y", "")])
def test_what_stands_behind_a_message_is_the_thread_or_the_newest_branch(storage, forked, at, behind):
    assert words(storage.way_behind("s", forked[at], 10)) == list(behind)
    assert words(storage.way_behind("s", forked[at], 1)) == list(behind[:1])


def test_a_way_follows_the_thread_where_that_leads_elsewhere(storage, forked):
    storage.set_head("s", forked["x"])
    assert words(storage.way_behind("s", ROOT, 10)) == list("abx")
    assert words(storage.way_behind("s", forked["c"], 10)) == ["d"]
    assert words(storage.way_behind("s", forked["x"], 10)) == [], "the thread ends there"


def test_nothing_stands_beside_a_message_of_another_session(storage, forked):
    line(storage, "z", session="t")
    assert storage.way_before("t", forked["d"], 10) == []
    assert storage.way_behind("t", forked["a"], 10) == []
    assert storage.way_behind("nobody's", ROOT, 10) == []
    assert storage.place_on_thread("t", forked["a"]) is None


def test_messages_of_the_thread_know_their_place(storage, forked):
    assert [storage.place_on_thread("s", forked[at]) for at in "abcdxy"] == [0, 1, 2, 3, None, None]
    assert storage.place_on_thread("s", 10**15) is None


def test_damaged_messages_end_no_way(storage, tmp_path, forked):
    storage._file.write(lambda sql: sql.run("UPDATE messages SET role = 'x' WHERE id = :id", id=forked["c"]))
    assert words(storage.way_before("s", forked["d"], 1)) == ["b"]
    assert words(storage.way_behind("s", forked["b"], 1)) == ["d"]


def test_messages_without_a_parent_have_their_ways_too(storage):
    first, second = storage.save_messages([said("one"), said("two")])
    assert words(storage.way_behind("s", ROOT, 5)) == ["one", "two"]
    assert words(storage.way_before("s", second, 5)) == ["one"]
    assert [(run.first, run.last, run.messages) for run in storage.branch_runs("s")] == [(first, second, 2)]


def test_a_tree_is_told_in_runs_without_a_choice(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as manager:
        a, b, c, d = manager.append_messages("s", [Message("user", text) for text in "abcd"])
        x, y = manager.append_messages("s", [Message("user", text) for text in "xy"], parent_id=b)
        (other,) = manager.append_messages("s", [Message("user", "anew")], parent_id=ROOT)
        manager.set_head("s", c)
        told = [
            (one.run.first, one.run.last, one.run.messages, one.depth, one.place, one.of, one.run.ends_on_thread)
            for one in in_tree_order(manager.storage.branch_runs("s"))
        ]
        assert told == [
            (a, b, 2, 0, 1, 2, True),
            (c, d, 2, 1, 1, 2, False),
            (x, y, 2, 1, 2, 2, False),
            (other, other, 1, 0, 2, 2, False),
        ]
        assert [one.run.on_thread for one in in_tree_order(manager.storage.branch_runs("s"))] == [
            True,
            True,
            False,
            False,
        ]
        assert in_tree_order(manager.storage.branch_runs("nobody's")) == []


@pytest.mark.slow
def test_a_deep_tree_is_walked_without_recursion():
    runs = [
        BranchRun(
            first=first, last=first, parent_id=max(0, left - 2), messages=1, on_thread=True, ends_on_thread=True
        )
        for left in range(1, 40_000, 2)
        for first in (left, left + 1)
    ]
    told = in_tree_order(runs)
    assert len(told) == 40_000
    assert max(one.depth for one in told) == 19_999


def test_a_thread_is_cut_around_messages_and_behind_others(storage, forked):
    a, b, c, d = (forked[at] for at in "abcd")
    storage.set_pinned(a, True)
    told = storage.thread_stretches("s", [c, forked["x"]], [a], 0.6)
    assert [(one.first, one.last, one.messages, one.apart_messages) for one in told] == [
        (a, a, 1, 1),
        (b, b, 1, 0),
        (c, c, 1, 0),
        (d, d, 1, 0),
    ]
    (whole,) = storage.thread_stretches("s", [], [10**15], 0.6)
    assert (whole.first, whole.last, whole.messages, whole.apart_messages) == (a, d, 4, 1)
    assert storage.thread_stretches("nobody's", [a], [b], 0.6) == []


def test_what_is_apart_is_counted_in_both(storage):
    ids = line(storage, "x" * 400, "y" * 400, "z" * 400)
    storage.set_importance({ids[1]: 0.7, ids[2]: 0.5})
    (told,) = storage.thread_stretches("s", [], [], 0.6)
    assert (told.tokens, told.apart_messages, told.apart_tokens) == (300, 1, 100)
