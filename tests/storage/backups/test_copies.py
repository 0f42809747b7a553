"""Copies of files and databases that others write to meanwhile."""

import threading
from contextlib import closing
from functools import partial

import apsw
import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.backups import copies
from mnemoir.storage.backups.contents import found_in
from mnemoir.storage.backups.copies import copy_databases, copy_file
from tests.storage.sqlite.faulty_disk import faulty_disk

COPIES = 20


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def target(tmp_path):
    folder = tmp_path / "copy"
    folder.mkdir()
    return folder


def opened(path):
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(60_000)
    return connection


def made(path, journal="wal"):
    connection = opened(path)
    connection.pragma("journal_mode", journal)
    connection.execute("CREATE TABLE seen (number INTEGER); INSERT INTO seen VALUES (0)")
    return connection


def number_in(path):
    with closing(opened(path)) as connection:
        assert connection.pragma("integrity_check") == "ok"
        return connection.execute("SELECT number FROM seen").get


def count_in(databases, stops):
    """Write a number into one after the other, then the next number."""
    connections = [opened(path) for path in databases]
    while not stops.is_set():
        for connection in connections:
            connection.execute("UPDATE seen SET number = number + 1")
    for connection in connections:
        connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_databases_are_copied_as_of_one_moment(root, target, journal, monkeypatch):
    monkeypatch.setattr(copies, "_MOMENT_S", 300.0)
    names = ["first.db", "second.db"]
    for name in names:
        made(root / name, journal).close()
    stops = threading.Event()
    writer = threading.Thread(target=count_in, args=([root / name for name in names], stops))
    writer.start()
    try:
        for at in range(COPIES):
            copy_databases(root, names, target / str(at))
    finally:
        stops.set()
        writer.join()
    for at in range(COPIES):
        first, second = (number_in(target / str(at) / name) for name in names)
        assert first - second in (0, 1)


def test_a_copy_has_what_is_still_in_the_log_and_no_file_beside_it(root, target):
    with closing(made(root / "one.db")) as connection:
        connection.execute("UPDATE seen SET number = 7")
        (entry,) = copy_databases(root, ["one.db"], target)
        assert (root / "one.db-wal").stat().st_size
    assert [path.name for path in target.iterdir()] == ["one.db"]
    assert number_in(target / "one.db") == 7
    assert entry.is_database


def test_what_a_killed_writer_began_is_undone_in_the_copy(root, target):
    with closing(made(root / "one.db", "delete")) as connection:
        connection.pragma("cache_size", 1)
        connection.execute("BEGIN; CREATE TABLE more (text)")
        connection.executemany("INSERT INTO more VALUES (?)", [("x" * 4000,)] * 100)
        left = {path.name: path.read_bytes() for path in root.iterdir()}
        connection.execute("ROLLBACK")
    assert left.keys() == {"one.db", "one.db-journal"}
    for name, content in left.items():
        (root / name).write_bytes(content)
    copy_databases(root, ["one.db"], target)
    assert number_in(target / "one.db") == 0


def test_a_file_that_changes_while_it_is_copied_is_copied_again(root, target, monkeypatch):
    file = root / "word"
    file.write_text("old")
    copied, changes = copies._copy_bytes, iter(["newer", "newest"])

    def changed_meanwhile(*streams):
        done = copied(*streams)
        for text in changes:
            file.write_text(text)
            break
        return done

    monkeypatch.setattr(copies, "_copy_bytes", changed_meanwhile)
    entry = copy_file(root, "word", target)
    assert (target / "word").read_text() == "newest"
    assert entry is not None
    assert entry.size_bytes == len("newest")


def test_a_file_that_never_rests_is_refused_by_name(root, target, monkeypatch):
    (root / "word").write_text("old")
    monkeypatch.setattr(copies, "_PATIENCE_S", 0.0)
    copied = copies._copy_bytes

    def changed_meanwhile(*streams):
        done = copied(*streams)
        with (root / "word").open("a") as file:
            file.write("more")
        return done

    monkeypatch.setattr(copies, "_copy_bytes", changed_meanwhile)
    with pytest.raises(StorageUnavailable, match="word changes faster"):
        copy_file(root, "word", target)


def test_a_file_that_is_gone_is_none(root, target):
    assert copy_file(root, "gone", target) is None
    assert copy_file(root, "no/folder", target) is None
    assert list(target.iterdir()) == []


def test_what_is_found_is_neither_locks_nor_unfinished_nor_side_files(root):
    made(root / "one.db").close()
    names = [
        "mnemoir.lock",
        "word.tmp",
        "one.db-wal",
        "one.db-shm",
        "two.db.new",
        "word",
        "x.db.corrupt-1",
        "tea.lock",
    ]
    for name in [*names, "x.db.corrupt-1-wal"]:
        (root / name).touch()
    (root / "link").symlink_to(root / "word")
    found = found_in(root)
    assert found.databases == ["one.db"]
    assert found.files == ["tea.lock", "word", "x.db.corrupt-1", "x.db.corrupt-1-wal"]
    assert found.passed_over == [f"{root / 'link'} is a link, and links are not followed."]
    skipped = found_in(root, is_skipped=partial(str.__eq__, "word"))
    assert "word" not in skipped.files


def test_a_full_disk_is_told_of_the_copy_and_not_of_the_database(root, target):
    with closing(made(root / "one.db", journal="delete")), faulty_disk() as disk:
        disk.arm(1, apsw.FullError)
        with pytest.raises(StorageUnavailable, match=f"{target / 'one.db'} could not be written: the disk is full"):
            copy_databases(root, ["one.db"], target)
