"""The contract of leases for every implementation: a process, a directory, Redis."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog

from mnemoir.core.errors import SettingsError, StorageUnavailable
from mnemoir.ports.leases import Lease, Leases, hold_lease
from mnemoir.storage.locks.file import FileLock
from mnemoir.storage.locks.in_process import InProcessLock
from mnemoir.storage.locks.redis import redis_lock
from mnemoir.storage.locks.rows import RowLeases
from mnemoir.storage.sqlite.opening import open_lock_file
from tests.redis_server import RedisServer

KEY = "node_memory/app/conversation/node.json"
SHORT = 0.05  # seconds; a lease that a test lets end


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    with RedisServer() as server:
        yield f"unix://{server.socket}"


@pytest.fixture(params=["in process", "file", "rows", "redis"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Leases]:
    """Another way to the same leases with every call."""
    if request.param == "in process":
        shared = InProcessLock()
        return lambda: shared
    if request.param == "file":
        return lambda: FileLock(tmp_path / "locks")
    if request.param == "rows":
        rows = RowLeases("this", open_lock_file, tmp_path / "locks.sqlite")
        return lambda: rows
    url = request.getfixturevalue("redis_url")
    redis_lock(url)._client.flushall()
    return lambda: redis_lock(url)


def test_a_lease_is_exclusive_until_its_release(make: Callable[[], Leases]) -> None:
    lease = make().acquire(KEY)
    assert lease is not None
    assert make().acquire(KEY, wait=0) is None
    assert make().release(lease)
    assert make().acquire(KEY, wait=0) is not None


def test_leases_of_other_keys_are_free(make: Callable[[], Leases]) -> None:
    assert make().acquire(KEY) is not None
    assert make().acquire(KEY + "2", wait=0) is not None


def test_each_lease_of_a_key_has_a_higher_fence(make: Callable[[], Leases]) -> None:
    fences = []
    for _ in range(5):
        lease = make().acquire(KEY)
        assert lease is not None
        assert make().release(lease)
        fences.append(lease.fence)
    expired = make().acquire(KEY, ttl=SHORT)
    newer = make().acquire(KEY, wait=30)
    assert expired is not None
    assert newer is not None
    fences += [expired.fence, newer.fence]
    assert fences == sorted(set(fences))


def test_a_waiting_caller_gets_the_lease_after_its_release(make: Callable[[], Leases]) -> None:
    lease = make().acquire(KEY)
    assert lease is not None
    got: list[Lease | None] = []
    waiting = threading.Thread(target=lambda: got.append(make().acquire(KEY, wait=30)))
    waiting.start()
    make().release(lease)
    waiting.join()
    assert got[0] is not None


def test_a_lease_ends_by_its_time(make: Callable[[], Leases]) -> None:
    assert make().acquire(KEY, ttl=SHORT) is not None
    assert make().acquire(KEY, wait=30) is not None


def test_an_expired_holder_cannot_end_the_lease_of_a_newer_one(make: Callable[[], Leases]) -> None:
    expired = make().acquire(KEY, ttl=SHORT)
    newer = make().acquire(KEY, wait=30)
    assert expired is not None
    assert newer is not None
    assert not make().release(expired)
    assert not make().renew(expired)
    assert make().acquire(KEY, wait=0) is None
    assert make().release(newer)


@pytest.mark.real_time
def test_a_renewed_lease_lasts_on(make: Callable[[], Leases]) -> None:
    lease = make().acquire(KEY, ttl=1)
    assert lease is not None
    assert make().renew(lease, ttl=60)
    assert make().acquire(KEY, wait=1.2) is None
    assert make().release(lease)
    assert not make().renew(lease)


@pytest.mark.real_time
def test_a_lease_is_renewed_as_long_as_the_work_under_it_takes(make: Callable[[], Leases]) -> None:
    with hold_lease(make(), KEY, ttl=1) as is_held:
        assert is_held
        assert make().acquire(KEY, wait=1.5) is None
    assert make().acquire(KEY, wait=0) is not None


def test_only_one_of_many_is_inside_at_a_time(make: Callable[[], Leases], tmp_path: Path) -> None:
    count = tmp_path / "count"
    count.write_text("0")

    def work() -> None:
        lock = make()
        for _ in range(10):
            with hold_lease(lock, KEY, wait=60):
                count.write_text(str(int(count.read_text()) + 1))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count.read_text() == "60"


def test_the_work_goes_on_without_a_lease_with_a_warning(make: Callable[[], Leases]) -> None:
    lease = make().acquire(KEY)
    assert lease is not None
    with structlog.testing.capture_logs() as logs, hold_lease(make(), KEY, wait=0) as is_held:
        assert not is_held
    assert [log["event"] for log in logs] == ["going on without the lock"]
    assert make().release(lease)


def _hold_and_hang(folder: Path, ttl: float) -> None:
    lease = FileLock(folder).acquire(KEY, ttl=ttl)
    (folder / "taken").write_text(lease.secret if lease else "")
    signal.pause()


def test_the_lease_of_a_killed_process_ends_by_its_time(tmp_path: Path) -> None:
    tmp_path.joinpath("locks").mkdir()
    folder = tmp_path / "locks"
    holder = multiprocessing.get_context("fork").Process(target=_hold_and_hang, args=(folder, 0.5))
    holder.start()
    while not (folder / "taken").exists() and holder.is_alive():
        holder.join(0.01)
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    assert FileLock(folder).acquire(KEY, wait=30) is not None


def test_a_lease_from_before_the_clock_was_set_back_is_over(tmp_path: Path) -> None:
    now = 1_000_000.0
    lock = FileLock(tmp_path, clock=lambda: now)
    assert lock.acquire(KEY, ttl=30) is not None
    now -= 3600
    assert lock.acquire(KEY, wait=0) is not None


@pytest.mark.parametrize(
    "content", [b"", b"half of a le", b"[]", b'{"secret": "a"}', b'{"secret":1,"until":"x","ttl":1}']
)
def test_a_damaged_lease_is_over(tmp_path: Path, content: bytes) -> None:
    lock = FileLock(tmp_path)
    assert lock.acquire(KEY) is not None
    (lease,) = tmp_path.iterdir()
    lease.write_bytes(content)
    assert lock.acquire(KEY, wait=0) is not None


def test_a_released_lease_leaves_no_file_behind(tmp_path: Path) -> None:
    lock = FileLock(tmp_path)
    lease = lock.acquire("../../etc/passwd")
    assert lease is not None
    assert len(list(tmp_path.iterdir())) == 1
    lock.release(lease)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_cannot_be_reached_is_storage_unavailable_and_the_work_goes_on(tmp_path: Path) -> None:
    lock = redis_lock(f"unix://{tmp_path}/nobody.sock")
    with pytest.raises(StorageUnavailable, match="Check the Redis server"):
        lock.acquire(KEY)
    with structlog.testing.capture_logs() as logs, hold_lease(lock, KEY) as is_held:
        assert not is_held
    assert [log["event"] for log in logs] == ["going on without the lock"]


def test_a_wrong_url_of_redis_is_a_settings_error() -> None:
    with pytest.raises(SettingsError):
        redis_lock("http://host")
