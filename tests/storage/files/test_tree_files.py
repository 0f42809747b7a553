"""Workflow files on a faulty disk: each is one whole version or the other, and so is the version kept apart."""

import errno
from pathlib import Path

import pytest

from mnemoir.core.errors import Conflict, StorageUnavailable
from mnemoir.storage.files.tree_files import TreeFiles
from tests.failing_calls import failing_calls
from tests.faulty_files import FaultyFiles, files_up_to

PATH = "Workflows/Ann/Chat.json"
FIRST, SECOND = b'[{"title": "First"}]', b'[{"title": "Second"}]'


@pytest.fixture
def files(tmp_path: Path) -> TreeFiles:
    """A tree with one workflow, and a data directory beside it."""
    place = tmp_path / "tree" / PATH
    place.parent.mkdir(parents=True)
    place.write_bytes(FIRST)
    return TreeFiles(tmp_path / "tree", tmp_path / "data")


def change(files: TreeFiles) -> None:
    """Keep what there is, and replace it."""
    before = files.read(PATH)
    assert before is not None
    files.keep(PATH, before)
    files.replace(PATH, SECOND if before == FIRST else FIRST, before=before)


@failing_calls
def test_a_failing_disk_leaves_whole_versions_and_is_told(files, tmp_path, monkeypatch, failing):
    disk = FaultyFiles(monkeypatch)
    change(files)
    for attempt in failing(disk, [name for name, _ in disk.seen], errno.EIO):
        before = files.read(PATH)
        with attempt:
            change(files)
        assert {files.read(PATH), files.kept_version(PATH)} <= {FIRST, SECOND}
        if attempt.told is None:  # a folder that cannot be made harms nothing where there is one
            assert (files.read(PATH) != before, files.kept_version(PATH)) == (True, before)
    assert sorted(file.suffix for file in tmp_path.rglob("*") if file.is_file()) == [".json", ".json"]


def test_a_full_disk_leaves_the_old_version(files):
    with files_up_to(10), pytest.raises(StorageUnavailable, match="could not be written"):
        files.replace(PATH, SECOND, before=FIRST)
    assert files.read(PATH) == FIRST


def test_a_file_that_somebody_changes_at_that_moment_stays(files, tmp_path):
    (tmp_path / "tree" / PATH).write_bytes(b"[]")
    with pytest.raises(Conflict):
        files.replace(PATH, SECOND, before=FIRST)
    assert files.read(PATH) == b"[]"
    assert [file.name for file in (tmp_path / "tree" / PATH).parent.iterdir()] == ["Chat.json"]


def test_trees_that_share_a_data_directory_keep_their_versions_apart(files, tmp_path):
    files.keep(PATH, FIRST)
    assert TreeFiles(tmp_path / "other", tmp_path / "data").kept_version(PATH) is None
