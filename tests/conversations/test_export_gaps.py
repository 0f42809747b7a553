"""An export of all sessions never leaves something out without a word: a last line says what could not be read."""

import json
import shutil

import pytest

from mnemoir.conversations import MediaPart, MemoryManager, Message
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.transfer import export_all, import_sessions
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.sqlite.shared_file import names_set_aside
from tests.conversations.session_kit import behind_the_back, damage_a_page
from tests.conversations.transfer_kit import HEADER, all_of, texts

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def path(tmp_path):
    return tmp_path / "here.db"


def gaps_of(file):
    """What the last line of an export says is missing, by session."""
    last = json.loads(file.splitlines()[-1])
    assert {name: last[name] for name in HEADER} == HEADER
    return {gap["id"]: gap["reason"] for gap in last["missing"]}, last["damaged_file"]


def fill(path):
    """Three sessions, the middle one on a page that is then damaged."""
    with MemoryManager(path) as memory:
        for id in ("a", "b", "c"):
            memory.save_messages(id, [Message("user", f"{id}{number} {'x' * 1000}") for number in range(40)])
    damage_a_page(path)


def sessions_in(file, folder):
    """The sessions that an import makes of the file, with how many messages each has."""
    with MemoryManager(folder / "there.db") as there:
        return {id: len(texts(there, id)) for id in import_sessions(there, file).ids}


def test_a_whole_export_has_no_such_line(path, tmp_path):
    with MemoryManager(path) as here:
        here.save_message("s", Message("user", "hi"))
        here.save_message("gone", Message("user", "bye"))
        pieces = export_all(here)
        file = next(pieces)
        here.delete_session("s")
        file += b"".join(pieces)
    assert b"missing" not in file
    assert sessions_in(file, tmp_path) == {"gone": 1}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE messages SET role = 'narrator' WHERE id = 2",
        "UPDATE messages SET role = x'ff' WHERE id = 2",
        'UPDATE messages SET tool_calls = \'[{"id": "c"\' WHERE id = 2',
        "UPDATE messages SET files = x'ff' WHERE id = 2",
    ],
)
def test_damaged_messages_are_counted_and_the_rest_is_there_and_can_be_imported(path, tmp_path, damage):
    with MemoryManager(path) as here:
        here.save_messages("tea", [Message("user", "one"), Message("assistant", "two"), Message("user", "three")])
        here.save_message("rye", Message("user", "four"))
        with behind_the_back(path) as file:
            file.execute(damage)
        exported = all_of(here)
    assert gaps_of(exported) == ({"tea": "damaged messages: 1"}, None)
    assert sessions_in(exported, tmp_path)["rye"] == 1


def test_files_that_are_missing_are_counted(path, tmp_path):
    files = Attachments(LocalObjects(tmp_path / "objects"))
    picture = MediaPart(type="image", base64_data=PNG, mime_type="image/png")
    with MemoryManager(path) as here:
        here.save_messages("tea", [files.put_away(Message("user", [picture]), "tea")])
        assert b"missing" not in b"".join(export_all(here, attachments=files))
        shutil.rmtree(tmp_path / "objects")
        file = b"".join(export_all(here, attachments=files))
    assert gaps_of(file) == ({"tea": "missing or damaged files: 1"}, None)


def test_one_session_that_cannot_be_read_is_named_and_the_others_are_there(path, tmp_path):
    fill(path)
    with MemoryManager(path, on_corruption="raise") as here:
        file = all_of(here)
    assert gaps_of(file) == ({"b": "it could not be read to its end: storage_damaged"}, None)
    found = sessions_in(file, tmp_path)
    assert (found["a"], found["c"]) == (40, 40)


def test_damage_that_is_found_within_the_export_names_all_that_it_took(path, tmp_path):
    fill(path)
    with MemoryManager(path) as here:
        file = b"".join(export_all(here, set_aside=lambda: next(iter(names_set_aside(path)), None)))
    (name,) = names_set_aside(path)
    gaps, damaged = gaps_of(file)
    assert (set(gaps), damaged) == ({"a", "b"}, name)
    assert "incomplete" in gaps["b"]
    assert sessions_in(file, tmp_path)["c"] == 40


def test_a_file_that_was_set_aside_before_is_named_although_nobody_knows_what_it_held(path):
    with MemoryManager(path) as here:
        here.save_message("s", Message("user", "hi"))
        assert gaps_of(b"".join(export_all(here, set_aside=lambda: "here.db.corrupt-1"))) == ({}, "here.db.corrupt-1")
