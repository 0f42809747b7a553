"""What was recalled for a question: a column of its message, which goes where the message goes and into no export."""

import json

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.transfer import export_session
from mnemoir.core.conversations import SessionMetadata
from mnemoir.core.text import RecalledLine
from mnemoir.ports.recalled import Reference, read_references, reference_of, references_as_json
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.session_kit import said, texts

VEGAN = RecalledLine(text="Is vegan", day="2026-03-04", id="mem_1", origin="tool", fits=False)
SAID = RecalledLine(text="Said: Hello", day="2026-03-05", said_uid="msg_1")
LINES = [VEGAN, SAID]


@pytest.fixture
def storage(tmp_path):
    with MemoryStorage(tmp_path / "m.db") as opened:
        yield opened


def test_references_are_read_as_they_were_written():
    references = [one for line in LINES if (one := reference_of(line))]
    assert read_references(references_as_json(references)) == references
    assert [one.is_worded(line) for one, line in zip(references, LINES, strict=True)] == [True, True]
    assert not references[0].is_worded(RecalledLine(text="Is vegan", id="mem_1"))
    assert "vegan" not in references_as_json(references)


@pytest.mark.parametrize("damaged", ["", "{", "{}", "7", '"x"', "\ufffd"])
def test_what_is_no_list_tells_of_nothing_that_was_recalled(damaged):
    assert read_references(damaged) is read_references(None) is None


def test_what_is_no_reference_is_left_out():
    whole = ["memory", "mem_1", "00", "2026-03-04"]
    odd = [[], 7, None, whole[:2], ["file", *whole[1:]], [*whole, True], ["memory", 1, "0", ""], [*whole, 1, 2]]
    assert read_references(json.dumps([*odd, whole])) == [Reference("memory", "mem_1", "00", "2026-03-04")]


def test_a_line_of_a_chat_that_is_not_kept_has_no_reference():
    assert reference_of(RecalledLine(text="Said: Hello", day="2026-03-05")) is None


def test_references_are_of_their_message_alone_and_of_all_branches_of_its_session(storage):
    first, second, other = storage.save_messages([said("q"), said("r"), said("s", "other")])
    storage.append_messages("s", [said("edited")], parent_id=0)
    uids = storage.uids_of([first, second, other])
    storage.put_recalled({uids[first]: "[1]", uids[other]: "[2]", "msg_unknown": "[3]"})
    assert storage.questions("s", []) == {first: (uids[first], "[1]")}
    assert storage.questions("s", [first, second, 999]) == {first: (uids[first], "[1]"), second: (uids[second], None)}
    storage.put_recalled({uids[first]: "[]"})
    assert storage.questions("s", [])[first] == (uids[first], "[]")
    storage.delete_session("s")
    assert storage.questions("s", [first]) == {}


def test_a_copy_of_a_branch_keeps_them_under_its_own_uids(storage):
    first, second = storage.save_messages([said("q"), said("r", role="assistant")])
    uids = storage.uids_of([first, second])
    storage.put_recalled({uids[first]: "[1]"})
    copies = storage.branch_session("s", second, "new", SessionMetadata())
    copied = storage.questions("new", [])
    assert {id: text for id, (_, text) in copied.items()} == {copies[0]: "[1]"}
    assert {uid for uid, _ in copied.values()}.isdisjoint(uids.values())


def test_they_are_in_no_export(storage, tmp_path):
    [message_id] = storage.save_messages([said("q")])
    storage.put_recalled({storage.uids_of([message_id])[message_id]: '["marmalade"]'})
    written = b"".join(export_session(MemoryManager(tmp_path / "m.db"), "s"))
    assert b'"q"' in written
    assert b"marmalade" not in written


def test_messages_are_found_by_their_uids_in_all_sessions(storage):
    first, other = storage.save_messages([said("q"), said("t", "other")])
    uids = storage.uids_of([first, other])
    assert {uid: one.message.text for uid, one in storage.messages_with_uids([*uids.values(), "msg_x"]).items()} == {
        uids[first]: "q",
        uids[other]: "t",
    }
    assert storage.messages_with_uids([]) == {}
    assert texts(storage) == ["q"]
