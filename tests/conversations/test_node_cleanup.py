"""Deletion of node memories: by age, of deleted conversations, and never of objects being written."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemoir.conversations.nodes.cleanup import Report, celery_task, cleanup_node_memory, delete_node_memory
from mnemoir.conversations.nodes.keys import corrupt_copy_key, node_key, read_node_key
from mnemoir.core.errors import InvalidRequest, NotSupported, StorageUnavailable
from mnemoir.ports.objects import ObjectEntry
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.objects.opening import open_objects

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


class Shelf:
    """A store in memory whose objects have the ages that a test gives them."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, datetime]] = {}
        self.failing: set[str] = set()

    def put(self, key: str, age_days: float, size: int = 10) -> str:
        self.objects[key] = (b"x" * size, NOW - timedelta(days=age_days))
        return key

    def save(self, key: str, content: bytes) -> None:
        self.objects[key] = (content, NOW)

    def load_once(self, key: str) -> bytes:
        return self.objects[key][0]

    def exists(self, key: str) -> bool:
        return key in self.objects

    def delete(self, key: str) -> None:
        if key in self.failing:
            raise StorageUnavailable("no right to delete")
        self.objects.pop(key, None)

    def scan(self, prefix: str) -> Iterator[ObjectEntry]:
        for key, (content, modified) in list(self.objects.items()):
            if key.startswith(prefix):
                yield ObjectEntry(key=key, size_bytes=len(content), last_modified=modified)

    def modified_at(self, key: str) -> datetime | None:
        return self.objects[key][1] if key in self.objects else None


class Unlistable(Shelf):
    def scan(self, prefix: str) -> Iterator[ObjectEntry]:
        raise NotSupported("this store cannot list")


def clean(shelf: Any, days: float | None, **more: Any) -> Report:
    return cleanup_node_memory(shelf, days, clock=lambda: NOW, **more)


def test_ten_thousand_objects_of_mixed_ages_with_one_that_fails() -> None:
    shelf = Shelf()
    keys = [
        shelf.put(node_key("app", f"talk {n % 500}", f"node {n}"), age_days=n % 100, size=n % 7)
        for n in range(10_000)
    ]
    old = [n for n in range(10_000) if n % 100 > 60]
    shelf.failing = {keys[old[0]]}
    report = clean(shelf, 60)
    freed = sum(n % 7 for n in old[1:])
    assert report == Report(deleted=len(old) - 1, kept=10_000 - len(old), failed=1, bytes=freed)
    assert set(shelf.objects) == {keys[n] for n in range(10_000) if n % 100 <= 60} | shelf.failing
    shelf.failing = set()
    assert clean(shelf, 60) == Report(deleted=1, kept=10_000 - len(old), bytes=old[0] % 7)
    assert clean(shelf, 60) == Report(kept=10_000 - len(old))


def test_memories_of_deleted_conversations_are_deleted_at_any_age() -> None:
    shelf = Shelf()
    kept = shelf.put(node_key("app", "talk/1", "node"), 1)
    shelf.put(node_key("app", "talk/2", "node"), 1)
    shelf.put(corrupt_copy_key(node_key("app", "talk/2", "node"), NOW), 1)
    asked: list[tuple[str, str]] = []

    def exists(app: str, talk: str) -> bool:
        asked.append((app, talk))
        return talk == "talk/1"

    assert clean(shelf, None, exists=exists).deleted == 2
    assert list(shelf.objects) == [kept]
    assert asked == [("app", "talk/1"), ("app", "talk/2")]


def test_copies_of_damaged_memories_are_deleted_after_thirty_days() -> None:
    shelf = Shelf()
    key = node_key("app", "talk", "node")
    shelf.put(key, 400)
    shelf.put(corrupt_copy_key(key, NOW - timedelta(days=31)), 31)
    younger = shelf.put(corrupt_copy_key(key, NOW - timedelta(days=29)), 29)
    assert clean(shelf, None) == Report(deleted=1, kept=2, bytes=10)
    assert clean(shelf, 0) == Report(deleted=1, kept=1, bytes=10)
    assert list(shelf.objects) == [younger]


def test_an_age_of_exactly_the_limit_is_not_over_it() -> None:
    shelf = Shelf()
    shelf.put(node_key("app", "talk", "node"), 7)
    assert clean(shelf, 7).deleted == 0


def test_a_dry_run_reports_the_same_and_deletes_nothing() -> None:
    shelf = Shelf()
    for n in range(10):
        shelf.put(node_key("app", "talk", f"{n}"), n)
    dry = clean(shelf, 4, dry_run=True)
    assert len(shelf.objects) == 10
    assert clean(shelf, 4) == dry == Report(deleted=5, kept=5, bytes=50)


def test_a_limit_ends_the_run_and_the_next_one_goes_on() -> None:
    shelf = Shelf()
    for n in range(10):
        shelf.put(node_key("app", "talk", f"{n}"), 50)
    assert [clean(shelf, 4, limit=4).deleted for _ in range(4)] == [4, 4, 2, 0]
    assert clean(Shelf(), 4, limit=0) == Report()


def test_objects_written_during_the_run_stay() -> None:
    shelf = Shelf()
    key = shelf.put(node_key("app", "talk", "node"), 50)

    def exists(app: str, talk: str) -> bool:
        shelf.save(key, b"new")
        return False

    assert clean(shelf, None, exists=exists) == Report(kept=1)
    fresh = shelf.put(node_key("app", "talk", "fresh"), -0.001)
    assert clean(shelf, None, exists=lambda app, talk: False) == Report(kept=2)
    assert list(shelf.objects) == [key, fresh]


