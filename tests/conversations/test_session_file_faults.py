"""A disk that fills up or breaks: an honest error, what was stored whole, and the next call works."""

import os

import apsw
import pytest

from mnemoir.core.conversations import SessionMetadata
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.session_kit import said, texts
from tests.failing_calls import failing_calls
from tests.storage.sqlite.faulty_disk import faulty_disk

ERRORS = pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])


@pytest.fixture
def disk():
    with faulty_disk() as disk:
        yield disk


@pytest.fixture
def storage(disk, tmp_path):
    with MemoryStorage(tmp_path / "memory.db", synced=True) as opened:
        yield opened


@ERRORS
@failing_calls
def test_a_save_that_fails_at_any_write_or_sync_saves_nothing_and_the_next_works(disk, storage, error, failing):
    with disk.noting() as calls:
        storage.save_messages([said("whole"), said("y" * 9000)])
    saved = ["whole", "y" * 9000]
    for attempt in failing(disk, calls, error):
        with attempt:
            storage.save_messages([said(f"failing {attempt.number}"), said("x" * 9000)])
        if attempt.struck:
            assert str(storage.db_path) in attempt.told
            assert texts(storage) == saved
            storage.save_message(said(f"next {attempt.number}"))
            saved.append(f"next {attempt.number}")
    assert texts(storage) == [*saved, f"failing {attempt.number}", "x" * 9000]
    assert list(storage.db_path.parent.glob("*.corrupt-*")) == []


@ERRORS
@failing_calls
def test_a_deletion_that_fails_deletes_nothing(disk, storage, error, failing):
    messages = [said(f"{number} " * 100) for number in range(50)]
    storage.save_messages(messages)
    with disk.noting() as calls:
        storage.delete_session("s")
    storage.save_messages(messages)
    for attempt in failing(disk, calls, error):
        with attempt:
            deleted = storage.delete_session("s")
        assert len(texts(storage)) == (50 if attempt.told else 0)
        if attempt.struck and not attempt.told:  # all was deleted, and then the log could not be emptied
            storage.save_messages(messages)
    assert (deleted, texts(storage)) == (True, [])


def test_what_is_acknowledged_was_synced_behind_its_last_write(disk, storage):
    [question] = storage.append_messages("s", [said("q")])
    for change in (
        lambda: storage.save_messages([said("a", role="assistant")]),
        lambda: storage.append_messages("s", [said("b", role="assistant")], parent_id=question),
        lambda: storage.append("s", [said("q"), said("a", role="assistant"), said("more")]),
        lambda: storage.set_head("s", question),
        lambda: storage.branch_session("s", question, "copy", SessionMetadata()),
        lambda: storage.delete_session("s"),
    ):
        disk.calls.clear()
        change()
        synced = [at for at, call in enumerate(disk.calls) if call.startswith("sync")]
        written = [at for at, call in enumerate(disk.calls) if call == "write memory.db-wal"]
        assert synced
        assert max(synced) > max(written)


@ERRORS
@failing_calls
def test_a_branch_that_fails_at_any_write_or_sync_leaves_the_thread_as_it_was(disk, storage, error, failing):
    thread = [said("q"), said("x" * 9000, role="assistant"), said("more")]
    first, *_ = storage.append_messages("whole", thread)
    with disk.noting() as calls:
        storage.append_messages("whole", [said("y" * 9000, role="assistant")], parent_id=first)
    ids = storage.append_messages("s", thread)
    for attempt in failing(disk, calls, error):
        with attempt:
            storage.append_messages("s", [said("y" * 9000, role="assistant")], parent_id=ids[0])
        if attempt.struck:
            assert attempt.told
            assert (len(texts(storage)), storage.get_session("s").head) == (3, ids[-1])
    assert texts(storage) == ["q", "y" * 9000]


def test_every_new_folder_on_the_way_gets_its_name_synced(tmp_path, monkeypatch):
    synced: list[str] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    MemoryStorage(tmp_path / "project" / "user" / "m.db").close()
    assert [str(tmp_path), str(tmp_path / "project")] == synced
    assert (tmp_path / "project").stat().st_mode & 0o777 == 0o700
