"""Concurrent writers of one node memory: no turn is lost when a writer is late, has no lock or is killed."""

import json
import threading
from pathlib import Path

import pytest

from mnemoir.conversations.nodes.document import read_document, unpack
from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.objects import StoredObject
from mnemoir.storage.locks.in_process import InProcessLock
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.objects.opening import open_objects
from tests.conversations.node_kit import KEY, PlainStore, flush_turns, in_processes, memory, say, shared_memory


def turns_stored(content: bytes) -> list[str]:
    document = read_document(unpack(content))
    assert [record.role for record in document.messages] == ["user", "assistant"] * (len(document.messages) // 2)
    return [record.message_id for record in document.messages[::2]]


@pytest.mark.slow
def test_sixteen_threads_of_fifty_flushes_keep_eight_hundred_turns() -> None:
    store, lock = open_objects("memory://"), InProcessLock()
    memories = [memory(store, lock=lock) for _ in range(16)]
    threads = [threading.Thread(target=flush_turns, args=(memories[number], number, 50)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = turns_stored(store.load_once(KEY))
    assert len(found) == 800
    assert set(found) == {f"{worker}-{number}" for worker in range(16) for number in range(50)}
    for worker in range(16):  # in the order in which each was added
        assert [turn for turn in found if turn.startswith(f"{worker}-")] == [f"{worker}-{n}" for n in range(50)]


@pytest.mark.parametrize("is_locked", [True, False])
def test_four_processes_lose_no_turn_with_a_lock_or_without(tmp_path: Path, is_locked: bool) -> None:
    assert in_processes(tmp_path, 4, 10, is_locked=is_locked) == [0] * 4
    assert len(set(turns_stored((tmp_path / "objects" / KEY).read_bytes()))) == 40


def test_two_rounds_of_one_turn_at_the_same_instant_both_survive() -> None:
    store = open_objects("memory://")
    first, second = memory(store), memory(store)
    say(first, "turn", "same question", "same answer")
    say(second, "turn", "same question", "same answer")
    first.flush()
    second.flush()
    assert len(read_document(store.load_once(KEY)).messages) == 4


def test_a_plain_store_without_versions_is_merged_under_the_lock() -> None:
    store, lock = PlainStore(), InProcessLock()
    first, second = memory(store, lock=lock), memory(store, lock=lock)
    say(first, "1", "a", "b")
    say(second, "2", "c", "d")
    first.flush()
    second.flush()
    assert [record.message_id for record in read_document(store.objects[KEY]).messages] == ["1", "1", "2", "2"]


def test_a_flush_goes_on_without_a_lock_that_cannot_be_had(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("a file where the folder of locks should be")
    own = shared_memory(tmp_path)
    say(own, "1", "a", "b")
    own.flush()
    assert turns_stored((tmp_path / "objects" / KEY).read_bytes()) == ["1"]


class LosesAnswers(LocalObjects):
    """Saves, and then says that it could not."""

    is_losing = True

    def save_if(self, key: str, content: bytes, version: str | None) -> bool:
        is_saved = super().save_if(key, content, version)
        if self.is_losing:
            raise StorageUnavailable("the connection broke")
        return is_saved


def test_a_flush_that_is_repeated_after_a_lost_answer_stores_nothing_twice(tmp_path: Path) -> None:
    store = LosesAnswers(tmp_path)
    own = memory(store)
    say(own, "turn", "a", "b")
    say(own, "turn", "c", "d")
    with pytest.raises(StorageUnavailable):
        own.flush()
    say(own, "turn", "e", "f")
    store.is_losing = False
    own.flush()
    assert [record.content for record in read_document(store.load_once(KEY)).messages] == list("abcdef")


class LosesOnceSilently(LocalObjects):
    """As a client that sends again by itself: what it saved the first time stands in the way of the second."""

    is_first = True

    def save_if(self, key: str, content: bytes, version: str | None) -> bool:
        is_saved = super().save_if(key, content, version)
        was_first, self.is_first = self.is_first, False
        return is_saved and not was_first


def test_a_save_that_succeeded_unseen_is_recognised(tmp_path: Path) -> None:
    store = LosesOnceSilently(tmp_path)
    own = memory(store)
    say(own, "turn", "a", "b")
    own.flush()
    assert [record.content for record in read_document(store.load_once(KEY)).messages] == ["a", "b"]


class NeverSaves(LocalObjects):
    def save_if(self, key: str, content: bytes, version: str | None) -> bool:
        return False

    def load(self, key: str) -> StoredObject | None:
        return None


def test_a_flush_that_others_always_beat_gives_up_and_keeps_its_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemoir.conversations.nodes.object._LONGEST_PAUSE_S", 0.0)
    own = memory(NeverSaves(tmp_path))
    say(own, "turn", "a", "b")
    with pytest.raises(StorageUnavailable, match="again and again"):
        own.flush()
    assert [m.text for m in own.get_history_prompt_messages("turn", "tenant")] == ["a", "b"]


def test_clearing_while_another_run_has_unsaved_turns_keeps_only_those() -> None:
    store = open_objects("memory://")
    first, second = memory(store), memory(store)
    say(first, "1", "a", "b")
    first.flush()
    say(second, "2", "c", "d")
    first.clear()
    assert json.loads(store.load_once(KEY)) == {"version": 1, "messages": []}
    second.flush()
    assert [record.message_id for record in read_document(store.load_once(KEY)).messages] == ["2", "2"]
