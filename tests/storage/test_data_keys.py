"""Keys of users: where the key comes from that wraps them, and for how long they are held without it."""

import sys
from pathlib import Path

import pytest

from mnemoir.core.errors import KeyUnavailable
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.key_stores import KeyFile
from mnemoir.storage.sealing.providers import ListedKeys, command_keys, file_keys, variable_keys
from mnemoir.storage.sqlite.opening import open_key_store
from tests.storage.sealing_kit import a_key, ring_in

MIRA, OMAR, PLACE = ("default", "demo", "mira"), ("default", "demo", "omar"), b"memories\0text\x001\x001"


def test_a_key_comes_from_a_file_a_variable_or_a_command(tmp_path, monkeypatch) -> None:
    (tmp_path / "kek").write_text(f"{a_key()}\n{a_key(2)}\n")
    (tmp_path / "kek").chmod(0o600)
    monkeypatch.setenv("A_KEY", f"{a_key(3)} {a_key()}")
    by_command = command_keys([sys.executable, "-c", f"print({a_key()!r})"])
    wrapped = by_command.wrap(b"k" * 32, b"mira")
    for provider in (file_keys(tmp_path / "kek"), variable_keys("A_KEY"), by_command):
        assert provider.unwrap(by_command.kek, wrapped, b"mira") == b"k" * 32
    assert len({file_keys(tmp_path / "kek").kek, variable_keys("A_KEY").kek, by_command.kek}) == 2


def test_a_key_that_others_may_read_or_that_is_none_is_refused(tmp_path) -> None:
    kek = tmp_path / "kek"
    kek.write_text(a_key())
    kek.chmod(0o640)
    (tmp_path / "empty").touch(0o600)
    for provider, cause in (
        (file_keys(kek), "chmod 600"),
        (file_keys(tmp_path / "none"), "cannot be read"),
        (file_keys(tmp_path / "empty"), "holds no key"),
        (variable_keys("NO_SUCH_KEY"), "The variable NO_SUCH_KEY holds no key"),
        (command_keys([sys.executable, "-c", "raise SystemExit(1)"]), "gave no keys"),
        (command_keys([str(tmp_path / "none")]), "gave no keys"),
        (ListedKeys("it", lambda: "c2hvcnQ="), "32 bytes"),
    ):
        with pytest.raises(KeyUnavailable, match=cause):
            provider.wrap(b"k" * 32, b"mira")


def test_keys_are_held_for_ten_minutes_without_their_provider(tmp_path) -> None:
    now = [0.0]
    ring = ring_in(tmp_path)
    ring = KeyRing(ring.place, ring.provider, elapsed=lambda: now[0])
    cells = Cells(ring, seals=True)
    stored = cells.seal(ring.current(MIRA), PLACE, "Likes tea")
    (tmp_path / "kek").unlink()
    now[0] = 599.0
    assert cells.open(PLACE, stored) == "Likes tea"
    now[0] = 601.0
    with pytest.raises(KeyUnavailable, match="cannot be read"):
        cells.open(PLACE, stored)
    ring.close()


def test_a_key_that_another_process_destroys_is_out_of_use_within_a_second(tmp_path) -> None:
    now = [0.0]
    other = ring_in(tmp_path)
    ring = KeyRing(other.place, other.provider, elapsed=lambda: now[0])
    cells = Cells(ring, seals=True)
    stored = cells.seal(ring.current(MIRA), PLACE, "Likes tea")
    assert other.destroy(MIRA) == 1
    now[0] = 1.1
    with pytest.raises(KeyUnavailable, match="was destroyed"):
        cells.open(PLACE, stored)
    assert a_wrapped_key_in(tmp_path) == []
    ring.close()
    other.close()


def test_a_store_that_goes_away_is_not_made_anew_and_counts_when_it_is_back(tmp_path) -> None:
    now, disk, away = [0.0], tmp_path / "disk", tmp_path / "away"
    provider = ring_in(tmp_path).provider
    ring = KeyRing(KeyFile(disk / "data-keys.db", open_key_store), provider, elapsed=lambda: now[0])
    cells = Cells(ring, seals=True)
    stored = cells.seal(ring.current(MIRA), PLACE, "Likes tea")
    disk.rename(away)
    disk.mkdir()  # where it was mounted
    now[0] = 1.1
    for owner in (MIRA, OMAR):
        with pytest.raises(KeyUnavailable, match="is gone"):
            ring.current(owner)
    disk.rmdir()  # fails for one that is not empty
    away.rename(disk)
    now[0] = 2.2
    assert (cells.open(PLACE, stored), ring.current(OMAR) > 0) == ("Likes tea", True)
    ring.close()


def a_wrapped_key_in(folder: Path) -> list[bytes]:
    ring = ring_in(folder)
    try:
        return [key.wrapped for key in ring.store().wrapped_by_others("") if key.wrapped is not None]
    finally:
        ring.close()


@pytest.mark.parametrize(
    "text", ["\x01E1:", "\x01E1:00000001", "\x01E1:zzzzzzzzAAAA", "\x01E1:00000001AAAA", " \n", ""]
)
def test_what_only_looks_like_a_cell_is_read_as_it_is(tmp_path, text) -> None:
    ring = ring_in(tmp_path)
    cells = Cells(ring, seals=True)
    assert cells.open(PLACE, text) == text
    sealed = cells.seal(ring.current(MIRA), PLACE, text)
    assert (cells.open(PLACE, sealed), sealed == text) == (text, not text.strip())
    ring.close()
