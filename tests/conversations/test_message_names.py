"""The name of a message, `uid`: one for each, kept by exports and imports."""

import json

import pytest

from mnemoir.conversations import MemoryManager, Message
from mnemoir.conversations.transfer import import_sessions
from mnemoir.conversations.transfer.copies import InvalidImport
from tests.conversations.session_kit import behind_the_back
from tests.conversations.transfer_kit import HELLO, all_of, exported, lines, rich_session, said

UID = "msg_" + "5" * 32


@pytest.fixture
def here(tmp_path):
    with MemoryManager(tmp_path / "here.db") as manager:
        yield manager


@pytest.fixture
def there(tmp_path):
    with MemoryManager(tmp_path / "there.db") as manager:
        yield manager


def uids(manager, session_id="trip"):
    return [stored.uid for stored in manager.storage.message_tree(session_id, 100)]


def test_each_message_has_a_name_of_its_own(here):
    rich_session(here)
    names = uids(here)
    assert len(set(names)) == len(names) == 8
    assert all(len(name) == 36 and name.startswith("msg_") for name in names)


def test_messages_keep_their_names_on_the_way_into_an_empty_store(here, there):
    rich_session(here)
    import_sessions(there, all_of(here))
    assert uids(there) == uids(here)
    assert all_of(there) == all_of(here)


def test_a_second_copy_gets_other_names(here):
    rich_session(here)
    [copy] = import_sessions(here, all_of(here), on_conflict="rename").ids
    branch = here.branch_session("trip", here.get_session("trip").head)
    every = uids(here) + uids(here, copy) + uids(here, branch)
    assert len(set(every)) == len(every)
    assert None not in every


def test_a_session_put_in_anothers_place_keeps_the_names_of_the_file(here):
    rich_session(here)
    names = uids(here)
    import_sessions(here, all_of(here), on_conflict="replace")
    assert uids(here) == names


def test_a_name_that_a_file_gives_twice_is_that_of_the_first_message(here):
    twice = [
        said("user", "hi", uid=UID),
        said("assistant", "hello", uid=UID),
        said("user", "yes", uid=UID, parent_id=1),
    ]
    import_sessions(here, lines(*twice))
    first, *others = uids(here, "s")
    assert first == UID
    assert UID not in others


@pytest.mark.parametrize("uid", [7, "", "msg_5", UID.upper(), UID + "\n"])
def test_a_name_of_another_shape_is_refused(here, uid):
    with pytest.raises(InvalidImport, match="uid"):
        import_sessions(here, lines(said("user", "hi", uid=uid)))


def test_a_file_of_version_one_is_read_and_its_messages_are_named(here):
    import_sessions(here, lines(*HELLO).replace(b'"version": 2', b'"version": 1'))
    assert all(name.startswith("msg_") for name in uids(here, "s"))
    assert json.loads(exported(here, "s").splitlines()[0])["version"] == 2


def test_a_row_that_another_program_adds_is_named(here):
    here.save_message("s", Message("user", "ours"))
    with behind_the_back(here.storage.db_path) as file:
        file.execute(
            "INSERT INTO messages (session_id, role, content, created_at) "
            "VALUES ('s', 'user', 'theirs', '2099-01-01T00:00:00')"
        )
    ours, theirs = uids(here, "s")
    assert theirs.startswith("msg_")
    assert theirs != ours
