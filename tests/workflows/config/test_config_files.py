"""The cache of config files: files are read once per change, and a half-written file is never used."""

import os

import pytest
from structlog.testing import capture_logs

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.files import MOST_BYTES, FileCache
from mnemoir.workflows.config.lookup import Lookup
from tests.narrowing import present
from tests.workflows.config.config_kit import write


class Folder:
    """A folder, its cache, and the number of times a file was read."""

    def __init__(self, root):
        self.root = root
        self.cache = FileCache(str(root))
        self.lookup = Lookup(str(root))
        self.reads = 0

    def write(self, content, name="a.json"):
        write(self.root, {name: content})

    def edit(self, content, name="a.json"):
        """Write the file as an editor does, with the current time."""
        (self.root / name).write_bytes(content)

    def read(self, name="a.json"):
        found = self.lookup.find(name)
        return None if found is None else self.cache.read(found, self._read)

    def _read(self, relative, raw):
        self.reads += 1
        if not isinstance(raw, dict):
            raise SettingsError(f"{relative} must be a JSON object.")
        return raw


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_an_unchanged_file_is_read_once_and_gives_the_same_object(folder):
    folder.write({"a": 1})
    assert folder.read() is folder.read() is folder.read()
    assert folder.reads == 1


def test_a_file_written_a_moment_ago_is_read_once_too(folder):
    folder.edit(b'{"a": 1}')
    assert folder.read() is folder.read()
    assert folder.reads == 1


def test_an_edit_counts_from_the_next_lookup_on(folder):
    folder.write({"a": 1})
    assert folder.read() == {"a": 1}
    folder.edit(b'{"a": 2}')
    assert folder.read() == {"a": 2}


def test_an_edit_of_the_same_size_within_one_tick_of_the_clock_is_noticed(folder):
    folder.edit(b'{"a": 1}')
    before = os.stat(folder.root / "a.json")
    assert folder.read() == {"a": 1}
    folder.edit(b'{"a": 2}')
    os.utime(folder.root / "a.json", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert folder.read() == {"a": 2}


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_noticed(folder):
    folder.write({"a": 1})
    assert folder.read() == {"a": 1}
    folder.write({"a": 2}, "b.json")
    (folder.root / "b.json").replace(folder.root / "a.json")
    assert folder.read() == {"a": 2}


@pytest.mark.parametrize("broken", [b'{"a": ', b"", b"[]", b"\xff\xfe{}", b'{"a": 1,}', b"// {}", b'{"a": NaN}'])
def test_an_edit_that_breaks_the_file_leaves_the_last_valid_version_in_use(folder, broken):
    folder.write({"a": 1})
    good = folder.read()
    folder.edit(broken)
    with capture_logs() as logs:
        assert folder.read() is good
        assert folder.read() is good
    assert [(line["log_level"], "a.json" in line["cause"]) for line in logs] == [("warning", True)]
    assert list(folder.cache.problems()) == ["a.json"]


def test_a_second_broken_edit_is_reported_again_until_a_valid_one(folder):
    folder.write({"a": 1})
    folder.read()
    with capture_logs() as logs:
        for content in (b"{", b"[]", b'{"a": 3}'):
            folder.edit(content)
            folder.read()
    assert len(logs) == 2
    assert folder.read() == {"a": 3}
    assert folder.cache.problems() == {}


def test_a_file_that_was_never_valid_is_an_error_at_each_lookup(folder):
    folder.write(b'{"a": 1\n "b"}')
    for _ in range(2):
        with pytest.raises(SettingsError, match=r"^a\.json is not valid JSON: .*line 2"):
            folder.read()
    assert list(folder.cache.problems()) == ["a.json"]


def test_a_deleted_file_has_no_problem_any_more(folder):
    folder.write(b"{")
    with pytest.raises(SettingsError):
        folder.read()
    (folder.root / "a.json").unlink()
    assert folder.read() is None
    assert folder.cache.problems() == {}


def test_a_byte_order_mark_is_ignored(folder):
    folder.write(b'\xef\xbb\xbf{"greeting": "\xc3\xa9"}')
    assert folder.read() == {"greeting": "é"}


@pytest.mark.parametrize(
    "bomb",
    [
        b"[" * 200_000,
        b'{"a":' * 101 + b"1" + b"}" * 101,
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": 1e9999}',
        b'{"a": "' + b"x" * MOST_BYTES + b'"}',
    ],
    ids=["depth", "101 levels", "5,000 digits", "exponent", "size"],
)
def test_a_file_over_the_limits_is_refused(folder, bomb):
    folder.write(bomb)
    with pytest.raises(SettingsError, match=r"a\.json"):
        folder.read()


def test_a_hundred_levels_are_allowed(folder):
    folder.write(b'{"a":' * 100 + b"1" + b"}" * 100)
    assert folder.read() is not None


def test_a_link_out_of_the_root_is_refused_and_one_within_it_followed(tmp_path):
    write(tmp_path, {"outside.json": {"secret": 1}, "root/inside.json": {"a": 1}})
    folder = Folder(tmp_path / "root")
    (folder.root / "away.json").symlink_to(tmp_path / "outside.json")
    (folder.root / "near.json").symlink_to(folder.root / "inside.json")
    assert folder.read("near.json") == {"a": 1}
    with pytest.raises(SettingsError, match=r"is a link to .*outside"):
        folder.read("away.json")


def test_a_folder_that_is_swapped_for_a_link_away_is_noticed(tmp_path):
    write(tmp_path, {"outside/a.json": {"secret": 1}, "root/sub/a.json": {"a": 1}})
    cache, lookup = FileCache(str(tmp_path / "root")), Lookup(str(tmp_path / "root"))
    assert cache.read(present(lookup.find("sub", "a.json")), keep) == {"a": 1}
    (tmp_path / "root/sub").rename(tmp_path / "root/old")
    (tmp_path / "root/sub").symlink_to(tmp_path / "outside", target_is_directory=True)
    with capture_logs() as logs:
        assert cache.read(present(lookup.find("sub", "a.json")), keep) == {"a": 1}
    assert "is a link to" in logs[0]["cause"]


def test_a_root_that_is_a_link_itself_is_fine(tmp_path):
    write(tmp_path, {"real/a.json": {"a": 1}})
    (tmp_path / "linked").symlink_to(tmp_path / "real", target_is_directory=True)
    assert Folder(tmp_path / "linked").read() == {"a": 1}


def keep(relative, raw):
    return raw
