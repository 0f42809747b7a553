"""A client that sends its whole history again adds only what is new, and a changed message begins a branch."""

import threading

import pytest

from mnemoir.conversations import MemoryManager, Message
from mnemoir.conversations.history_digest import PASSED_OVER, message_digest
from mnemoir.conversations.log.message_rows import record_of
from mnemoir.core.conversations import ROOT, MediaPart, MessageRecord, TextPart, ToolCall
from tests.conversations.session_kit import assistant, behind_the_back, user

Q1, A1, Q2, A2, Q3 = user("q1"), assistant("a1"), user("q2"), assistant("a2"), user("q3")
TALK = [Q1, A1, Q2, A2]


@pytest.fixture
def manager(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def ids(manager):
    """Those of the talk, as it was said turn by turn."""
    found: list[int] = []
    for question, answer in ((Q1, A1), (Q2, A2)):
        found += manager.append_messages("s", [question])
        found += manager.append_messages("s", [answer], parent_id=found[-1])
    return found


def thread(manager: MemoryManager, session_id: str = "s") -> list[str]:
    return [message.text for message in manager.load_session(session_id)]


def size(manager: MemoryManager) -> int:
    return len(manager.storage.message_tree("s", 10_000))


def test_a_first_history_makes_the_session(manager):
    resumed = manager.resume_history("s", [Message("system", "x"), Q1], system_prompt="be kind", run_id="run")
    assert (resumed.added, resumed.parent_id, len(resumed.ids)) == (resumed.ids, ROOT, 1)
    assert (thread(manager), manager.get_session("s").system_prompt) == (["q1"], "be kind")
    assert manager.get_message("s", resumed.ids[0]).run_id == "run"


def test_a_whole_history_adds_its_new_question(manager, ids):
    resumed = manager.resume_history("s", [*TALK, Q3])
    assert (resumed.ids[:4], resumed.ids[4:], resumed.parent_id) == (ids, resumed.added, ids[-1])
    assert thread(manager) == ["q1", "a1", "q2", "a2", "q3"]


def test_a_history_that_is_there_adds_nothing_and_its_end_is_the_head(manager, ids):
    for length in (4, 3, 2, 1, 4):
        if length == 1:
            continue  # a lone question is another rule's
        resumed = manager.resume_history("s", TALK[:length])
        assert (resumed.ids, resumed.added) == (ids[:length], [])
        assert manager.get_session("s").head == ids[length - 1]
    assert size(manager) == 4


def test_an_answer_is_regenerated_beside_the_one_before(manager, ids):
    resumed = manager.resume_history("s", TALK[:3])
    assert (resumed.added, resumed.ids[-1], resumed.parent_id) == ([], ids[2], ids[2])
    manager.append_messages("s", [assistant("a2 again")], parent_id=resumed.ids[-1])
    assert thread(manager) == ["q1", "a1", "q2", "a2 again"]
    manager.resume_history("s", [*TALK, Q3])
    assert thread(manager) == ["q1", "a1", "q2", "a2", "q3"]
    assert size(manager) == 6


def test_a_changed_question_begins_a_branch(manager, ids):
    resumed = manager.resume_history("s", [Q1, A1, user("other")])
    assert (resumed.ids[:2], resumed.parent_id) == (ids[:2], ids[1])
    assert thread(manager) == ["q1", "a1", "other"]


def test_a_changed_answer_takes_what_follows_it_to_its_branch(manager, ids):
    resumed = manager.resume_history("s", [Q1, assistant("edited"), Q2, A2, Q3])
    assert (resumed.ids[0], resumed.parent_id, len(resumed.added)) == (ids[0], ids[0], 4)
    assert thread(manager) == ["q1", "edited", "q2", "a2", "q3"]


def test_the_branch_that_goes_along_for_longest_is_followed(manager):
    """Two equal answers: the talk went on behind the first, and the second is on the thread."""
    question, first, _ = manager.append_messages("s", [Q1, A1, Q2])
    [second] = manager.append_messages("s", [A1], parent_id=question)
    assert manager.resume_history("s", [Q1, A1]).ids == [question, second]
    resumed = manager.resume_history("s", [Q1, A1, Q2, A2])
    assert (resumed.ids[:2], len(resumed.added)) == ([question, first], 1)
    assert thread(manager) == ["q1", "a1", "q2", "a2"]


def test_of_equal_branches_off_the_thread_the_newest_is_followed(manager):
    [question] = manager.append_messages("s", [Q1])
    manager.append_messages("s", [A1, Q2], parent_id=question)
    newer = manager.append_messages("s", [A1, Q2], parent_id=question)
    manager.append_messages("s", [assistant("else")], parent_id=question)
    assert manager.resume_history("s", [Q1, A1, Q2]).ids == [question, *newer]


@pytest.mark.parametrize("kept", [[A1, Q2, A2], [Q2, A2], [A2]])
def test_a_history_that_was_cut_at_its_beginning_goes_on_where_it_stands(manager, ids, kept):
    resumed = manager.resume_history("s", [*kept, Q3])
    assert (resumed.ids[:-1], len(resumed.added)) == (ids[4 - len(kept) :], 1)
    assert thread(manager) == ["q1", "a1", "q2", "a2", "q3"]


def test_a_cut_history_stands_where_it_fits_for_longest_and_there_at_the_latest(manager):
    manager.append_messages("s", [user("start"), Q1, A1, Q2, A2, Q1, A1, Q2, A2, Q1, A1, Q3, A2])
    every = [one.id for one in manager.storage.message_tree("s", 99)]
    assert manager.resume_history("s", [Q1, A1, Q2, A2, Q1, A1, Q2]).ids == every[1:8]
    manager.set_head("s", every[-1])
    assert manager.resume_history("s", [Q1, A1, Q2]).ids == every[5:8]
    manager.set_head("s", every[-1])
    resumed = manager.resume_history("s", [A1, Q3, assistant("other")])
    assert (resumed.ids[:2], len(resumed.added)) == (every[10:12], 1)


def test_a_cut_history_is_followed_onto_a_branch(manager, ids):
    """As when an answer was regenerated, and then the one of before chosen again."""
    manager.append_messages("s", [assistant("a2 again")], parent_id=ids[2])
    assert manager.resume_history("s", [A1, Q2, A2]).ids == ids[1:]
    assert thread(manager) == ["q1", "a1", "q2", "a2"]


def test_a_greeting_in_front_is_kept_and_may_stay_when_the_rest_is_cut(manager):
    greeting = assistant("hello!")
    first = manager.resume_history("s", [greeting, Q1])
    assert (thread(manager), first.parent_id) == (["hello!", "q1"], ROOT)
    manager.append_messages("s", [A1, Q2, A2], parent_id=first.ids[-1])
    resumed = manager.resume_history("s", [greeting, Q2, A2, Q3])
    assert (resumed.ids[0], len(resumed.added)) == (first.ids[0], 1)
    assert thread(manager) == ["hello!", "q1", "a1", "q2", "a2", "q3"]
    manager.resume_history("s", [greeting, user("edited")])
    assert thread(manager) == ["hello!", "edited"]


def test_a_greeting_that_is_said_again_is_no_cut_history(manager):
    [first] = manager.resume_history("s", [assistant("hello!")]).ids
    resumed = manager.resume_history("s", [assistant("hello!")] * 3)
    assert (resumed.ids[0], len(set(resumed.ids)), len(resumed.added)) == (first, 3, 2)


def test_another_history_with_an_answer_is_another_thread(manager, ids):
    resumed = manager.resume_history("s", [user("x"), assistant("y"), user("z")])
    assert (resumed.parent_id, thread(manager)) == (ROOT, ["x", "y", "z"])
    assert manager.set_head("s", ids[-1])
    assert thread(manager) == ["q1", "a1", "q2", "a2"]


@pytest.mark.parametrize("new", [[Q3], [Q3, user("q4")], [Message("tool", "r", None, "c", "look")]])
def test_new_messages_alone_go_behind_the_head(manager, ids, new):
    resumed = manager.resume_history("s", new)
    assert (resumed.parent_id, resumed.added) == (ids[-1], resumed.ids)
    assert thread(manager) == ["q1", "a1", "q2", "a2", *[one.text for one in new]]


@pytest.mark.parametrize("repeated", [Q1, Q2])
def test_a_question_that_was_asked_before_can_be_asked_again(manager, ids, repeated):
    """A program that says the same words every day, and nothing else, loses none of its talk by that."""
    manager.resume_history("s", [repeated])
    assert thread(manager) == ["q1", "a1", "q2", "a2", repeated.text]


def test_the_only_question_is_answered_again(manager):
    question, _ = manager.append_messages("s", [Q1, A1])
    resumed = manager.resume_history("s", [Q1])
    assert (resumed.ids, resumed.added, thread(manager)) == ([question], [], ["q1"])


def test_a_new_message_that_is_sent_again_before_its_answer_is_there_once(manager, ids):
    first = manager.resume_history("s", [Q3])
    assert manager.resume_history("s", [Q3]).ids == first.ids
    further = manager.resume_history("s", [Q3, user("and?")])
    assert (further.ids[0], len(further.added)) == (first.ids[0], 1)
    assert thread(manager) == ["q1", "a1", "q2", "a2", "q3", "and?"]


@pytest.mark.parametrize("history", [[Q3], [*TALK, Q3]])
def test_one_request_sent_eight_times_at_once_is_there_once(manager, ids, history):
    found: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: found.append(manager.resume_history("s", history).ids)) for _ in range(8)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len({one[-1] for one in found}) == 1
    assert (len(found), thread(manager)) == (8, ["q1", "a1", "q2", "a2", "q3"])


