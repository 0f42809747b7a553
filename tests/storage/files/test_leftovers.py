"""Temporary files of killed writers are gone after the next start; those of living writers are not touched."""

import pytest

from mnemoir.app import open_parts
from mnemoir.ports.memory_store import Project
from mnemoir.settings import load_settings
from mnemoir.storage.files import clear_leftovers
from mnemoir.storage.files.project_file import ProjectFile

FILES = [
    ".etienne/memories.json",
    ".etienne/long-term-memory/settings.json",
    ".etienne/long-term-memory/extraction-prompt.md",
]


@pytest.fixture
def workspace(tmp_path):
    for name in FILES:
        file = tmp_path / "workspace" / "kitchen" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}" if "settings" in name else "[]")
        (file.parent / f"{file.name}.tmp").write_text("half of a")
    return tmp_path / "workspace"


def names(workspace):
    return sorted(str(file.relative_to(workspace / "kitchen")) for file in workspace.rglob("*.tmp"))


async def test_the_start_takes_away_what_killed_writers_left_and_nothing_else(workspace, tmp_path):
    overrides = {
        "storage.backend": "file",
        "storage.workspace_root": workspace,
        "storage.data_dir": tmp_path / "data",
        "llm.provider": "offline",
    }
    parts = await open_parts(load_settings(overrides=overrides, environ={"HOME": str(tmp_path)}))
    await parts.aclose()
    assert names(workspace) == []
    assert all((workspace / "kitchen" / name).exists() for name in FILES)


def test_the_file_of_a_writer_at_work_is_left_alone(workspace):
    with ProjectFile(workspace, Project(tenant="default", project="kitchen")).hold_lock():
        clear_leftovers(workspace)
        assert names(workspace) == [".etienne/memories.json.tmp"]


def test_a_workspace_that_is_not_there_is_not_made(tmp_path):
    clear_leftovers(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []
