"""Messages are a tree: any of them can be gone on from, and what is read is the way to the head."""

import asyncio
from datetime import timedelta

import pytest

from mnemoir.conversations import MemoryManager, Message, SessionExistsError, SessionMetadata, Summary
from mnemoir.core.conversations import ROOT, MediaPart, MessageNotFoundError, TextPart, ToolCall
from mnemoir.core.errors import InvalidRequest
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations import search_kit
from tests.conversations.session_kit import NOON, Hands, assistant, behind_the_back, said, texts, user
from tests.narrowing import present

NAIVE_NOON = NOON.replace(tzinfo=None)


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def storage(tmp_path, clock):
    with MemoryStorage(tmp_path / "memory.db", clock=clock) as opened:
        yield opened


@pytest.fixture
def manager(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def branched(storage):
    """Two answers to one question: a1 on the thread with what follows it, a2 beside it."""
    [question] = storage.append_messages("s", [said("q")])
    [second] = storage.append_messages("s", [said("a2", role="assistant")])
    first, follow_up = storage.append_messages("s", [said("a1", role="assistant"), said("more")], parent_id=question)
    return {"q": question, "a1": first, "a2": second, "more": follow_up}


def shape(storage: MemoryStorage, session_id: str = "s") -> list[tuple[int, int | None, bool]]:
    return [(one.id, one.parent_id, one.is_on_thread) for one in storage.message_tree(session_id, 100)]


def test_what_is_saved_stands_behind_what_was_saved_before(storage):
    one, two = storage.save_messages([said("one"), said("two")])
    [three] = storage.append_messages("s", [said("three")])
    assert shape(storage) == [(one, ROOT, True), (two, one, True), (three, two, True)]
    assert storage.get_session("s").head == three
    assert storage.append_messages("s", []) == []


def test_another_answer_stands_beside_the_one_before(storage, branched):
    assert texts(storage) == ["q", "a1", "more"]
    assert shape(storage) == [
        (branched["q"], ROOT, True),
        (branched["a2"], branched["q"], False),
        (branched["a1"], branched["q"], True),
        (branched["more"], branched["a1"], True),
    ]


def test_the_head_can_be_moved_to_any_branch_and_back(storage, branched):
    assert storage.set_head("s", branched["a2"])
    assert (texts(storage), storage.get_session("s").head) == (["q", "a2"], branched["a2"])
    assert storage.set_head("s", branched["q"])
    assert texts(storage) == ["q"]
    assert storage.set_head("s", branched["more"])
    assert texts(storage) == ["q", "a1", "more"]


@pytest.mark.parametrize("message_id", [ROOT, 999, -1, 2**70])
def test_a_head_that_is_no_message_of_the_session_is_refused(storage, branched, message_id):
    assert not storage.set_head("s", message_id)
    assert not storage.set_head("unknown", branched["q"])
    assert storage.messages_by_id([message_id]) == {}
    assert not storage.set_pinned(message_id, True)
    assert storage.thread_messages("s", 9, before=message_id or 999) == []
    assert storage.message_tree("s", 9, after=max(999, message_id)) == []
    assert storage.get_session("s").head == branched["more"]
    assert storage.get_session("unknown") is None


def test_a_parent_that_is_no_message_of_the_session_is_refused(storage, branched):
    other = storage.save_message(said("x", session_id="t"))
    for session_id, parent in (("s", 999), ("s", -1), ("s", 2**70), ("s", other), ("new", branched["q"])):
        with pytest.raises(MessageNotFoundError, match="has no message"):
            storage.append_messages(session_id, [said("y")], parent_id=parent)
    assert storage.get_session("new") is None
    assert texts(storage) == ["q", "a1", "more"]


def test_a_thread_can_begin_anew(storage, branched):
    [new] = storage.append_messages("s", [said("other")], parent_id=ROOT)
    assert texts(storage) == ["other"]
    assert shape(storage)[-1] == (new, ROOT, True)
    assert [on for *_, on in shape(storage)] == [False] * 4 + [True]


def test_windows_counts_pins_and_scores_see_the_thread_and_search_sees_all(storage, branched):
    storage.set_pinned(branched["a2"], True)
    storage.set_importance({branched["a2"]: 0.9, branched["a1"]: 0.8})
    assert storage.get_message_count("s") == 3
    assert [one.message.text for one in storage.newest_messages("s", 9)] == ["more", "a1", "q"]
    assert [one.message.text for one in storage.messages_between("s", None, None, 9)] == ["q", "a1", "more"]
    assert [one.id for one in storage.important_messages("s", 0.5)] == [branched["a1"]]
    assert [one.id for one in storage.unscored_messages("s", 9)] == [branched["q"], branched["more"]]
    assert len(storage.unembedded_messages("m", 9)) == 4
    assert not storage.messages_by_id([branched["a2"]])[branched["a2"]].is_on_thread


def test_a_deletion_takes_all_branches(storage, branched, clock):
    storage.append_messages("t", [said("x", session_id="t")])
    assert storage.clear_messages("s") == 4
    assert (shape(storage), storage.get_session("s").head) == ([], None)
    storage.append_messages("s", [said("again")])
    storage.append_messages("s", [said("beside")], parent_id=ROOT)
    assert storage.delete_session("s")
    clock.turn(days=1)
    assert storage.prune_old_sessions(0) == 1
    with behind_the_back(storage.db_path) as file:
        assert file.execute("SELECT count(*) FROM messages").get == 0


def test_a_question_begins_a_turn_and_what_follows_belongs_to_it(storage):
    ids = storage.save_messages([said("q"), said("", role="assistant"), said("r", role="tool"), said("q2")])
    [other] = storage.append_messages("s", [said("a", role="assistant")], parent_id=ids[2])
    [named] = storage.append_messages("s", [said("q3", turn_id="given")])
    [last] = storage.append_messages("s", [said("a3", role="assistant")])
    turns = {one.id: one.turn_id for one in storage.message_tree("s", 99)}
    assert turns[ids[0]] == turns[ids[1]] == turns[ids[2]] == turns[other]
    assert turns[ids[3]] not in (None, turns[ids[0]])
    assert turns[named] == turns[last] == "given"


def test_a_clock_that_is_set_back_makes_no_child_older_than_its_parent(storage, clock):
    [question] = storage.append_messages("s", [said("q")])
    clock.turn(hours=-1)
    storage.append_messages("s", [said("a", role="assistant")])
    storage.append_messages(
        "s", [said("b", role="assistant", created_at=NOON - timedelta(days=9))], parent_id=question
    )
    assert [one.created_at for one in storage.message_tree("s", 9)] == [NAIVE_NOON] * 3
    assert texts(storage) == ["q", "b"]


def test_a_message_with_a_time_of_its_own_is_let_in_where_it_belongs(storage):
    first, last = storage.save_messages([said("one"), said("three", created_at=NOON + timedelta(hours=2))])
    [beside] = storage.append_messages("s", [said("x")], parent_id=first)
    storage.set_head("s", last)
    between = storage.save_message(said("two", created_at=NOON + timedelta(hours=1)))
    assert texts(storage) == ["one", "two", "three"]
    assert shape(storage) == [
        (first, ROOT, True),
        (last, between, True),
        (beside, first, False),
        (between, first, True),
    ]


def test_a_record_can_name_its_parent(storage, branched):
    new = storage.save_message(said("a3", role="assistant", parent_id=branched["q"]))
    assert (texts(storage), storage.get_session("s").head) == (["q", "a3"], new)


def summarised(storage: MemoryStorage, upto: int) -> bool:
    claim = present(storage.claim_summary("s", 60))
    return storage.put_summary("s", claim, Summary(upto_message_id=upto, text="x", token_count=1, model="m"))


def test_a_summary_of_what_left_the_thread_is_dropped(storage, branched):
    assert summarised(storage, branched["a1"])
    storage.set_head("s", branched["a1"])
    assert storage.get_summary("s") is not None
    storage.set_head("s", branched["a2"])
    assert storage.get_summary("s") is None
    assert not summarised(storage, branched["a1"])
    assert summarised(storage, branched["q"])
    storage.set_head("s", branched["more"])
    assert storage.get_summary("s").upto_message_id == branched["q"]


def test_a_mark_that_left_the_thread_counts_as_what_it_hangs_on(storage, branched):
    storage.set_head("s", branched["a1"])
    assert storage.mark_context("s") == branched["a1"]
    storage.append_messages("s", [said("b")])
    storage.set_head("s", branched["a2"])
    assert storage.get_session("s").context_after == branched["q"]
    assert [one.message.text for one in storage.newest_messages("s", 9)] == ["a2"]
    storage.append_messages("s", [said("elsewhere")], parent_id=ROOT)
    assert storage.get_session("s").context_after is None
    assert [one.message.text for one in storage.newest_messages("s", 9)] == ["elsewhere"]
    storage.set_head("s", branched["more"])
    assert storage.get_session("s").context_after == branched["a1"]
    assert [one.message.text for one in storage.newest_messages("s", 9)] == ["more"]
    assert [one.message.text for one in storage.thread_messages("s", 2)] == ["more", "a1"]
    assert storage.mark_context("s") == branched["more"]
    assert storage.newest_messages("s", 9) == []


def test_the_thread_and_the_tree_are_read_in_pages_behind_damaged_rows(storage):
    ids = storage.save_messages([said(str(number)) for number in range(6)])
    storage.append_messages("s", [said("beside")], parent_id=ids[0])
    storage.set_head("s", ids[5])
    with behind_the_back(storage.db_path) as file:
        file.execute("UPDATE messages SET role = '?' WHERE id IN (3, 4)")
    thread, before = [], None
    while page := storage.thread_messages("s", 2, before=before):
        thread += [one.message.text for one in page]
        before = page[-1].id
    assert thread == ["5", "4", "1", "0"]
    tree, after = [], 0
    while page := storage.message_tree("s", 2, after=after):
        tree += [one.message.text for one in page]
        after = page[-1].id
    assert tree == ["0", "1", "4", "5", "beside"]
    assert storage.message_tree("unknown", 9) == storage.thread_messages("unknown", 9) == []


def test_a_copy_of_a_branch_is_a_session_of_its_own(manager):
    picture = MediaPart(type="image", url="https://example.org/a.png", mime_type="image/png")
    about = SessionMetadata(user="mira", title="Trip", custom={"keep": True})
    manager.create_session("be kind", about, "s")
    call = ToolCall("c", "look", {"at": "map"})
    history = [
        Message("user", [picture, TextPart("q")]),
        assistant(None, call),
        Message("tool", "r", None, "c", "look"),
    ]
    ids = manager.append_messages("s", history, run_id="run", finish_reason="tool_calls")
    manager.pin_message(ids[0])
    manager.clear_context("s")
    manager.append_messages("s", [user("elsewhere")], parent_id=ROOT)
    new = manager.branch_session("s", ids[1])
    record = manager.get_session(new)
    assert (record.system_prompt, record.metadata.title, record.context_after) == ("be kind", "Trip", None)
    assert record.metadata.custom == {"keep": True, "branched_from": {"session_id": "s", "message_id": ids[1]}}
    copies, originals = manager.storage.message_tree(new, 9), [manager.get_message("s", one) for one in ids[:2]]
    assert [one.message for one in copies] == history[:2]
    assert [one.parent_id for one in copies] == [ROOT, copies[0].id]
    assert all(one.is_on_thread and one.id > max(ids) for one in copies)
    for name in ("created_at", "turn_id", "pinned", "run_id", "finish_reason"):
        assert [getattr(one, name) for one in copies] == [getattr(one, name) for one in originals]
    assert [one.finish_reason for one in copies] == [None, "tool_calls"]
    manager.append_messages(new, [user("on")])
    assert manager.delete_session("s")
    assert [one.text for one in manager.load_session(new)] == ["q", "", "on"]


def test_a_copy_that_cannot_be_made_leaves_nothing(manager):
    [message_id] = manager.append_messages("s", [user("q")])
    manager.create_session("", session_id="taken")
    with pytest.raises(SessionExistsError):
        manager.branch_session("s", message_id, "taken")
    for session_id, wrong in (("s", 999), ("s", ROOT), ("unknown", message_id), ("taken", message_id)):
        with pytest.raises(MessageNotFoundError):
            manager.branch_session(session_id, wrong, "new")
    with pytest.raises(InvalidRequest):
        manager.branch_session("s", message_id, "line\nbreak")
    assert not manager.session_exists("new")
    named = manager.branch_session("s", message_id, "new", {"title": "Copy"})
    assert (named, manager.get_session("new").metadata.title) == ("new", "Copy")


def test_a_session_is_changed_in_parts(manager):
    manager.create_session("be kind", {"title": "Trip"}, "s")
    assert manager.update_session("s", system_prompt="be brief")
    assert manager.update_session("s", metadata={"title": "Journey"})
    record = manager.get_session("s")
    assert (record.system_prompt, record.metadata.title) == ("be brief", "Journey")
    assert not manager.update_session("unknown", system_prompt="x")


def test_a_message_is_found_in_its_own_session_only(manager):
    [message_id] = manager.append_messages("s", [user("q")])
    assert manager.get_message("s", message_id).message == user("q")
    assert manager.get_message("t", message_id) is manager.get_message("s", 999) is None


def pages(storage: MemoryStorage, size: int) -> list[str]:
    found, before = [], None
    while page := storage.sessions_page(size, before=before):
        found += [one.id for one in page]
        before = (page[-1].updated_at, page[-1].id)
    return found


def test_sessions_are_paged_newest_activity_first_each_once(storage, clock):
    for number in range(7):
        storage.create_session(f"s{number}", "")
        clock.turn(minutes=number % 2)
    assert pages(storage, 2) == pages(storage, 100) == [one.id for one in storage.list_sessions(100)]
    assert storage.sessions_page(0) == []


def test_a_page_of_sessions_goes_on_where_the_last_one_ended_whatever_is_used_meanwhile(storage, clock):
    for name in "abcd":
        clock.turn(minutes=1)
        storage.create_session(name, "")
    page = storage.sessions_page(2)
    clock.turn(minutes=1)
    storage.save_message(said("hi", session_id="c"))
    following = storage.sessions_page(9, before=(page[-1].updated_at, page[-1].id))
    assert ([one.id for one in page], [one.id for one in following]) == (["d", "c"], ["b", "a"])


def test_sessions_with_times_of_another_form_are_paged_once_each(storage):
    for name in "abcd":
        storage.create_session(name, "")
    with behind_the_back(storage.db_path) as file:
        file.execute("UPDATE sessions SET updated_at = '2025-01-02T03:04:05' WHERE id IN ('a', 'b')")
        file.execute("UPDATE sessions SET updated_at = 'never' WHERE id = 'c'")
    assert pages(storage, 1) == ["c", "d", "b", "a"]


async def test_search_finds_all_branches_and_copies(tmp_path):
    with search_kit.manager(tmp_path, search_kit.WordsClient()) as manager:
        [question] = await asyncio.to_thread(manager.append_messages, "s", [user("where is the train")])
        answers = [assistant("the train is red"), assistant("the train is late")]
        for answer in answers:
            await asyncio.to_thread(manager.append_messages, "s", [answer], parent_id=question)
        copy = await asyncio.to_thread(manager.branch_session, "s", question)
        found = {(hit.session_id, hit.message.text) for hit in await manager.search("train", 9)}
        everywhere = {(one, "where is the train") for one in ("s", copy)}
        assert found == everywhere | {("s", answer.text) for answer in answers}
        assert manager.storage.vector_counts() == {"embedded": 4}
