"""The log of conversations, over a file of one user and over the rows of all users in one database."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import pytest

from mnemoir.core.conversations import (
    HEAD,
    ROOT,
    MessageNotFoundError,
    MessageRecord,
    SessionExistsError,
    SessionMetadata,
    Summary,
)
from mnemoir.storage.sql.conversations import store
from mnemoir.storage.sql.conversations.log import SqlLog
from tests.contracts.logs import MODEL, answered, said, texts
from tests.contracts.words import MIRA
from tests.narrowing import present


def tree(log: SqlLog) -> dict[str, tuple[int, bool]]:
    """The parent of each message, and whether it is on the thread, by its text."""
    found = log.message_tree("s", 99)
    return {one.message.text: (present(one.parent_id), one.is_on_thread) for one in found}


def test_messages_are_read_as_they_were_said(log):
    calls, files = '[{"id": "c", "name": "look", "arguments": {"at": 1}}]', '[{"type": "image", "url": "u"}]'
    told = [
        said("Tea?  \n é 茶 🍵", name="Mira", files=files),
        answered("Green.", tool_calls=calls, run_id="r", finish_reason="stop", token_count=3, importance=0.5),
        MessageRecord(session_id="s", role="tool", content="", tool_call_id="c"),
    ]
    ids = log.append_messages("s", told, system_prompt="Be kind.")
    stored = [log.messages_by_id(ids)[one] for one in ids]
    assert [one.message.text for one in stored] == [record.content for record in told]
    assert (stored[0].message.name, stored[2].message.tool_call_id) == ("Mira", "c")
    assert [call.arguments for call in stored[1].message.tool_calls or []] == [{"at": 1}]
    assert (stored[1].run_id, stored[1].finish_reason, stored[1].token_count, stored[1].importance) == (
        *("r", "stop", 3, 0.5),
    )
    assert present(log.get_session("s")).system_prompt == "Be kind."
    assert log.get_message_count("s") == 3


def test_whatever_is_said_is_read_again_but_for_what_a_database_cannot_hold(log):
    odd = ["a\0b", "\ud800x", " ", "", "x" * 300_000, "\x01E1:0000", "%s %(a)s :x $1"]
    log.append_messages("s", [said(text, name="n%s") for text in odd])
    read = texts(log)
    assert read[2:] == odd[2:]
    assert (read[0] in ("a\0b", "a\ufffdb"), read[1]) == (True, "?x")
    assert log.append("s", [said(text) for text in odd]).added == []


def test_a_window_has_the_newest_messages_and_goes_on_behind_its_mark(log):
    ids = log.append_messages("s", [said(f"m{n}") for n in range(10)])
    assert [one.id for one in log.newest_messages("s", 3)] == ids[:-4:-1]
    assert [one.id for one in log.newest_messages("s", 2, before=ids[3])] == [ids[2], ids[1]]
    assert [one.id for one in log.messages_between("s", ids[2], ids[6], 9)] == ids[3:6]
    assert log.mark_context("s") == ids[-1]
    log.append_messages("s", [said("m10")])
    assert [one.message.text for one in log.newest_messages("s", 5)] == ["m10"]
    assert [one.message.text for one in log.thread_messages("s", 2)] == ["m10", "m9"]
    assert log.beginnings(["s", "none"], 1)["s"][0] == 11


def test_what_is_pinned_or_important_is_found_and_stretches_count_it_apart(log):
    ids = log.append_messages("s", [said("a"), answered("b"), said("c"), answered("d")])
    log.set_importance({ids[1]: 0.9, ids[2]: 0.1})
    assert log.set_pinned(ids[3], True)
    assert [one.id for one in log.important_messages("s", 0.5)] == [ids[1], ids[3]]
    assert [one.id for one in log.unscored_messages("s", 9)] == [ids[0], ids[3]]
    [before, alone, behind] = log.thread_stretches("s", [ids[1]], [], 0.5)
    assert [one.messages for one in (before, alone, behind)] == [1, 1, 2]
    assert (alone.apart_messages, behind.apart_messages) == (1, 1)
    assert sorted(log.important_ids(0.5)) == [ids[1], ids[3]]


def test_an_edited_question_and_an_answer_made_again_are_branches(log):
    first, old = log.append_messages("s", [said("Tea?"), answered("Green.")])
    [again] = log.append_messages("s", [answered("Black.")], parent_id=first)
    [edited] = log.append_messages("s", [said("Coffee?")], parent_id=ROOT)
    assert texts(log) == ["Coffee?"]
    assert tree(log) == {
        "Tea?": (ROOT, False),
        "Green.": (first, False),
        "Black.": (first, False),
        "Coffee?": (ROOT, True),
    }
    assert log.children("s", [ROOT, first]) == {ROOT: [first, edited], first: [old, again]}
    assert log.set_head("s", again)
    assert (texts(log), present(log.get_session("s")).head) == (["Tea?", "Black."], again)
    assert [one.id for one in log.way_to("s", old, 9)] == [old, first]
    assert [one.id for one in log.way_behind("s", first, 9)] == [again]
    assert log.newest_end("s", first) == again
    assert [(run.first, run.messages, run.on_thread) for run in log.branch_runs("s")] == [
        *((first, 1, True), (old, 1, False), (again, 1, True), (edited, 1, False)),
    ]
    assert (log.place_on_thread("s", again), log.place_on_thread("s", old)) == (1, None)
    with pytest.raises(MessageNotFoundError):
        log.append_messages("s", [said("lost")], parent_id=99_999)


def test_an_answer_that_comes_late_stands_in_front_of_what_was_said_meanwhile(log, clock):
    [question] = log.append_messages("s", [said("Tea?")])
    clock.move(seconds=1)
    [next_one] = log.append_messages("s", [said("And milk?")])
    clock.move(seconds=1)
    [answer, *moved] = log.put_answer("s", answered("Green."), question, followers=[next_one])
    assert (texts(log), moved) == (["Tea?", "Green.", "And milk?"], [next_one])
    assert tree(log)["And milk?"] == (answer, True)


def test_a_copied_branch_is_a_session_of_its_own(log):
    first, second = log.append_messages("s", [said("Tea?"), answered("Green.")], system_prompt="Be kind.")
    uid = log.uids_of([first])[first]
    log.put_recalled({uid: "[1]"})
    copies = log.branch_session("s", second, "copy", SessionMetadata(title="Copied"))
    assert texts(log, "copy") == ["Tea?", "Green."]
    assert present(log.get_session("copy")).system_prompt == "Be kind."
    assert [references for _, references in log.questions("copy", []).values()] == ["[1]"]
    assert not set(copies) & {first, second}
    with pytest.raises(SessionExistsError):
        log.branch_session("s", second, "copy", SessionMetadata())


def test_messages_beside_the_thread_are_deleted_and_conversations_with_all_they_have(log):
    first, old = log.append_messages("s", [said("Tea?"), answered("Green.")], embedding_model=MODEL)
    log.append_messages("s", [answered("Black.")], parent_id=first)
    assert log.delete_messages("s", [first, old]) == 1
    assert log.vectors_to_remove(9) == [old]
    claim = present(log.claim_summary("s", 60))
    assert log.put_summary("s", claim, Summary(upto_message_id=first, text="Tea", token_count=1, model="m"))
    assert (log.delete_session("s"), log.delete_session("s")) == (True, False)
    assert (log.get_session("s"), log.get_summary("s"), log.message_tree("s", 9)) == (None, None, [])
    assert log.vectors_to_remove(9)[:2] == sorted([first, old])
    [new] = log.append_messages("s", [said("Anew")])
    assert new > old  # an id is given once
    assert (log.clear_messages("s"), log.get_message_count("s"), log.get_session("s") is None) == (1, 0, False)


def test_a_long_conversation_goes_in_pieces_where_others_wait_and_else_as_a_whole(log, monkeypatch):
    monkeypatch.setattr(store, "_ROWS_AT_FIRST", 3)
    told, seen, remove = [f"m{n}" for n in range(10)], list[list[str]](), log._remove

    def remove_and_look(work):
        result = remove(work)
        seen.append(texts(log))
        return result

    monkeypatch.setattr(log, "_remove", remove_and_look)
    for delete in (log.delete_session, log.clear_messages):
        seen.clear()
        log.append_messages("s", [said(one) for one in told])
        assert delete("s")
        assert (len(seen) > 1) == (log._file.turn() is not None)
        assert [told[: len(one)] for one in seen] == seen
        assert seen[-1] == []


def test_old_conversations_are_pruned_but_for_those_to_keep(log, clock):
    log.create_session("kept", "", SessionMetadata(custom={"keep": True}))
    log.create_session("old", "")
    clock.move(days=40)
    log.create_session("new", "")
    assert log.old_sessions(30) == ["old"]
    assert log.prune_old_sessions(30) == 1
    assert {one.id for one in log.list_sessions()} == {"kept", "new"}


def test_a_history_is_laid_over_what_is_stored(log):
    history = [said("Tea?"), answered("Green."), said("And milk?")]
    placed = log.append("s", history[:1])
    [answer] = log.append_messages("s", history[1:2])
    more = log.append("s", history)
    assert (more.ids[:2], len(more.added), more.parent_id) == ([*placed.ids, answer], 1, answer)
    assert log.append("s", history).added == []
    other = log.append("s", [history[0], answered("Black.")])
    assert (texts(log), other.parent_id) == (["Tea?", "Black."], placed.ids[0])
    assert log.append("s", [said("Sugar?")], after=HEAD).parent_id == other.ids[-1]
    assert log.session_of_history(history) == "s"
    assert log.session_of_history([said("Tea?"), answered("None.")]) is None
    assert log.session_of_history([said("Tea?")]) is None  # a question alone is no evidence


def test_a_summary_is_made_by_one_and_goes_with_what_it_tells(log):
    first, second = log.append_messages("s", [said("Tea?"), answered("Green.")])
    told = Summary(upto_message_id=second, text="On tea", token_count=2, model="m")
    claim = present(log.claim_summary("s", 60))
    assert log.claim_summary("s", 60) is None
    assert log.put_summary("s", claim, told)
    assert present(log.get_summary("s")).text == "On tea"
    assert not log.put_summary("s", claim, told)
    log.release_summary("s", present(log.claim_summary("s", 60)))
    log.append_messages("s", [answered("Black.")], parent_id=first)
    assert log.get_summary("s") is None


def test_titles_and_activity_are_listed_newest_first(log, clock):
    for name in ("a", "b", "c"):
        log.create_session(name, "", SessionMetadata(title=f"On {name}", user="mira"))
        clock.move(minutes=1)
    assert log.update_session("b", metadata=SessionMetadata(title="Other", user="omar"))
    log.update_session_activity("a")
    assert [one.id for one in log.list_sessions()] == ["a", "c", "b"]
    first = log.sessions_page(1)[0]
    page = log.sessions_page(9, before=(present(first.updated_at), first.id))
    assert [(one.id, one.metadata.title) for one in page] == [("c", "On c"), ("b", "Other")]
    assert dict(log.session_notes("omar"))["b"].title == "Other"
    assert {name for name, _ in log.session_notes()} == {"a", "b", "c"}
    with pytest.raises(SessionExistsError):
        log.create_session("a", "")


def test_references_are_kept_with_their_questions(log):
    first, second = log.append_messages("s", [said("Tea?"), answered("Green.")])
    uids = log.uids_of([first, second])
    log.put_recalled({uids[first]: "[1]", "msg_none": "[2]"})
    assert log.questions("s", [second]) == {first: (uids[first], "[1]"), second: (uids[second], None)}
    assert log.latest_references(9) == ["[1]"]
    assert log.places_of([uids[second], "msg_none"]) == {uids[second]: ("s", second)}
    assert log.messages_with_uids([uids[first]])[uids[first]].message.text == "Tea?"


def test_a_message_that_is_stored_again_under_its_uid_is_there_once(log):
    question, answer = said("Tea?", uid="msg_1"), answered("Green.", uid="msg_2")
    [first] = log.append_messages("s", [question])
    [second] = log.put_answer("s", answer, first)
    log.append_messages("s", [said("More?")])
    before = (texts(log), tree(log))
    assert log.append_messages("s", [question, answer]) == [first, second]
    assert log.append_messages("s", [answer], parent_id=first) == [second]
    assert log.put_answer("s", answer, first) == [second]
    assert log.save_messages([replace(question, parent_id=ROOT)]) == [first]
    assert (texts(log), tree(log)) == before
    assert log.append_messages("other", [replace(question, session_id="other")]) != [first]


def test_vectors_that_are_missing_and_those_to_remove_are_known(log):
    first, second = log.append_messages("s", [said("Tea?"), answered("Green.")], embedding_model=MODEL)
    log.append_messages("s", [said(" ")])
    assert [one.id for one in log.unembedded_messages(MODEL, 9)] == [first, second]
    assert log.note_new_vectors([first], MODEL) == []
    assert log.vector_counts() == {"embedded": 1, "pending": 1}
    log.note_failed_vectors([second])
    assert [one.id for one in log.unembedded_messages(MODEL, 9, session_id="s")] == [second]
    assert log.await_vectors([second, 99_999], MODEL) == [second]
    log.delete_session("s")
    assert log.note_new_vectors([second], MODEL) == [second, first]
    log.note_removed_vectors([first, second])
    assert log.vectors_to_remove(9) == []


def test_two_equal_histories_at_once_begin_one_conversation(logs):
    history = [said("Tea?"), answered("Green."), said("And milk?")]

    def begin(number: int) -> str:
        def find_or_begin(log: SqlLog) -> str:
            found = log.session_of_history(history)
            session = f"s{number}" if found is None else found
            log.append(session, [replace(one, session_id=session) for one in history])
            return session

        session: str = logs.of(MIRA).together(find_or_begin)
        return session

    with ThreadPoolExecutor(4) as threads:
        begun = set(threads.map(begin, range(4)))
    assert [one.id for one in logs.of(MIRA).list_sessions()] == [*begun]
    assert texts(logs.of(MIRA), *begun) == ["Tea?", "Green.", "And milk?"]


def test_writers_of_one_conversation_keep_one_order(logs):
    def write(number: int) -> None:
        log = logs.of(MIRA)
        for turn in range(5):
            log.append_messages("s", [said(f"{number}.{turn}"), answered(f"{number}.{turn} answer")])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    log = logs.of(MIRA)
    thread = log.thread_messages("s", 99)[::-1]
    assert [one.parent_id for one in thread] == [ROOT, *(one.id for one in thread[:-1])]
    said_by = [[text for text in texts(log) if text.startswith(f"{number}.")] for number in range(4)]
    assert said_by == [[f"{n}.{turn}{end}" for turn in range(5) for end in ("", " answer")] for n in range(4)]
    assert all(one.message.text + " answer" == two.message.text for one, two in list(pairwise(thread))[::2])


def test_what_fails_half_way_leaves_nothing(log):
    with pytest.raises(MessageNotFoundError):
        log.together(lambda within: [within.append("s", [said("Tea?")]), within.append("s", [said("x")], after=999)])
    assert log.list_sessions() == []