def test_an_empty_history_changes_nothing(manager, ids):
    for history in ([], [Message("system", "x")]):
        resumed = manager.resume_history("s", history)
        assert (resumed.ids, resumed.added, resumed.parent_id) == ([], [], ids[-1])
        assert manager.resume_history("new", history).parent_id == ROOT
    assert not manager.session_exists("new")


def test_stored_system_messages_stand_in_no_histories_way(manager):
    manager.save_messages("s", [Message("system", "note"), Q1, A1, Message("system", "note"), Q2, A2])
    assert manager.resume_history("s", [*TALK, Q3]).ids[-1] == manager.get_session("s").head
    assert thread(manager) == ["note", "q1", "a1", "note", "q2", "a2", "q3"]
    manager.append_messages("s", [Q1], parent_id=ROOT)
    assert len(manager.resume_history("s", [*TALK, Q3]).added) == 0


THINKING = '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> hm\n</details>'
CALL = ToolCall("c1", "look", {"at": "map", "n": [1]})
DATA = MediaPart(type="image", mime_type="image/png", base64_data="QUJD")
SAME = [
    (assistant("a"), assistant(" \n a\t")),
    (assistant("a"), assistant("<think>hm</think>\n\na")),
    (assistant("a"), assistant(f"{THINKING}\na")),
    (assistant("a"), assistant("<think>b</think><think>c</think>a")),
    (assistant(None, CALL), assistant("", ToolCall("other", "look", {"n": [1], "at": "map"}))),
    (Message("tool", "r", None, "c1", "look"), Message("tool", "r", None, "c2", "look")),
    (
        Message("user", [DATA, TextPart("q")]),
        Message("user", [MediaPart(type="image", url="data:;base64,QUJD"), TextPart("q")]),
    ),
    (user("half \ud83d"), user("half ?")),
]
OTHER = [
    (user("a"), assistant("a")),
    (user("a"), user("b")),
    (user("a"), user("<think>b</think>a")),
    (assistant("<think>a"), assistant("a")),
    (assistant("a </think>"), assistant("a")),
    (assistant(None, CALL), assistant(None, ToolCall("c1", "look", {"at": "sea", "n": [1]}))),
    (assistant("a", CALL), assistant("a")),
    (Message("user", [DATA]), Message("user", [MediaPart(type="image", base64_data="QUJE")])),
    (Message("user", [DATA]), user("")),
]


