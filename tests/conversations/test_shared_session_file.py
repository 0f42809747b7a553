"""Several threads and processes have one file of sessions open: nothing is lost, doubled or refused."""

import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import psutil
import pytest

from mnemoir.conversations import MemoryManager, Message
from mnemoir.core.conversations import StorageBusyError
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.sqlite import conversation_file
from tests.conversations.session_kit import HAROMBE, behind_the_back, said, texts, without_waits
from tests.narrowing import present


def started(path: Path, process: int, threads: int, count: int) -> subprocess.Popen[str]:
    call = [sys.executable, "-m", "tests.conversations.session_program", str(path), str(process), str(threads)]
    return subprocess.Popen([*call, str(count)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_eight_writers_in_four_processes_lose_and_double_nothing(tmp_path):
    path = tmp_path / "memory.db"  # which none of them finds there
    processes = [started(path, number, 2, 200) for number in range(4)]
    printed = [process.communicate(timeout=100) for process in processes]
    assert [(process.returncode, errors) for process, (_, errors) in zip(processes, printed, strict=True)] == [
        (0, "")
    ] * 4
    lines = [line.split(" ", 1) for output, _ in printed for line in output.splitlines()]
    assert len({int(message_id) for message_id, _ in lines}) == len(lines) == 1600
    with MemoryManager(path) as manager:
        for number in range(8):
            name = f"process {number // 2} thread {number % 2}"
            session_id = f"session of {name}"
            saved = [text for _, text in lines if text.startswith(f"{name} ")]
            assert [message.text for message in manager.load_session(session_id)] == saved
            ids = [int(message_id) for message_id, text in lines if text.startswith(f"{name} ")]
            assert ids == sorted(ids)


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(tmp_path):
    path = tmp_path / "memory.db"
    acknowledged: list[str] = []
    for round_ in range(2):
        process = started(path, round_, 2, 100_000)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(60)]
        process.kill()
        lines += process.communicate()[0].splitlines(keepends=True)
        acknowledged += [line.split(" ", 1)[1].strip() for line in lines if line.endswith("\n")]
    with MemoryManager(path) as manager:
        sessions = [session.id for session in manager.list_sessions(100)]
        kept = {message.text for session_id in sessions for message in manager.load_session(session_id)}
    assert len(acknowledged) >= 120
    assert set(acknowledged) <= kept


@pytest.mark.slow
def test_five_kills_lose_and_double_nothing_and_leave_the_thread_a_way_through_the_tree(tmp_path):
    path, acknowledged = tmp_path / "memory.db", list[str]()
    for round_ in range(5):
        call = [sys.executable, "-m", "tests.conversations.tree_program", str(path), str(round_)]
        with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None
            lines = [client.stdout.readline() for _ in range(7 + 4 * round_)]
            client.kill()
            lines += client.stdout.readlines()
        acknowledged += [line.strip() for line in lines if line.endswith("\n")]
        with MemoryManager(path) as manager:
            tree = {one.id: one for one in manager.storage.message_tree("s", 100_000)}
            head = present(manager.get_session("s")).head
        said_once = Counter(one.message.text for one in tree.values())
        assert set(acknowledged) <= set(said_once)
        assert set(said_once.values()) == {1}
        way = []
        while head:
            way.append(head)
            head = tree[head].parent_id
        assert way[::-1] == [one.id for one in tree.values() if one.is_on_thread]
        answers = [one for one in tree.values() if one.message.role == "assistant"]
        assert all(tree[present(one.parent_id)].message.role == "user" for one in answers)


def test_a_child_process_made_by_a_fork_and_its_parent_both_go_on(tmp_path):
    with MemoryStorage(tmp_path / "m.db") as storage:
        storage.save_message(said("before"))
        child = os.fork()
        if not child:
            try:
                for number in range(50):
                    storage.save_message(said(f"child {number}"))
                storage.close()
            except BaseException:  # noqa: BLE001  # a child must never go on with the tests of its parent
                os._exit(1)
            os._exit(0)
        for number in range(50):
            storage.save_message(said(f"parent {number}"))
        assert os.waitpid(child, 0)[1] == 0
        assert sorted(texts(storage)) == sorted(
            ["before", *(f"{who} {number}" for who in ("child", "parent") for number in range(50))]
        )


@pytest.fixture
def impatient(monkeypatch):
    """No try waits, neither in the database nor behind it."""
    without_waits(monkeypatch)


@pytest.mark.usefixtures("impatient")
def test_a_file_that_stays_busy_is_named_and_nothing_is_written(tmp_path):
    with MemoryStorage(tmp_path / "m.db") as storage, behind_the_back(storage.db_path) as file:
        file.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusyError, match=r"m\.db is busy: others held it through 5 tries"):
            storage.save_message(said("hi"))
        assert texts(storage) == []  # reading waits for no writer
        file.execute("ROLLBACK")
        storage.save_message(said("again"))
        assert texts(storage) == ["again"]


