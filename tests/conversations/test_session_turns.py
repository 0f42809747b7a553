"""Sessions read as turns: over a real file, with branches, tools, files, and rows of other programs."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.log.files import FileRef, FileUnavailable
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.turns.session_files import SessionFiles
from mnemoir.conversations.turns.session_turns import CurrentTurn, SessionConversations, SessionTurns, thread_back
from mnemoir.conversations.turns.threads import get_thread_messages_length, stored_turns
from mnemoir.conversations.turns.token_buffer import TokenBufferMemory
from mnemoir.core.conversations import ROOT, MediaPart, Message, TextPart, ToolCall
from mnemoir.storage.objects.local import LocalObjects
from tests.conversations.chats import LetterModel, spoken
from tests.conversations.session_kit import assistant, behind_the_back, user

PICTURE = MediaPart(type="image", mime_type="image/png", url="data:image/png;base64,QUJD", format="png", tokens=3)


@pytest.fixture
def manager(tmp_path) -> Iterator[MemoryManager]:
    with MemoryManager(tmp_path / "sessions.db") as manager:
        yield manager


def talk(manager, *texts, parent=None, session="s"):
    """User and assistant in turn, the user first; the ids."""
    messages = [(user, assistant)[at % 2](text) for at, text in enumerate(texts)]
    return manager.append_messages(session, messages, parent_id=parent)


def turns(manager, current=None, page_size=500, session="s"):
    rows = SessionTurns(manager.storage, current=current)
    return list(stored_turns(rows, session, page_size=page_size))


def words(found):
    return [(turn.query, turn.answer) for turn in found]


def test_a_turn_is_a_question_and_all_that_follows_up_to_the_next(manager):
    calls = Message("assistant", "Let me see.", [ToolCall("c", "clock", {})])
    result = Message("tool", "noon", tool_call_id="c")
    ids = manager.append_messages("s", [user("q1"), calls, result, assistant("noon"), user("q2"), assistant("a2")])
    newest, oldest = turns(manager)
    assert (newest.id, newest.parent_message_id, newest.seq) == (str(ids[4]), str(ids[0]), ids[4])
    assert (oldest.id, oldest.parent_message_id, oldest.has_tool_calls) == (str(ids[0]), None, True)
    assert words([newest, oldest]) == [("q2", "a2"), ("q1", "noon")]
    assert not newest.has_tool_calls
    assert newest.answer_tokens > 0


def test_an_answer_names_its_run(manager):
    asked = manager.append_messages("s", [user("q1")])
    manager.append_messages("s", [assistant("a1")], parent_id=asked[0], run_id="run_1")
    assert [turn.workflow_run_id for turn in turns(manager)] == ["run_1"]


def test_a_turn_that_waits_for_its_answer_is_unfinished(manager):
    ids = talk(manager, "q1", "a1", "q2")
    assert words(turns(manager)) == [("q2", ""), ("q1", "a1")]
    assert turns(manager)[0].answer_tokens == 0
    assert get_thread_messages_length("s", rows=SessionTurns(manager.storage)) == 1
    manager.append_messages("s", [Message("assistant", "Let me see.", [ToolCall("c", "clock", {})])])
    manager.append_messages("s", [Message("tool", "noon", tool_call_id="c")])
    assert turns(manager)[0].answer == ""
    assert turns(manager)[0].id == str(ids[2])


def test_messages_before_the_first_question_and_instructions_are_no_turn(manager):
    manager.append_messages("s", [Message("system", "Be kind."), assistant("Welcome."), user("q1"), assistant("a1")])
    assert words(turns(manager)) == [("q1", "a1")]


def test_no_session_has_no_turns(manager):
    assert turns(manager, session="another") == []
    assert SessionTurns(manager.storage).newest_first("another", limit=3) == []


def test_a_limit_below_one_gives_no_turns(manager):
    talk(manager, "q1", "a1")
    assert SessionTurns(manager.storage).newest_first("s", limit=-1) == []


def test_the_thread_is_the_one_of_the_head_unless_a_message_is_given(manager):
    ids = talk(manager, "q1", "a1", "q2", "a2")
    other = talk(manager, "other q2", "other a2", parent=ids[1])
    assert words(turns(manager)) == [("other q2", "other a2"), ("q1", "a1")]
    current = CurrentTurn(id="now", message_id=ids[2])
    assert words(turns(manager, current)) == [("q2", ""), ("q1", "a1")]
    assert [turn.id for turn in turns(manager, current)] == ["now", str(ids[0])]
    assert [message.id for message in thread_back(manager.storage, "s", ids[3])] == ids[::-1]
    assert list(thread_back(manager.storage, "another", other[0])) == []


def test_a_turn_that_is_answered_anew_has_no_answer_yet(manager):
    ids = talk(manager, "q1", "a1", "q2", "a2")
    assert words(turns(manager, CurrentTurn(id="now", message_id=ids[2])))[0] == ("q2", "")
    assert words(turns(manager, CurrentTurn(id="now", message_id=ids[3])))[0] == ("q2", "")


def test_a_cleared_context_ends_the_thread(manager):
    talk(manager, "q1", "a1")
    manager.clear_context("s")
    ids = talk(manager, "q2", "a2")
    assert words(turns(manager)) == [("q2", "a2")]
    assert [message.id for message in thread_back(manager.storage, "s", ids[1])] == ids[::-1]
    side = talk(manager, "side", parent=ids[0])
    talk(manager, "q3", "a3", parent=ids[1])
    assert [message.id for message in thread_back(manager.storage, "s", side[0])] == [side[0], ids[0]]


def test_rows_of_other_programs_follow_one_another(manager):
    talk(manager, "q1", "a1", "q2", "a2")
    with behind_the_back(manager.storage.db_path) as connection:
        connection.execute("UPDATE messages SET parent_id = NULL")
    assert words(turns(manager, page_size=1)) == [("q2", "a2"), ("q1", "a1")]


def test_a_damaged_row_is_left_out_alone(manager):
    ids = talk(manager, "q1", "a1", "q2", "a2")
    with behind_the_back(manager.storage.db_path) as connection:
        connection.execute("UPDATE messages SET role = 'nobody' WHERE id = ?", (ids[1],))
    assert words(turns(manager)) == [("q2", "a2"), ("q1", "")]


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 70), page_size=st.integers(1, 9))
def test_pages_join_to_the_way_from_the_message_to_the_root(tmp_path_factory, seed, size, page_size):
    """Against parents noted on the side, over random trees."""
    chance = random.Random(seed)
    parents: dict[int, int] = {}
    roles: dict[int, str] = {}
    with MemoryManager(tmp_path_factory.mktemp("tree") / "sessions.db") as manager:
        for at in range(size):
            last = max(parents, default=ROOT)
            parent = last if chance.random() < 0.7 else chance.choice([ROOT, *parents])
            message = Message(chance.choice(["user", "assistant"]), f"m{at}")
            (new,) = manager.append_messages("s", [message], parent_id=parent)
            parents[new], roles[new] = parent, message.role
        newest = chance.choice(list(parents))
        way = [newest]
        while way[-1] in parents and parents[way[-1]] != ROOT:
            way.append(parents[way[-1]])
        assert [message.id for message in thread_back(manager.storage, "s", newest)] == way
        found = turns(manager, CurrentTurn(id="now", message_id=newest), page_size)
        assert [turn.seq for turn in found] == [id for id in way if roles[id] == "user"]
        assert [turn.parent_message_id for turn in found[:-1]] == [turn.id for turn in found[1:]]


def test_a_long_thread_is_read_in_pages_as_far_as_it_is_needed(manager):
    manager.append_messages("s", [user(f"q{at}") if at % 2 == 0 else assistant(f"a{at}") for at in range(3000)])
    rows = SessionTurns(manager.storage)
    newest = rows.newest_first("s", limit=5)
    assert [turn.query for turn in newest] == [f"q{at}" for at in range(2998, 2988, -2)]
    assert rows.newest_first("s", limit=2, before=newest[-1])[0].query == "q2988"
    assert len(turns(manager)) == 1500


def test_a_session_is_a_conversation_of_any_application(manager):
    talk(manager, "q1", "a1", "q2")
    sessions = SessionConversations(manager.storage)
    found = sessions.find("s", app_id="app", tenant_id="me")
    assert found is not None
    assert (found.id, found.app_id, found.tenant_id) == ("s", "app", "me")
    assert spoken(TokenBufferMemory(found, LetterModel()).get_history_prompt_messages()) == ["q1", "a1"]
    assert sessions.find("gone", app_id="app", tenant_id="me") is None


def test_files_of_messages_are_shown_again(manager, tmp_path):
    attachments = Attachments(LocalObjects(tmp_path / "objects"))
    message = attachments.put_away(Message("user", [PICTURE, TextPart("what is it?")]), "s")
    ids = manager.append_messages("s", [message, assistant("a cat"), user("and now?")])
    rows = SessionTurns(manager.storage)
    assert [file.id for file in rows.attachments([str(ids[0]), str(ids[2]), "now", "9" * 40])[str(ids[0])]] == [
        f"{ids[0]}#0"
    ]
    files = SessionFiles(manager.storage, attachments.bring_back)
    found = SessionConversations(manager.storage, files=files).find("s", app_id="app", tenant_id="me")
    assert found is not None
    first, *_ = TokenBufferMemory(found, LetterModel()).get_history_prompt_messages()
    assert isinstance(first.content, list)
    shown, text = first.content
    assert isinstance(shown, MediaPart)
    assert (shown.base64_data, shown.mime_type, shown.tokens, shown.detail) == ("QUJD", PICTURE.mime_type, 3, "high")
    assert text == TextPart("what is it?")


@pytest.mark.parametrize("name", ["7#0", "1#1", "x#0", "1", "", None, "9" * 40 + "#0", "1#-1"])
def test_a_file_without_a_message_is_unavailable(name, manager):
    manager.append_messages("s", [Message("user", [PICTURE, TextPart("q")])])
    with pytest.raises(FileUnavailable):
        SessionFiles(manager.storage).find(
            FileRef(type="image", transfer_method="local_file", upload_file_id=name), tenant_id="me"
        )


def test_a_file_with_missing_bytes_is_left_out_alone(manager, tmp_path):
    objects = LocalObjects(tmp_path / "objects")
    attachments = Attachments(objects)
    talked = [attachments.put_away(Message("user", [PICTURE, TextPart("q1")]), "s"), assistant("a1")]
    manager.append_messages("s", talked)
    for entry in list(objects.scan("attachments/")):
        objects.delete(entry.key)
    files = SessionFiles(manager.storage, attachments.bring_back)
    found = SessionConversations(manager.storage, files=files).find("s", app_id="app", tenant_id="me")
    assert found is not None
    assert spoken(TokenBufferMemory(found, LetterModel()).get_history_prompt_messages()) == ["q1", "a1"]