def digest(message: Message) -> bytes:
    return message_digest(record_of("s", message))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_clients_change_on_the_way_leaves_a_message_the_same(one, other):
    assert digest(one) == digest(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_says_something_else_is_another_message(one, other):
    assert digest(one) != digest(other)


def test_a_text_that_opens_thoughts_without_end_takes_no_longer_than_it_is_long():
    """A million beginnings; looking for the end of each anew would take hours."""
    assert len(digest(assistant("<think>" * 1_000_000))) == 16


def test_a_system_message_is_compared_with_nothing():
    assert message_digest(MessageRecord(session_id="s", role="system", content="x")) == PASSED_OVER


def test_the_session_of_a_history_is_found_by_its_beginning(manager):
    manager.append_messages("short", [Q1, A1])
    manager.append_messages("long", TALK)
    manager.append_messages("other", [Q1, assistant("else"), Q2])
    assert manager.find_session([*TALK, Q3]) == "long"
    assert manager.find_session([Message("system", "x"), *TALK]) == "long"
    assert manager.find_session([Q1, assistant("else")]) == "other"
    assert manager.find_session([Q1, A1]) == "long"  # both begin so, and this one was used last
    for unknown in ([], [Q1], [Q1, Q2], [A1, Q1], [Q1, assistant("new"), Q2], [Q3, A1]):
        assert manager.find_session(unknown) is None


def test_the_session_of_a_history_is_found_by_any_of_its_branches(manager):
    [question, *_] = manager.append_messages("s", TALK)
    manager.append_messages("s", [assistant("a1 again"), Q3], parent_id=question)
    manager.append_messages("newer", [Q1, A1])
    assert manager.find_session([*TALK, Q3]) == "s"
    assert manager.find_session([Q1, assistant("a1 again"), Q3]) == "s"
    greeted = [assistant("hello!"), Q1, A1]
    manager.append_messages("greeted", greeted)
    assert manager.find_session(greeted) == "greeted"
    assert manager.find_session(greeted[:2]) is None


def test_a_history_is_found_in_a_file_that_another_program_goes_on_with(manager, ids):
    """Rows without parents and digests: they stand where their time puts them."""
    with behind_the_back(manager.storage.db_path) as file:
        file.execute(
            "INSERT INTO sessions VALUES ('theirs', '2025-01-01', '2025-01-01', '', '{}', NULL, NULL, NULL, NULL, 1)"
        )
        file.execute(
            "INSERT INTO messages (session_id, role, content, created_at) VALUES ('s', 'user', 'q3', '2199-01-01'), "
            "('theirs', 'user', 'x', '2025-01-01'), ('theirs', 'assistant', 'y', '2025-01-01'), "
            "('nobody', 'user', 'x', '2025-01-01'), ('nobody', 'assistant', 'y', '2025-01-01')"
        )
    assert manager.get_session("s").head == manager.storage.thread_messages("s", 1)[0].id == max(ids) + 1
    assert manager.find_session([user("x"), assistant("y"), Q1]) == "theirs"
    resumed = manager.resume_history("s", [*TALK, Q3])
    assert (resumed.ids, resumed.added) == ([*ids, max(ids) + 1], [])
    assert [one.parent_id for one in manager.storage.message_tree("s", 9)] == [ROOT, *ids]
    manager.append_messages("s", [assistant("a3")])
    assert thread(manager) == ["q1", "a1", "q2", "a2", "q3", "a3"]
