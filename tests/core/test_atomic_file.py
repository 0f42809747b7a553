"""The file writer on a disk that fails at any call, and the system calls that each of its users makes."""

import errno
import os
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest

from mnemoir.cli.transfer import output
from mnemoir.conversations.transfer import write_export
from mnemoir.core.atomic_file import append_file, replace_file, replacing
from mnemoir.core.discussions import Discussion
from mnemoir.core.scope import DEFAULT_TENANT
from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings
from mnemoir.storage.discussions.places import Place, file_at
from mnemoir.storage.discussions.record_files import RecordFiles
from mnemoir.storage.discussions.timestamps import FileTimestamps
from mnemoir.storage.files.project_file import ProjectFile
from mnemoir.storage.files.project_files import FileProjectSettings
from mnemoir.storage.files.user_files import FileUserFiles
from mnemoir.storage.objects.local import LocalObjects
from tests.failing_calls import attempts
from tests.faulty_files import FaultyFiles, files_up_to

DEMO = Project(tenant=DEFAULT_TENANT, project="demo")
SOURCE = Path(__file__).parents[2] / "src" / "mnemoir"


@pytest.fixture
def disk(monkeypatch):
    return FaultyFiles(monkeypatch)


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "place"
    folder.mkdir()
    (folder / "file").write_bytes(b"old")
    return folder


@contextmanager
def opened(folder):
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def replace(folder, content):
    with opened(folder) as descriptor:
        replace_file(descriptor, "file", content)


def replace_keeping_the_mode(folder, content):
    with opened(folder) as descriptor:
        replace_file(descriptor, "file", content, keep_mode=True)


def append(folder, content):
    with opened(folder) as descriptor:
        append_file(descriptor, "file", content, end=0)


def stream(folder, content):
    with replacing(folder / "file") as target:
        for start in range(0, len(content), 1000):
            target.write(content[start : start + 1000])


def stream_under_a_lock(folder, content):
    with replacing(folder / "file", is_locked=True) as target:
        target.write(content)


REPLACING = [replace, replace_keeping_the_mode, stream, stream_under_a_lock]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EMFILE])
@pytest.mark.parametrize("write", REPLACING)
def test_a_failure_at_any_call_leaves_the_old_file_or_the_new_one_and_the_next_write_works(place, disk, write, error):
    for attempt in attempts(disk, count(1), error, least=5):
        (place / "file").write_bytes(b"old")
        with attempt:
            write(place, b"new")
        assert (place / "file").read_bytes() in ((b"old", b"new") if attempt.struck else (b"new",))
        write(place, b"next")
        assert (place / "file").read_bytes() == b"next"
    assert {each.name for each in place.iterdir()} - {"file"} == set() or write is stream


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_write_whose_sync_or_rename_fails_is_not_acknowledged(place, disk, call):
    replace(place, b"new")
    calls = disk.seen
    for at in [at for at, (each, _) in enumerate(calls, 1) if each == call]:
        disk.arm(at, errno.EIO)
        with pytest.raises(OSError, match="Input/output error"):
            replace(place, b"newer")
        disk.disarm()


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_an_append_that_fails_at_any_call_is_taken_back_or_cut_off_by_the_next(place, disk, error):
    with opened(place) as folder:
        for attempt in attempts(disk, count(1), error, least=4):
            (place / "file").write_bytes(b"kept;rest")
            with attempt:
                append_file(folder, "file", b"new", end=5)
            assert (place / "file").read_bytes().startswith(b"kept;")
            append_file(folder, "file", b"next", end=5)
            assert (place / "file").read_bytes() == b"kept;next"


@pytest.mark.parametrize("write", [*REPLACING, append])
def test_a_full_disk_leaves_the_old_file_and_no_temporary_file(place, write):
    (place / "file").write_bytes(b"")
    with files_up_to(2000), pytest.raises(OSError, match="File too large"):
        write(place, b"x" * 100_000)
    assert {each.name: each.read_bytes() for each in place.iterdir()} == {"file": b""}