def test_a_write_in_the_second_of_the_start_stays_where_the_store_counts_whole_seconds() -> None:
    shelf = Shelf()
    key = shelf.put(node_key("app", "talk", "node"), 0)
    started = NOW + timedelta(milliseconds=500)
    assert cleanup_node_memory(shelf, None, lambda app, talk: False, clock=lambda: started) == Report(kept=1)
    assert list(shelf.objects) == [key]


def test_objects_that_are_no_node_memories_are_never_touched() -> None:
    shelf = Shelf()
    for key in ("node_memory/readme", "node_memory/a/b/c/d.json", "node_memory/a/b.json", "other/a/b/c.json"):
        shelf.put(key, 4000)
    assert clean(shelf, 1, exists=lambda app, talk: False) == Report(kept=3)
    assert len(shelf.objects) == 4


def test_a_store_that_cannot_list_works_with_keys_and_says_so_without() -> None:
    shelf = Unlistable()
    old, young = shelf.put(node_key("app", "talk", "old"), 50), shelf.put(node_key("app", "talk", "young"), 1)
    missing = node_key("app", "talk", "missing")
    with pytest.raises(NotSupported, match="name the keys"):
        clean(shelf, 7)
    assert clean(shelf, 7, keys=[old, young, missing]) == Report(deleted=1, kept=2, bytes=10)
    assert list(shelf.objects) == [young]


def test_a_failing_existence_check_deletes_nothing() -> None:
    shelf = Shelf()
    shelf.put(node_key("app", "talk", "node"), 50)

    def exists(app: str, talk: str) -> bool:
        raise ConnectionError("database down")

    assert clean(shelf, None, exists=exists) == Report(failed=1)
    assert len(shelf.objects) == 1


def test_negative_days_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="older than -1 days"):
        clean(Shelf(), -1)


def test_deleting_a_conversation_removes_its_memories_at_once_and_no_others(tmp_path: Path) -> None:
    for store in (open_objects("memory://"), LocalObjects(tmp_path)):
        own = [node_key("app", "talk", node) for node in ("a", "b")]
        own.append(corrupt_copy_key(own[0], NOW))
        others = [node_key("app", "talk2", "a"), node_key("app2", "talk", "a")]
        for key in own + others:
            store.save(key, b"secret")
        assert delete_node_memory(store, "app", "talk") == 3
        assert delete_node_memory(store, "app", "talk") == 0
        assert sorted(entry.key for entry in store.scan("")) == sorted(others)


def test_deleting_a_conversation_of_a_store_that_cannot_list_takes_the_ids_of_its_nodes() -> None:
    shelf = Unlistable()
    shelf.put(node_key("app", "talk", "a"), 1)
    with pytest.raises(NotSupported):
        delete_node_memory(shelf, "app", "talk")
    assert delete_node_memory(shelf, "app", "talk", node_ids=["a", "b"]) == 1


def test_files_of_a_directory_are_cleaned_up_by_the_time_of_their_last_write(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path)
    for node, age in (("old", 10), ("young", 1)):
        key = node_key("app", "talk", node)
        store.save(key, b"12345")
        then = (datetime.now(UTC) - timedelta(days=age)).timestamp()
        os.utime(tmp_path / key, (then, then))
    assert cleanup_node_memory(store, 7) == Report(deleted=1, kept=1, bytes=5)


def test_a_celery_application_can_run_it() -> None:
    tasks: dict[str, Callable[[], dict[str, int]]] = {}

    class App:
        """What of Celery is used: a decorator that registers."""

        def task(self, name: str) -> Any:
            return lambda function: tasks.setdefault(name, function)

    shelf = Shelf()
    shelf.put(node_key("app", "talk", "node"), 50)
    celery_task(App(), lambda: clean(shelf, 7))
    assert tasks["mnemoir.cleanup_node_memory"]() == {"deleted": 1, "kept": 0, "failed": 0, "bytes": 10}


@pytest.mark.parametrize(
    ("id", "step"),
    [
        ("plain-1.2_3", "plain-1.2_3"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("../../etc", "..%2F..%2Fetc"),
        ("a b", "a%20b"),
        ("ключ", "%D0%BA%D0%BB%D1%8E%D1%87"),
        ("50%", "50%25"),
        ("~", "%7E"),
        ("\ud800", "%ED%A0%80"),
    ],
)
def test_an_id_becomes_one_step_that_reads_back(id: str, step: str) -> None:
    key = node_key(id, id, id)
    assert key == f"node_memory/{step}/{step}/{step}.json"
    meaning = read_node_key(key)
    assert meaning is not None
    assert (meaning.app_id, meaning.conversation_id, meaning.is_corrupt_copy) == (id, id, False)


def test_an_id_too_long_for_a_file_name_becomes_a_digest_and_its_conversation_is_not_taken_for_gone() -> None:
    shelf = Shelf()
    long = [shelf.put(node_key("app", text * 300, "node"), 50) for text in ("a", "b", "ы")]
    assert len(set(long)) == 3
    assert max(len(step) for key in long for step in key.split("/")) < 100
    assert clean(shelf, None, exists=lambda app, talk: False) == Report(kept=3)
    assert clean(shelf, 7).deleted == 3


@pytest.mark.parametrize("ids", [("", "b", "c"), ("a", "", "c"), ("a", "b", "")])
def test_an_empty_id_is_refused(ids: tuple[str, str, str]) -> None:
    with pytest.raises(InvalidRequest, match="is empty"):
        node_key(*ids)
