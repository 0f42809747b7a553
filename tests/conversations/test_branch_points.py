"""Where a tree of messages forks: what stands beside a message, where its branches end, and places that are named."""

import pytest

from mnemoir.conversations import MemoryManager, Message
from mnemoir.core.conversations import ROOT, MessageNotFoundError
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.session_kit import said, texts
from tests.narrowing import instance


@pytest.fixture
def storage(tmp_path):
    with MemoryStorage(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def tree(storage):
    """q with the answers a1, gone on from twice, and a2; beside q another beginning."""
    [q] = storage.append_messages("s", [said("q")])
    [a1] = storage.append_messages("s", [said("a1", role="assistant")], parent_id=q)
    [more] = storage.append_messages("s", [said("more")], parent_id=a1)
    [a2] = storage.append_messages("s", [said("a2", role="assistant")], parent_id=q)
    [other] = storage.append_messages("s", [said("other")], parent_id=a1)
    [anew] = storage.append_messages("s", [said("anew")], parent_id=ROOT)
    return {"q": q, "a1": a1, "more": more, "a2": a2, "other": other, "anew": anew}


def test_all_that_stands_behind_a_message_is_told_whatever_the_thread_is(storage, tree):
    asked = [ROOT, tree["q"], tree["a1"], tree["anew"], 10**15]
    assert storage.children("s", asked) == {
        ROOT: [tree["q"], tree["anew"]],
        tree["q"]: [tree["a1"], tree["a2"]],
        tree["a1"]: [tree["more"], tree["other"]],
        tree["anew"]: [],
        10**15: [],
    }
    assert storage.children("another session", [ROOT, tree["q"]]) == {ROOT: [], tree["q"]: []}


@pytest.mark.parametrize(("begin", "end"), [("q", "other"), ("a1", "other"), ("more", "more"), ("a2", "a2")])
def test_a_branch_ends_with_its_newest_message(storage, tree, begin, end):
    assert storage.newest_end("s", tree[begin]) == tree[end]


def test_the_way_to_a_message_is_read_whatever_the_thread_is(storage, tree):
    way = storage.way_to("s", tree["other"], 10)
    assert [stored.message.text for stored in way] == ["other", "a1", "q"]
    assert [stored.id for stored in storage.way_to("s", tree["other"], 2)] == [tree["other"], tree["a1"]]
    assert storage.way_to("another session", tree["other"], 10) == []


def test_messages_without_a_parent_have_their_branch_points_too(storage):
    ids = storage.save_messages([said("one"), said("two")])
    assert storage.children("s", [ROOT, *ids]) == {ROOT: [ids[0]], ids[0]: [ids[1]], ids[1]: []}
    assert storage.newest_end("s", ids[0]) == ids[1]


def test_a_history_stands_right_behind_the_message_that_is_named(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as manager:
        talk = [Message("user", "q"), Message("assistant", "a"), Message("user", "q")]
        first, answer, _ = manager.resume_history("s", talk, parent_id=ROOT).ids
        again = manager.resume_history("s", [Message("user", "q")], parent_id=ROOT)
        assert (again.ids, again.added) == ([first], [])
        assert texts(instance(MemoryStorage, manager.storage)) == ["q"]
        added = manager.resume_history("s", [Message("user", "other")], parent_id=answer)
        assert (added.added, added.parent_id) == (added.ids, answer)
        assert texts(instance(MemoryStorage, manager.storage)) == ["q", "a", "other"]


def test_a_place_that_is_none_changes_nothing(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as manager:
        [foreign] = manager.append_messages("t", [Message("user", "q")])
        for parent_id in (foreign, 10**15):
            with pytest.raises(MessageNotFoundError):
                manager.resume_history("s", [Message("user", "q")], parent_id=parent_id)
        assert not manager.session_exists("s")
