"""Wrapped keys, in a file or in a database that several programs use: made once, and dead at once when destroyed."""

import threading
from collections.abc import Callable
from datetime import datetime

import pytest

from mnemoir.core.clock import utc_now
from mnemoir.core.errors import KeyUnavailable
from mnemoir.storage.databases import copy_keys
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.key_stores import KeyFile, KeyStore
from mnemoir.storage.sealing.providers import file_keys
from mnemoir.storage.sql.data_keys import DataKey, SqlDataKeys
from mnemoir.storage.sqlite.opening import open_key_store
from tests.storage.sealing_kit import a_key, write_key

MIRA, OMAR, PLACE = ("default", "demo", "mira"), ("default", "demo", "omar"), b"memories\0text\x001\x001"
NOW: datetime = utc_now()


@pytest.fixture
def ring(key_store, tmp_path):
    """Opens the keys as another process does with each call; `now` is seconds."""
    rings, provider = [], file_keys(write_key(tmp_path))

    def opened(now=lambda: 0.0) -> KeyRing:
        rings.append(KeyRing(key_store(), provider, elapsed=now))
        return rings[-1]

    yield opened
    for one in rings:
        one.close()


def a_wrapped_key(key_id: int, owner=MIRA) -> DataKey:
    return DataKey(id=key_id, owner=owner, number=0, kek="k", wrapped=b"w" * 60)


def test_what_one_process_encrypts_another_reads(ring):
    one, other = ring(), ring()
    stored = Cells(one, seals=True).seal(one.current(MIRA), PLACE, "Likes tea")
    assert Cells(other, seals=True).open(PLACE, stored) == "Likes tea"
    assert other.current(MIRA) == one.current(MIRA) != one.current(OMAR)


def test_of_processes_that_need_a_first_key_at_once_all_get_the_same(ring):
    rings, got = [ring() for _ in range(6)], []
    for one in rings:
        one.store()
    threads = [threading.Thread(target=lambda one=one: got.append(one.current(MIRA))) for one in rings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), len({*got})) == (6, 1)


def test_keys_that_are_made_at_once_are_numbered_one_after_the_other(key_store):
    files = [key_store().open() for _ in range(4)]
    stores = [SqlDataKeys(file) for file in files]

    def put(store: SqlDataKeys, first: int) -> None:
        for key_id in range(first, first + 5):
            store.put_next(a_wrapped_key(key_id), NOW)

    threads = [threading.Thread(target=put, args=(store, 100 * n + 1)) for n, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = [key.number for key in stores[0].wrapped_by_others("") if key.owner == MIRA]
    assert sorted(numbers) == [*range(1, 21)]
    for file in files:
        file.close()


def test_a_destroyed_key_is_dead_in_another_process_within_a_second(ring):
    now = [0.0]
    one, other = ring(lambda: now[0]), ring()
    cells = Cells(one, seals=True)
    stored, kept = (cells.seal(one.current(owner), PLACE, "Likes tea") for owner in (MIRA, OMAR))
    assert cells.open(PLACE, stored) == "Likes tea"
    assert other.destroy(MIRA) == 1
    now[0] = 1.01
    with pytest.raises(KeyUnavailable, match="was destroyed"):
        cells.open(PLACE, stored)
    assert cells.open(PLACE, kept) == "Likes tea"
    assert other.store().owners() == [OMAR]


def test_a_key_that_another_process_rotated_is_used_within_a_second(ring):
    now = [0.0]
    one, other = ring(lambda: now[0]), ring()
    former = one.current(MIRA)
    newer = other.rotate(MIRA)
    now[0] = 1.01
    assert one.current(MIRA) == newer != former


def test_each_change_is_seen_in_the_state_of_a_store(ring):
    one, other = ring(), ring()
    one.store()
    states = [one.state()]
    for change in (lambda: other.current(MIRA), lambda: other.rotate(MIRA), lambda: other.destroy(MIRA)):
        change()
        states.append(one.state())
    assert len({*states}) == 4
    assert one.state() == states[-1]


def test_keys_wrapped_by_another_key_are_wrapped_anew(ring, tmp_path):
    one = ring()
    stored = Cells(one, seals=True).seal(one.current(MIRA), PLACE, "Likes tea")
    write_key(tmp_path, f"{a_key(2)}\n{a_key()}")
    assert (one.rewrap(), one.rewrap()) == (1, 0)
    write_key(tmp_path, a_key(2))
    assert Cells(ring(), seals=True).open(PLACE, stored) == "Likes tea"


def test_a_copy_has_all_keys_and_the_destroyed_ones(ring, tmp_path):
    one = ring()
    stored = Cells(one, seals=True).seal(one.current(MIRA), PLACE, "Likes tea")
    dead = one.current(OMAR)
    one.destroy(OMAR)
    copy_keys(one.store(), tmp_path / "copy.db")
    copy = KeyRing(KeyFile(tmp_path / "copy.db", open_key_store), one.provider)
    assert Cells(copy, seals=True).open(PLACE, stored) == "Likes tea"
    assert (copy.is_destroyed(dead), copy.is_destroyed(copy.current(MIRA))) == (True, False)
    copy.close()


def test_a_store_that_nobody_made_is_not_there_until_a_key_is_needed(key_store: Callable[[], KeyStore], ring):
    assert not key_store().exists()
    ring().current(MIRA)
    assert key_store().exists()