def test_a_block_that_raises_leaves_the_old_file_and_no_temporary_file(place):
    def broken_off():
        with replacing(place / "file") as target:
            target.write(b"half")
            raise KeyError

    with pytest.raises(KeyError):
        broken_off()
    assert {each.name: each.read_bytes() for each in place.iterdir()} == {"file": b"old"}


def test_two_streams_to_one_path_do_not_disturb_each_other(place):
    with replacing(place / "file") as first, replacing(place / "file") as second:
        first.write(b"first")
        second.write(b"second")
    assert {each.name: each.read_bytes() for each in place.iterdir()} == {"file": b"first"}


@pytest.mark.parametrize("write", [replace, stream_under_a_lock])
def test_the_next_writer_removes_what_a_killed_one_left(place, write):
    (place / "file.tmp").write_bytes(b"half")
    write(place, b"new")
    assert {each.name: each.read_bytes() for each in place.iterdir()} == {"file": b"new"}


def test_a_link_with_the_temporary_files_name_is_not_followed(place, tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"theirs")
    (place / "file.tmp").symlink_to(tmp_path / "elsewhere")
    replace(place, b"new")
    assert ((place / "file").read_bytes(), (tmp_path / "elsewhere").read_bytes()) == (b"new", b"theirs")


@pytest.mark.parametrize("write", REPLACING)
def test_a_new_file_is_private_and_only_one_writer_keeps_the_mode_of_the_old(place, write):
    (place / "file").chmod(0o664)
    write(place, b"new")
    kept = write is replace_keeping_the_mode
    assert (place / "file").stat().st_mode & 0o777 == (0o664 if kept else 0o600)


async def save_settings(folder):
    await FileProjectSettings(folder).change(DEMO, lambda _: ProjectSettings(search_limit=3))
    return "settings.json"


async def save_memories(folder):
    file = ProjectFile(folder, DEMO)
    with file.hold_lock():
        file.replace([], lambda stamp: None)
    return "memories.json"


async def save_a_ledger(folder):
    file_at(folder, Place(file="d1_memories.jsonl")).replace(b"{}\n")
    return "d1_memories.jsonl"


async def save_times(folder):
    async with FileTimestamps().changing(Discussion(root=folder, id="d1")) as times:
        times["a"] = "now"
    return "timestamps.json"


async def save_a_users_file(folder):
    await FileUserFiles([folder], folder).write("notes.txt", "text")
    return "notes.txt"


async def save_an_object(folder):
    LocalObjects(folder).save("a/object", b"bytes")
    return "object"


async def export(folder):
    write_export([b"a", b"b"], folder / "talk.jsonl")
    return "talk.jsonl"


async def print_to_a_file(folder):
    with output(folder / "printed.txt") as write:
        write(b"text")
    return "printed.txt"


async def copy_a_database_to_another_disk(folder):
    with closing(RecordFiles()) as records:
        records.begin(folder / "made.db")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Path, "replace", refusing)
            records.replace(folder / "records.db", folder / "made.db")
    return "records.db"


def refusing(path, target):
    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


USERS = [
    *(save_settings, save_memories, save_a_ledger, save_times, save_a_users_file, save_an_object),
    *(export, print_to_a_file, copy_a_database_to_another_disk),
]


@pytest.mark.parametrize("save", USERS)
async def test_every_file_is_synced_then_renamed_and_its_folder_synced_last(tmp_path, disk, save):
    name = await save(tmp_path)
    [path] = tmp_path.rglob(name)
    at = disk.seen.index(("replace", name))
    assert disk.seen[at - 1][0] in ("fsync", "stat")
    assert any(call == "fsync" and file.endswith(".tmp") for call, file in disk.seen[:at])
    assert disk.seen[at + 1] == ("fsync", path.parent.name)
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.rglob("*.tmp")) == []


def test_files_are_synced_by_the_one_writer_and_folders_where_they_are_made_or_removed():
    files = {str(file.relative_to(SOURCE)) for file in SOURCE.rglob("*.py") if "os.fsync(" in file.read_text()}
    assert files == {"core/atomic_file.py", "storage/files/workspace.py", "storage/discussions/removal.py"}
