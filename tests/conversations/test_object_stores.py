"""The contract of object stores for every implementation, and properties of a directory and of S3."""

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemoir.core.errors import InvalidRequest, SettingsError, StorageUnavailable
from mnemoir.ports.objects import ConditionalStore, ObjectNotFound
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.objects.opening import open_objects
from mnemoir.storage.objects.remote import remote_objects
from tests.conversations.s3_stub import BUCKET, PAGE, Bucket, serving_bucket

KEY = "node_memory/app/conversation/node.json"


@pytest.fixture(params=["local", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ConditionalStore]:
    if request.param == "local":
        yield open_objects(tmp_path / "objects")
    elif request.param == "memory":
        yield open_objects("memory://")
    else:
        with serving_bucket() as bucket:
            yield open_objects(f"s3://{BUCKET}/inner", bucket.options())


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with serving_bucket() as bucket:
        yield bucket


def test_an_object_is_saved_loaded_and_replaced_as_a_whole(store: ConditionalStore) -> None:
    store.save(KEY, b"a longer first content")
    store.save(KEY, b"second")
    assert store.load_once(KEY) == b"second"
    assert store.exists(KEY)


def test_a_missing_object_is_told_apart_from_an_empty_one(store: ConditionalStore) -> None:
    store.save("empty", b"")
    assert store.load_once("empty") == b""
    assert (store.exists(KEY), store.load(KEY), store.modified_at(KEY)) == (False, None, None)
    with pytest.raises(ObjectNotFound) as caught:
        store.load_once(KEY)
    assert isinstance(caught.value, FileNotFoundError)


def test_deleting_takes_an_object_away_and_may_be_repeated(store: ConditionalStore) -> None:
    store.save(KEY, b"x")
    store.delete(KEY)
    store.delete(KEY)
    assert not store.exists(KEY)


def test_a_scan_finds_everything_below_its_prefix_and_nothing_beside_it(store: ConditionalStore) -> None:
    wanted = {f"chats/a/{number}.json" for number in range(2 * PAGE + 1)} | {"chats/b.json"}
    for key in wanted | {"chats2/a.json", "chat.json"}:
        store.save(key, b"12345")
    found = list(store.scan("chats/"))
    assert {entry.key for entry in found} == wanted
    assert len(found) == len(wanted)
    assert {entry.size_bytes for entry in found} == {5}
    assert {entry.key: entry.last_modified for entry in found} == {key: store.modified_at(key) for key in wanted}
    assert len(list(store.scan(""))) == len(wanted) + 2
    assert list(store.scan("nothing/")) == []


def test_the_time_of_the_last_write_is_now_and_in_utc(store: ConditionalStore) -> None:
    store.save(KEY, b"x")
    modified = store.modified_at(KEY)
    assert modified is not None
    assert modified.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - modified) < timedelta(minutes=1)


def test_a_conditional_save_refuses_an_unseen_version(store: ConditionalStore) -> None:
    assert store.save_if(KEY, b"first", None)
    assert not store.save_if(KEY, b"lost", None)
    seen = store.load(KEY)
    assert seen is not None
    assert store.save_if(KEY, b"second", seen.version)
    assert not store.save_if(KEY, b"lost", seen.version)
    assert store.load_once(KEY) == b"second"
    store.delete(KEY)
    assert not store.save_if(KEY, b"lost", seen.version)
    assert not store.exists(KEY)


def test_of_many_conditional_saves_at_once_one_wins(store: ConditionalStore) -> None:
    wins: list[int] = []

    def attempt(number: int) -> None:
        if store.save_if(KEY, b"%d" % number, None):
            wins.append(number)

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [store.load_once(KEY)] == [b"%d" % number for number in wins]


def test_an_object_above_the_size_of_one_upload_part_saves_on_condition(store: ConditionalStore) -> None:
    large = os.urandom(6 * 1024 * 1024)
    assert store.save_if(KEY, large, None)
    assert store.load_once(KEY) == large


def test_keys_with_percent_signs_and_other_scripts_are_kept_as_they_are(store: ConditionalStore) -> None:
    keys = {"a/%2E%2E/b.json", "a/ключ.json", "a/b c+d.json"}
    for key in keys:
        store.save(key, key.encode())
    assert {entry.key: store.load_once(entry.key) for entry in store.scan("a/")} == {k: k.encode() for k in keys}


@pytest.mark.parametrize(
    "key", ["", "/a", "a/", "a//b", "../a", "a/./b", "a/..", "a\x00b", "a\\b", "a/x.tmp", "a" * 241]
)
def test_keys_that_could_leave_the_store_are_refused(store: ConditionalStore, key: str) -> None:
    for use in (store.load, store.exists, store.delete, store.modified_at, lambda key: store.save(key, b"x")):
        with pytest.raises(InvalidRequest, match="is not allowed"):
            use(key)


def test_a_directory_without_room_keeps_the_old_object(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path)
    store.save(KEY, b"old")
    folder = (tmp_path / KEY).parent
    (folder / "node.json.tmp").mkdir()  # stands where the new content is to be written
    with pytest.raises(StorageUnavailable, match=r"node\.json could not be written"):
        store.save(KEY, b"new")
    assert store.load_once(KEY) == b"old"


def test_links_below_the_root_of_a_directory_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(outside)
    (tmp_path / "root" / "file").symlink_to(outside / "secret")
    store = LocalObjects(tmp_path / "root")
    for use in (lambda: store.load("link/secret"), lambda: store.save("link/new", b""), lambda: store.load("file")):
        with pytest.raises(StorageUnavailable):
            use()
    assert list(store.scan("")) == []
    assert [path.name for path in outside.iterdir()] == ["secret"]


def test_a_killed_writers_temporary_file_is_no_object_and_is_overwritten(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path)
    store.save("a/b.json", b"whole")
    (tmp_path / "a" / "b.json.tmp").write_bytes(b"half")
    assert [entry.key for entry in store.scan("")] == ["a/b.json"]
    store.save("a/b.json", b"new")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["b.json"]


def test_a_directory_is_private_and_leaves_no_empty_folders(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path / "root")
    store.save("a/b/c.json", b"x")
    store.save("a/d.json", b"x")
    assert (tmp_path / "root/a/b/c.json").stat().st_mode & 0o077 == 0
    assert (tmp_path / "root/a/b").stat().st_mode & 0o077 == 0
    store.delete("a/b/c.json")
    assert sorted(path.name for path in (tmp_path / "root/a").iterdir()) == ["d.json"]


def test_concurrent_saves_and_deletes_in_one_folder_succeed(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path)
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for _ in range(50):
                store.save(f"a/b/{name}.json", b"x")
                store.delete(f"a/b/{name}.json")
        except BaseException as exc:  # noqa: BLE001  # told by the assertion
            failures.append(exc)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert list(store.scan("")) == []


def test_s3_tries_again_after_503(bucket: Bucket) -> None:
    store = open_objects(f"s3://{BUCKET}", {**bucket.options(), **QUICK})
    bucket.failures = [503, 503]
    store.save("a", b"content")
    bucket.failures = [503]
    assert store.load_once("a") == b"content"
    assert bucket.requests == ["PUT a"] * 3 + ["GET a"] * 2


def test_s3_that_keeps_failing_is_storage_unavailable_and_not_a_missing_object(bucket: Bucket) -> None:
    store = open_objects(f"s3://{BUCKET}", {**bucket.options(), **QUICK})
    bucket.failures = [503] * 50
    for use in (lambda: store.load("a"), lambda: store.exists("a"), lambda: list(store.scan(""))):
        with pytest.raises(StorageUnavailable, match=f"s3://{BUCKET}"):
            use()


def test_s3_lists_page_by_page(bucket: Bucket) -> None:
    store = open_objects(f"s3://{BUCKET}/inner", bucket.options())
    for number in range(2 * PAGE + 1):
        store.save(f"{number}", b"x")
    bucket.requests.clear()
    assert len(list(store.scan(""))) == 2 * PAGE + 1
    assert len(bucket.requests) == 3


def test_s3_that_refuses_the_key_is_unavailable_and_the_error_hides_the_secret(bucket: Bucket) -> None:
    store = open_objects(f"s3://{BUCKET}", {**bucket.options(), **QUICK})
    bucket.failures = [403]
    with pytest.raises(StorageUnavailable) as caught:
        store.load("a")
    assert "secret" not in str(caught.value)


def test_a_url_that_names_no_store_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match="ftp://host"):
        remote_objects("ftp://user:secret@host/path")
    with pytest.raises(SettingsError, match="another machine"):
        open_objects("file://host/path")


def test_a_file_url_is_a_directory(tmp_path: Path) -> None:
    open_objects(f"file://{tmp_path}/with%20space").save("a", b"x")
    assert (tmp_path / "with space" / "a").read_bytes() == b"x"


QUICK = {
    "retry_config": {
        "max_retries": 3,
        "retry_timeout": timedelta(seconds=10),
        "backoff": {
            "init_backoff": timedelta(milliseconds=1),
            "max_backoff": timedelta(milliseconds=2),
            "base": 2,
        },
    }
}
