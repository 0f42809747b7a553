"""A damaged file of sessions is set aside under another name and never begun anew without a word."""

from contextlib import closing

import apsw
import pytest
from structlog.testing import capture_logs

from mnemoir.conversations import MemoryManager, Message
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.session_kit import said, texts


@pytest.fixture
def path(tmp_path):
    """A file with a few pages of messages, closed."""
    path = tmp_path / "memory.db"
    with MemoryStorage(path) as storage:
        storage.save_messages([said(f"message {number} " * 50) for number in range(60)])
    return path


def test_a_damaged_file_is_kept_under_another_name_and_a_new_one_begun(path):
    path.write_bytes(was := b"not a database" * 100)
    with capture_logs() as logs, MemoryStorage(path) as storage:
        assert texts(storage) == []
        storage.save_message(said("new"))
        assert texts(storage) == ["new"]
    [kept] = path.parent.glob("memory.db.corrupt-*Z")
    assert kept.read_bytes() == was
    [told] = [line for line in logs if line["log_level"] == "error"]
    assert (told["event"], told["kept_as"]) == ("session file damaged", kept.name)


def test_damage_can_be_an_error_instead(path):
    path.write_bytes(was := b"not a database" * 100)
    with pytest.raises(StorageUnavailable, match=r"memory\.db is damaged .* was left as it is"):
        MemoryManager(path, on_corruption="raise")
    assert (path.read_bytes(), list(path.parent.glob("*.corrupt-*"))) == (was, [])


@pytest.mark.slow
@pytest.mark.parametrize("twentieth", range(20))
def test_a_file_that_is_cut_short_never_begins_empty_without_a_word(path, twentieth):
    whole = path.read_bytes()
    path.write_bytes(whole[: 1 + (len(whole) - 1) * twentieth // 20])
    with capture_logs() as logs, MemoryStorage(path) as storage:
        storage.save_message(said("new"))
        assert texts(storage) == ["new"]
    assert len(list(path.parent.glob("*.corrupt-*Z"))) == 1
    assert [line["event"] for line in logs] == ["session file damaged"]


@pytest.mark.parametrize("index", ["sqlite_autoindex_sessions_1", "idx_messages_thread"])
def test_a_damaged_index_is_made_anew_and_hides_nothing(path, index):
    damage_index(path, index)
    with capture_logs() as logs, MemoryStorage(path) as storage:
        assert storage.get_session("s") is not None
        assert len(texts(storage)) == 60
    assert [line["event"] for line in logs] == ["indexes of a session file were damaged and made anew"]
    with capture_logs() as logs, MemoryStorage(path) as storage:
        assert len(texts(storage)) == 60
    assert logs == []


def damage_index(path, index):
    """Change the last byte of its first page, where its oldest entry stands."""
    with closing(apsw.Connection(str(path))) as connection:
        page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (index,)).get
        size = connection.pragma("page_size")
    with path.open("r+b") as raw:
        raw.seek(page * size - 1)
        [last] = raw.read(1)
        raw.seek(page * size - 1)
        raw.write(bytes([last ^ 0xFF]))


def test_damage_behind_a_sound_beginning_is_set_aside_when_it_is_met(path):
    with MemoryStorage(path) as storage:
        with path.open("r+b") as raw:
            raw.seek(4096)
            raw.write(b"\xa5" * (path.stat().st_size - 4096))
        assert texts(storage) == []
        storage.save_message(said("new"))
        assert texts(storage) == ["new"]
        assert len(list(path.parent.glob("*.corrupt-*Z"))) == 1


def test_a_lost_beginning_with_its_log_left_is_damage(path):
    path.unlink()
    path.touch()
    log = path.with_name("memory.db-wal")
    log.write_bytes(b"pages that were never written back")
    with MemoryStorage(path) as storage:
        assert texts(storage) == []
    [kept] = path.parent.glob("*.corrupt-*Z-wal")
    assert kept.read_bytes() == b"pages that were never written back"


def test_an_empty_file_is_a_beginning(tmp_path):
    (tmp_path / "m.db").touch()
    with MemoryStorage(tmp_path / "m.db") as storage:
        assert storage.save_message(said("hi")) == 1
    assert list(tmp_path.glob("*.corrupt-*")) == []


def test_ids_of_a_new_file_are_none_that_the_damaged_one_gave(path):
    """A vector store may still name vectors by them."""
    path.write_bytes(b"damaged")
    with MemoryStorage(path) as storage:
        first = storage.save_message(said("new"))
        assert 60 < first < 2**53
        assert storage.save_message(said("newer")) == first + 1


def test_two_that_find_the_damage_set_it_aside_once(path):
    with MemoryStorage(path) as one, MemoryStorage(path) as other:
        path.write_bytes(b"not a database" * 1000)
        one.save_message(said("from one"))
        other.save_message(said("from other"))
        assert texts(one) == texts(other) == ["from one", "from other"]
    assert len(list(path.parent.glob("*.corrupt-*Z"))) == 1


def test_a_manager_goes_on_with_an_empty_memory(path):
    path.write_bytes(b"damaged" * 1000)
    with MemoryManager(path) as manager:
        assert manager.load_history("s") == []
        manager.save_message("s", Message("user", "hi"))
        assert [message.text for message in manager.load_history("s")] == ["hi"]
