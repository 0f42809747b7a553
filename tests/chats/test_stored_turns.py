"""What keeping a chat asks of the file of its conversation."""

import pytest

from mnemoir.chats.stored_turns import Place, store_answer, store_question
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.nodes.memory import local_node_parts
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.conversations import Message
from mnemoir.core.events import Gathering, Text
from mnemoir.storage.sqlite.shared_file import SharedFile
from tests.narrowing import present


@pytest.fixture
def own(tmp_path):
    with MemoryManager(tmp_path / "sessions.db") as manager:
        yield OwnConversations(folder=tmp_path, manager=manager, node_parts=local_node_parts(tmp_path))


@pytest.fixture
def trips(monkeypatch):
    """The calls of the session file, in order."""
    made: list[str] = []
    for kind in ("read", "write"):
        monkeypatch.setattr(SharedFile, kind, _noting(kind, made))
    return made


def _noting(kind, made):
    through = getattr(SharedFile, kind)

    def noting(*args, **options):
        made.append(kind)
        return through(*args, **options)

    return noting


def test_a_question_and_its_answer_are_one_write_each_and_nothing_is_read_back(own, trips):
    own.manager.create_session("You are helpful.", session_id="tea")
    trips.clear()
    place = Place(parent_id=None, sends_new_only=False)
    stored = store_question(own, "tea", history=[Message("user", "Hello")], prompt="", place=place)
    assert (trips, [one.text for one in stored.new.messages]) == (["write"], ["Hello"])
    gathering = Gathering()
    gathering.take([Text(text="Hi")])
    assert store_answer(own, stored.turn, gathering.so_far(), "run_1", "stop")  # its id
    assert trips == ["write", "write"]


def test_a_question_is_stored_and_the_window_behind_it_is_read_in_one_step(own, trips):
    own.manager.append_messages(
        "tea", [Message("user", "Hello"), Message("assistant", "Hi")], system_prompt="Be kind"
    )
    trips.clear()
    place = Place(parent_id=None, sends_new_only=True, shows_stored=True)
    stored = store_question(own, "tea", history=[Message("user", "And now?")], prompt="", place=place)
    shown = present(stored.shown)
    assert (trips, shown.prompt) == (["write"], "Be kind")
    assert [one.text for one in shown.window] == ["Hello", "Hi", "And now?"]