@pytest.mark.usefixtures("impatient")
def test_a_file_that_is_busy_for_a_while_is_tried_again(tmp_path, monkeypatch):
    with MemoryStorage(tmp_path / "m.db") as storage, behind_the_back(storage.db_path) as file:
        file.execute("BEGIN IMMEDIATE")
        waits = iter([lambda: None, lambda: file.execute("ROLLBACK")])  # what happens during the first and the second
        monkeypatch.setattr("mnemoir.storage.sqlite.shared_file.time.sleep", lambda _: next(waits)())
        storage.save_message(said("hi"))
        assert list(waits) == []
        assert texts(storage) == ["hi"]


@pytest.mark.usefixtures("impatient")
def test_a_file_in_its_old_journal_mode_is_waited_for_as_well(tmp_path):
    path = tmp_path / "m.db"
    MemoryStorage(path).close()
    with behind_the_back(path) as file:
        file.pragma("journal_mode", "delete")
        file.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageBusyError):
            MemoryStorage(path)
        file.execute("ROLLBACK")
    with MemoryStorage(path) as storage:
        assert storage.list_sessions() == []


@pytest.mark.slow
def test_threads_share_a_few_connections_and_leave_no_file_open(tmp_path):
    process = psutil.Process()
    with MemoryManager(tmp_path / "m.db") as manager:

        def talk(name: str) -> None:
            for number in range(25):
                manager.save_message(name, Message("user", str(number)))
                manager.load_history(name)

        before = process.num_fds()
        for _ in range(3):
            threads = [threading.Thread(target=talk, args=(f"s{number}",)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert process.num_fds() <= before + 3 * conversation_file.MOST_IDLE
        counts = [manager.get_message_count(f"s{number}") for number in range(8)]
    assert counts == [75] * 8
    assert not [file for file in process.open_files() if file.path.startswith(str(tmp_path))]


def test_a_file_that_was_removed_meanwhile_is_begun_anew(tmp_path):
    with MemoryStorage(tmp_path / "m.db") as storage:
        storage.save_message(said("lost"))
        for file in tmp_path.iterdir():
            file.unlink()
        storage.save_message(said("kept"))
        assert texts(storage) == ["kept"]
    with MemoryStorage(tmp_path / "m.db") as again:
        assert texts(again) == ["kept"]


@pytest.mark.parametrize("synced", [False, True])
def test_a_commit_is_synced_when_that_is_asked_for(tmp_path, synced):
    with MemoryStorage(tmp_path / "m.db", synced=synced) as storage:
        mode = storage._file.read(lambda sql: sql.value("PRAGMA synchronous"))
        keys = storage._file.read(lambda sql: sql.value("PRAGMA foreign_keys"))
    assert (mode, keys) == (2 if synced else 1, 1)


@pytest.mark.parametrize(
    ("schema", "cause"),
    [
        ("CREATE TABLE bookmarks (id)", "a database without sessions"),
        ("CREATE TABLE sessions (id); CREATE TABLE messages (id)", "a database without sessions"),
        (HAROMBE + "PRAGMA user_version = 99", "was made by an unreleased Mnemoir, or by a newer one"),
    ],
)
def test_another_database_is_refused_and_left_as_it_is(tmp_path, schema, cause):
    path = tmp_path / "other.db"
    with behind_the_back(path) as file:
        file.execute(schema)
    with pytest.raises(StorageUnavailable, match=cause):
        MemoryStorage(path)
    with behind_the_back(path) as file:
        tables = {name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert "summaries" not in tables


def test_a_folder_in_the_place_of_the_file_is_told(tmp_path):
    (tmp_path / "m.db").mkdir()
    with pytest.raises(StorageUnavailable, match=r"m\.db could not be read or written"):
        MemoryStorage(tmp_path / "m.db")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageUnavailable):
        MemoryStorage(tmp_path / "file" / "m.db")


def test_a_disk_that_is_full_is_told_and_the_file_goes_on(tmp_path):
    with MemoryStorage(tmp_path / "m.db") as storage:
        storage.save_message(said("one"))

        storage._file.read(lambda sql: sql.value(f"PRAGMA max_page_count = {sql.value('PRAGMA page_count')}"))
        with pytest.raises(StorageUnavailable, match="the disk is full"):
            storage.save_message(said("x" * 100_000))
        assert texts(storage) == ["one"]
        storage._file.read(lambda sql: sql.value("PRAGMA max_page_count = 1000000"))
        storage.save_message(said("two"))
        assert texts(storage) == ["one", "two"]
