"""`memory.storage_path` that names a file: the database of harombe is imported once, any other file is refused."""

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest
import requests

from mnemoir.conversations import MemoryManager
from tests.cli.chat_server import piped
from tests.cli.command_process import run_here
from tests.conversations.session_kit import user
from tests.conversations.test_import_harombe import ROWS, TABLES
from tests.serving import ServerProcess

LINE = "Imported 2 conversations with 4 messages for the user user from {}. The file was only read"


@pytest.fixture
def past(tmp_path):
    """The file of harombe, whose sessions are of somebody else there."""
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(TABLES + ROWS)
    return path


def here(tmp_path, capsys, path, *arguments):
    given = {"MNEMOIR_MEMORY__STORAGE_PATH": str(path)}
    return run_here(*arguments, "--data-dir", "data", cwd=tmp_path, capsys=capsys, **given)


def ids(done):
    assert done.returncode == 0, done.stderr
    return sorted(one["id"] for one in json.loads(done.stdout)["results"])


def test_a_server_imports_the_sessions_once_and_says_so_in_one_line(past, tmp_path):
    before = past.read_bytes()
    environment = {"MNEMOIR_MEMORY__STORAGE_PATH": str(past)}
    for _ in range(2):
        with ServerProcess(tmp_path / "data", environment=environment) as server:
            listed = requests.get(f"{server.url}/api/conversations", timeout=60).json()["results"]
            assert sorted((one["id"], one["user_id"]) for one in listed) == [("s", "user"), ("t", "user")]
            log = server.log.read_text()
    assert log.count("Mnemoir serves on") == 2
    assert [line.startswith(LINE.format(past)) for line in log.splitlines() if "Imported" in line] == [True]
    assert past.read_bytes() == before
    assert list(tmp_path.glob("memory.db*")) == [past]


def test_the_terminal_chat_starts_and_imports_them(past, tmp_path, capsys):
    def chat(*given):
        setting = {"MNEMOIR_MEMORY__STORAGE_PATH": str(past)}
        return piped("--data-dir", "data", *given, said="Hello.\n", cwd=tmp_path, capsys=capsys, **setting)

    done = chat("--session", "s")
    assert done.returncode == 0, done.stderr
    assert [line.startswith(LINE.format(past)) for line in done.stderr.splitlines()].count(True) == 1
    assert "Going on with T: 3 messages." in done.stderr
    assert "Imported" not in chat().stderr


def test_what_was_deleted_since_does_not_come_back(past, tmp_path, capsys):
    here(tmp_path, capsys, past, "conversations", "list")
    assert here(tmp_path, capsys, past, "conversations", "delete", "s", "--yes").returncode == 0
    assert ids(here(tmp_path, capsys, past, "conversations", "list", "--json")) == ["t"]


def test_an_import_that_was_cut_is_made_whole_and_what_is_there_stays(past, tmp_path, capsys):
    cut: dict[str, Any] = {
        "id": "s",
        "custom": {"import_unfinished": "s"},
        "messages": [{"role": "user", "content": "cut"}],
    }
    own: dict[str, Any] = {"id": "t", "messages": [{"role": "user", "content": "mine"}]}
    with ServerProcess(tmp_path / "data") as server:
        for body in (cut, own):
            requests.post(f"{server.url}/api/conversations", json=body, timeout=60).raise_for_status()
    done = here(tmp_path, capsys, past, "conversations", "list", "--json")
    assert "Imported 1 conversations with 3 messages" in done.stderr
    assert "1 more are not imported" in done.stderr
    previews = {one["id"]: (one["preview"], one["message_count"]) for one in json.loads(done.stdout)["results"]}
    assert previews == {"s": ("hi", 3), "t": ("mine", 1)}


def test_without_the_setting_they_are_still_there(past, tmp_path, capsys):
    here(tmp_path, capsys, past, "conversations", "list")
    done = run_here("conversations", "list", "--json", "--data-dir", "data", cwd=tmp_path, capsys=capsys)
    assert ids(done) == ["s", "t"]


OTHERS = {
    "text": (b"plain words", "neither a folder nor the database of harombe"),
    "nothing": (b"", "neither a folder nor the database of harombe"),
    "chats": (b'[{"uuid": "1", "name": "n", "chat_messages": []}]', "It is a file of chats (claude)."),
    "half a database": (b"SQLite format 3\0" + bytes(40), "is cut off"),
}


@pytest.mark.parametrize(("content", "what"), OTHERS.values(), ids=list(OTHERS))
def test_any_other_file_is_refused_by_what_it_is(tmp_path, capsys, content, what):
    path = tmp_path / "other"
    path.write_bytes(content)
    done = here(tmp_path, capsys, path, "conversations", "list")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"mnemoir: memory.storage_path names the file {path}. ")
    assert what in done.stderr
    assert path.read_bytes() == content


def test_databases_of_others_and_of_mnemoir_are_refused(tmp_path, capsys):
    with closing(sqlite3.connect(tmp_path / "other.db")) as made:
        made.execute("CREATE TABLE notes (id)")
        made.commit()
    with MemoryManager(tmp_path / "own.db") as manager:
        manager.save_message("s", user("Hello."))
    for name, what in (("other.db", "without the tables of sessions and messages"), ("own.db", "or of Mnemoir")):
        done = here(tmp_path, capsys, tmp_path / name, "conversations", "list")
        assert (done.returncode, what in done.stderr) == (1, True), done.stderr


def test_a_folder_holds_the_conversations_as_before(tmp_path, capsys):
    assert here(tmp_path, capsys, tmp_path / "talk", "conversations", "list", "--json").returncode == 0
    assert (tmp_path / "talk").is_dir()
