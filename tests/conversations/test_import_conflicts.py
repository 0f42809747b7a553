"""Imports of existing sessions: skipped, renamed, replaced or merged; and a dry run of each."""

import pytest

from mnemoir.conversations import MemoryManager, Message
from mnemoir.conversations.transfer import SkippedSession, import_sessions
from mnemoir.conversations.transfer.copies import InvalidImport
from mnemoir.conversations.transfer.same_ids import TWICE_WHY
from tests.conversations.transfer_kit import HELLO, all_of, lines, said, texts, tree


@pytest.fixture
def store(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as manager:
        yield manager


def test_an_existing_session_is_skipped_by_default(store):
    store.save_message("s", Message("user", "mine"))
    report = import_sessions(store, lines(*HELLO) + lines(*HELLO, id="t"))
    assert report.ids == ["t"]
    assert report.skipped == [SkippedSession(id="s", title="", why="exists")]
    assert (texts(store), texts(store, "t")) == (["mine"], ["hi", "hello"])


def test_an_existing_session_keeps_its_id_and_the_other_gets_a_new_one(store):
    store.save_message("s", Message("user", "mine"))
    file = lines(*HELLO)
    assert import_sessions(store, file, on_conflict="rename").ids == ["s-2"]
    assert import_sessions(store, file + file, on_conflict="rename").ids == ["s-3", "s-4"]
    assert (texts(store), texts(store, "s-4")) == (["mine"], ["hi", "hello"])
    long = lines(id="x" * 512)
    import_sessions(store, long)
    assert import_sessions(store, long, on_conflict="rename").ids == ["x" * 500 + "-2"]


@pytest.mark.parametrize("policy", ["skip", "replace"])
def test_sessions_of_one_file_with_the_same_id_and_other_words_are_all_stored(store, policy):
    file = lines(*HELLO) + lines(said("user", "other")) + lines(id="s-2") + lines(*HELLO, title="Again")
    twice = SkippedSession(id="s", title="Again", why=TWICE_WHY)
    trial = import_sessions(store, file, on_conflict=policy, dry_run=True)
    report = import_sessions(store, file, on_conflict=policy)
    assert report == trial
    assert (report.ids, report.skipped) == (["s", "s-3", "s-2"], [twice])
    assert (texts(store), texts(store, "s-3")) == (["hi", "hello"], ["other"])
    again = import_sessions(store, file, on_conflict="skip")
    assert [(one.id, one.why) for one in again.skipped] == [
        ("s", "exists"),
        ("s-3", "exists"),
        ("s-2", "exists"),
        ("s", TWICE_WHY),
    ]


def test_an_existing_session_is_replaced_completely(store):
    store.create_session("old", {"title": "old"}, "s")
    store.save_message("s", Message("user", "mine"))
    report = import_sessions(store, lines(*HELLO, title="new", system_prompt="new"), on_conflict="replace")
    assert (report.ids, report.messages) == (["s"], 2)
    session = store.get_session("s")
    assert (session.system_prompt, session.metadata.title, session.metadata.custom) == ("new", "new", {})
    assert texts(store) == ["hi", "hello"]
    assert len(store.list_sessions()) == 1


def test_merging_adds_what_is_new_and_goes_on_along_the_thread(store):
    import_sessions(store, lines(*HELLO))
    first = store.storage.message_tree("s", 10)
    more = [*HELLO, said("user", "more"), said("assistant", "good")]
    report = import_sessions(store, lines(*more, title="other"), on_conflict="merge")
    assert (report.ids, report.messages) == (["s"], 2)
    assert store.storage.message_tree("s", 10)[:2] == first
    assert texts(store) == ["hi", "hello", "more", "good"]
    assert store.get_session("s").metadata.title is None
    assert import_sessions(store, lines(*more), on_conflict="merge").messages == 0
    assert import_sessions(store, lines(*HELLO), on_conflict="merge").messages == 0
    assert texts(store) == ["hi", "hello", "more", "good"]


def test_merging_a_branch_stays_on_the_one_in_use(store):
    store.append_messages("s", [Message("user", "hi"), Message("assistant", "hello"), Message("user", "mine")])
    theirs = [*HELLO, said("user", "theirs"), said("assistant", "hello again", parent_id=1)]
    assert import_sessions(store, lines(*theirs), on_conflict="merge").messages == 2
    assert texts(store) == ["hi", "hello", "mine"]
    assert tree(store)[3:] == [("theirs", "hello"), ("hello again", "hi")]


def test_equal_siblings_are_merged_one_by_one(store):
    twice = [said("user", "hi"), said("assistant", "yes"), said("assistant", "yes", parent_id=1)]
    import_sessions(store, lines(*twice[:2]))
    assert import_sessions(store, lines(*twice), on_conflict="merge").messages == 1
    assert import_sessions(store, lines(*twice), on_conflict="merge").messages == 0
    assert tree(store) == [("hi", None), ("yes", "hi"), ("yes", "hi")]


@pytest.mark.parametrize("on_conflict", ["skip", "rename", "replace", "merge"])
def test_a_dry_run_reports_the_result_and_changes_nothing(store, on_conflict):
    store.append_messages("s", [Message("user", "hi")])
    before = all_of(store)
    file = lines(*HELLO) + lines(*HELLO, id="t")
    tried = import_sessions(store, file, on_conflict=on_conflict, dry_run=True)
    assert all_of(store) == before
    assert import_sessions(store, file, on_conflict=on_conflict) == tried


def test_a_dry_run_finds_the_same_errors(store):
    with pytest.raises(InvalidImport, match="Line 2"):
        import_sessions(store, lines({}), dry_run=True)
