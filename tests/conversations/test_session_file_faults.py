"""A disk that fills up or breaks: an honest error, what was stored whole, and the next call works."""

import apsw
import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.session_kit import said, texts
from tests.storage.sqlite.faulty_disk import faulty_disk

MOST_CALLS = 200
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
def test_a_save_that_fails_at_any_write_or_sync_saves_nothing_and_the_next_works(disk, storage, error):
    saved: list[str] = []
    for number in range(1, MOST_CALLS):
        disk.arm(number, error)
        try:
            storage.save_messages([said(f"failing {number}"), said("x" * 9000)])
            failed = None
        except StorageUnavailable as exc:
            failed = str(exc)
        assert (failed is not None) == disk.disarm()
        if failed is None:
            break
        assert str(storage.db_path) in failed
        assert texts(storage) == saved
        storage.save_message(said(f"next {number}"))
        saved.append(f"next {number}")
    else:
        pytest.fail("the save never came through")
    assert number > 3
    assert texts(storage) == [*saved, f"failing {number}", "x" * 9000]
    assert list(storage.db_path.parent.glob("*.corrupt-*")) == []


@ERRORS
def test_a_deletion_that_fails_deletes_nothing(disk, storage, error):
    storage.save_messages([said(f"{number} " * 100) for number in range(50)])
    for number in range(1, MOST_CALLS):
        disk.arm(number, error)
        try:
            deleted = storage.delete_session("s")
        except StorageUnavailable:
            disk.disarm()
            assert len(texts(storage)) == 50
            continue
        disk.disarm()
        break
    else:
        pytest.fail("the deletion never came through")
    assert (deleted, number > 3, texts(storage)) == (True, True, [])
