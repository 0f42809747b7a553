"""Other processes, sudden death and failing disks: a project file is the old one or the new one, and never less."""

import errno
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.memories import IndexEntry
from tests.faulty_files import files_up_to
from tests.storage.files.file_parts import ASKED, MIRA, fact

_CHECKOUT = Path(__file__).parents[3]


@contextmanager
def program(*arguments):
    command = [sys.executable, "-m", "tests.storage.files.file_program", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=_CHECKOUT
    ) as started:
        yield started


def printed_by(started):
    printed, complaint = started.communicate(timeout=600)
    assert started.returncode == 0, complaint
    return printed.splitlines()


@pytest.mark.slow
@pytest.mark.costly("it runs programs")
def test_two_processes_adding_at_once_lose_nothing(tmp_path, workspace):
    with program("add", tmp_path, "one", 25) as one, program("add", tmp_path, "two", 25) as two:
        acknowledged = printed_by(one) + printed_by(two)
    assert sorted(workspace.texts()) == sorted(acknowledged)
    assert len(acknowledged) == 50


@pytest.mark.slow
def test_death_at_any_step_leaves_the_old_file_or_the_new_one(tmp_path):
    with program("kill", tmp_path) as deaths:
        assert int(printed_by(deaths)[-1]) > 20


@pytest.mark.slow
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EMFILE])
def test_failure_of_any_step_is_told_and_loses_nothing(tmp_path, error):
    with program("fail", tmp_path, error) as failures:
        assert int(printed_by(failures)[-1]) > 10


async def test_a_change_that_the_database_refuses_fails_and_may_be_repeated(store, workspace, database):
    """The file was written already; the repeat finds the fact there and completes what is missing."""
    await store.commit(MIRA, [fact("old")], ASKED)
    with files_up_to(16_000), pytest.raises(StorageUnavailable):
        await store.commit(MIRA, [fact("new", entry=IndexEntry(terms=b"", model="m1", vector=bytes(90_000)))], ASKED)
    assert await store.commit(MIRA, [fact("new")], ASKED) == []
    assert workspace.texts() == ["old", "new"]
    assert await store.backlog("m1") == (1, 2)
