"""Files of harombe are continued where they are, whatever cuts in."""

import os
import shutil
import signal
from pathlib import Path

import apsw
import pytest

from mnemoir.core.conversations import ROOT
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.sqlite.conversation_file import upgrade
from tests.conversations.session_kit import HAROMBE, behind_the_back, said, texts
from tests.narrowing import present

MOST_STATEMENTS = 200


def of_harombe(path: Path) -> None:
    with behind_the_back(path) as file:
        file.execute(HAROMBE)


def test_a_file_of_harombe_is_continued_where_it_is(tmp_path):
    of_harombe(path := tmp_path / "memory.db")
    with MemoryStorage(path) as storage:
        session = present(storage.get_session("s"))
        assert (session.system_prompt, session.metadata.tags, present(session.created_at).second) == (
            "be kind",
            ["x"],
            5,
        )
        history = storage.load_messages("s")
        assert [(message.role, message.text) for message in history] == [("user", "hi"), ("assistant", "")]
        assert present(history[1].tool_calls)[0].arguments == {"at": 1}
        assert storage.save_message(said("again")) == 4
        assert texts(storage)[-1] == "again"
    with behind_the_back(path) as file:  # as harombe writes and reads it
        file.execute(
            "INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, name, created_at) "
            "VALUES ('s', 'user', 'theirs', NULL, NULL, NULL, '2099-01-01T00:00:00')"
        )
        assert file.execute("SELECT count(*) FROM messages WHERE session_id = 's'").get == 4
    with MemoryStorage(path) as storage:
        assert texts(storage)[-1] == "theirs"
        assert storage.delete_session("s")


def test_an_upgrade_that_was_cut_short_is_done_by_the_next_start(tmp_path):
    path = tmp_path / "memory.db"
    with behind_the_back(path) as file:
        file.execute(HAROMBE)
        file.execute("CREATE TABLE summaries (clashing)")
        file.execute("CREATE TABLE embedding_state (clashing)")
    with pytest.raises(StorageUnavailable):
        MemoryStorage(path)
    with behind_the_back(path) as file:
        columns = {name for (name,) in file.execute("SELECT name FROM pragma_table_info('messages')")}
        assert "pinned" not in columns
        file.execute("DROP TABLE summaries; DROP TABLE embedding_state")
    with MemoryStorage(path) as storage:
        assert texts(storage) == ["hi", ""]


def test_branches_begin_in_a_file_of_harombe(tmp_path):
    of_harombe(tmp_path / "m.db")
    with MemoryStorage(tmp_path / "m.db") as storage:
        assert (present(storage.get_session("s")).head, storage.get_message_count("s"), texts(storage)) == (
            2,
            2,
            ["hi", ""],
        )
        storage.save_message(said("more"))
        [new] = storage.append_messages("s", [said("other", role="assistant")], parent_id=1)
        assert texts(storage) == ["hi", "other"]
        tree = [(one.id, one.parent_id, one.is_on_thread) for one in storage.message_tree("s", 9)]
        assert tree == [(1, ROOT, True), (2, 1, False), (4, 2, False), (new, 1, True)]
        call = '[{"id": "other", "name": "look", "arguments": {"at": 1}}]'
        history = [said("hi"), said("", role="assistant", tool_calls=call)]
        assert storage.append("s", history).ids == [1, 2]
        assert texts(storage, "gone") == ["orphan"]


def opened_until(path: Path, statements: int) -> bool:
    """Open the file in a process that is killed at the given statement; whether it got that far."""
    child = os.fork()
    if not child:
        left = iter(range(statements))

        def count(*_: object) -> bool:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return True

        try:
            connection = apsw.Connection(str(path))
            connection.set_exec_trace(count)
            upgrade(path, connection)
        finally:
            os._exit(0)  # a child must never go on with the tests of its parent
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.slow
def test_an_upgrade_that_is_killed_at_any_statement_is_done_by_the_next_start(tmp_path):
    of_harombe(tmp_path / "old.db")
    shutil.copy(tmp_path / "old.db", tmp_path / "new.db")
    assert not opened_until(tmp_path / "new.db", MOST_STATEMENTS)
    old, new = (schema(tmp_path / name) for name in ("old.db", "new.db"))
    for statements in range(MOST_STATEMENTS):
        path = tmp_path / f"{statements}.db"
        shutil.copy(tmp_path / "old.db", path)
        was_killed = opened_until(path, statements)
        assert schema(path) in ((old, new) if was_killed else (new,))
        with MemoryStorage(path) as storage:
            assert texts(storage) == ["hi", ""]
            assert len({one.uid for one in storage.message_tree("s", 9)} - {None}) == 2
            assert storage.append_messages("s", [said("beside")], parent_id=1) == [4]
        if not was_killed:
            break
    else:
        pytest.fail("the upgrade never came through")
    assert statements > 12


def schema(path: Path) -> list[tuple[object, ...]]:
    """All that the file says of itself, its number included."""
    with behind_the_back(path) as file:
        named = file.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
        return [(file.pragma("user_version"),), *named]
