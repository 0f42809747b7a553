"""WorkflowLock: where the lock is kept, and what happens while it is held."""

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from pydantic import ValidationError

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.locks.rows import RowLeases
from mnemoir.storage.sqlite.opening import open_lock_file
from mnemoir.workflows.locks import WorkflowLocks
from mnemoir.workflows.nodes.workflow_lock import WorkflowLock
from mnemoir.workflows.services import Services
from mnemoir.workflows.step import WorkflowEnded
from tests.workflows.nodes.node_kit import ALEX, NOT_ASKED, Bench

FILE = "WilmerDb.someone.sqlite"


@dataclass(kw_only=True)
class LockBench(Bench):
    """A bench with locks; its run is named w1."""

    locks: WorkflowLocks
    lock_directory: Path | None = None

    def _services(self) -> Services:
        data = self.public.parent / "data"
        return replace(super()._services(), locks=self.locks, data_dir=data, lock_directory=self.lock_directory)


@pytest.fixture
async def bench(tmp_path):
    locks = WorkflowLocks(partial(RowLeases, "this", open_lock_file))
    yield LockBench(public=tmp_path / "Public", session=NOT_ASKED, locks=locks)
    await locks.aclose()


async def test_a_free_lock_is_acquired_and_the_run_has_its_database(bench, tmp_path):
    assert await bench.run(WorkflowLock, workflowLockId="memories") is None
    assert bench.step.run.lock_database == tmp_path / "data" / FILE
    assert not await bench.locks.acquire(tmp_path / "data" / FILE, "memories", run="other")


async def test_a_held_lock_ends_the_workflow(bench, tmp_path):
    await bench.locks.acquire(tmp_path / "data" / FILE, "memories", run="other")
    with pytest.raises(WorkflowEnded, match="lock 'memories' is held"):
        await bench.run(WorkflowLock, workflowLockId="memories")
    assert bench.step.run.lock_database is None


async def test_the_lock_of_one_person_does_not_stop_another(bench, tmp_path):
    bench.owner = replace(ALEX, user="ben")
    await bench.run(WorkflowLock, workflowLockId="memories")
    with pytest.raises(WorkflowEnded, match="lock 'memories' is held"):
        await bench.run(WorkflowLock, workflowLockId="memories")
    bench.owner = ALEX
    assert await bench.run(WorkflowLock, workflowLockId="memories") is None


async def test_variables_are_filled_into_the_name(bench, tmp_path):
    bench.outputs = {1: "blue"}
    await bench.run(WorkflowLock, workflowLockId="{agent1Output} lock")
    assert not await bench.locks.acquire(tmp_path / "data" / FILE, "blue lock", run="other")


async def test_a_folder_of_the_settings_wins_over_that_of_the_user(bench, tmp_path):
    bench.settings, bench.lock_directory = {"sqlLiteDirectory": str(tmp_path / "own")}, tmp_path / "locks"
    await bench.run(WorkflowLock, workflowLockId="memories")
    assert bench.step.run.lock_database == tmp_path / "locks" / FILE


async def test_a_node_without_a_name_is_refused(bench):
    with pytest.raises(ValidationError, match="workflowLockId"):
        await bench.run(WorkflowLock)


@pytest.mark.parametrize(("named", "place"), [("{tmp}/own", "own"), ("SqlLiteDBs", "Public/SqlLiteDBs")])
async def test_the_lock_is_kept_in_the_users_folder(bench, tmp_path, named, place):
    bench.settings = {"sqlLiteDirectory": named.replace("{tmp}", str(tmp_path))}
    await bench.run(WorkflowLock, workflowLockId="memories")
    assert bench.step.run.lock_database == tmp_path / place / FILE
    assert bench.step.trace.notes == []


@pytest.mark.skipif(os.name == "nt", reason="no foreign path there")
async def test_a_folder_of_another_system_is_not_made_here(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bench.settings = {"sqlLiteDirectory": "D:\\Temp\\locks"}
    await bench.run(WorkflowLock, workflowLockId="memories")
    assert bench.step.run.lock_database == tmp_path / "data" / FILE
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["Public", "data"]
    assert "cannot be used here" in bench.step.trace.notes[0]


async def test_a_folder_that_cannot_be_used_is_replaced_and_noted(bench, tmp_path):
    (tmp_path / "file").touch()
    bench.settings = {"sqlLiteDirectory": str(tmp_path / "file" / "locks")}
    await bench.run(WorkflowLock, workflowLockId="memories")
    assert bench.step.run.lock_database == tmp_path / "data" / FILE
    assert "kept in" in bench.step.trace.notes[0]


async def test_without_any_folder_to_use_the_node_fails(bench, tmp_path):
    (tmp_path / "data").touch()
    with pytest.raises(StorageUnavailable):
        await bench.run(WorkflowLock, workflowLockId="memories")
