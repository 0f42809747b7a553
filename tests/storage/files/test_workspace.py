"""The border of the workspace: names, links and spellings never lead from one project into another place."""

import os
from contextlib import suppress

import pytest

from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings
from mnemoir.storage.files.project_file import ProjectFile
from mnemoir.storage.files.project_files import FileProjectSettings
from mnemoir.storage.files.workspace import projects

SECRET = b'[{"id": "x", "memory": "secret", "user_id": "mira"}]'


def project(name: str, tenant: str = "default") -> Project:
    return Project(tenant=tenant, project=name)


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    (folder / ".etienne" / "long-term-memory").mkdir(parents=True)
    (folder / ".etienne" / "memories.json").write_bytes(SECRET)
    (folder / ".etienne" / "long-term-memory" / "settings.json").write_bytes(b'{"memoryEnabled": false}')
    return folder


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def refuses(root, name="demo"):
    file = ProjectFile(root, project(name))
    for step in (file.read, file.stamp):
        with pytest.raises(StorageUnavailable, match="links below the workspace"):
            step()
    with pytest.raises(StorageUnavailable, match="links below the workspace"), file.hold_lock():
        file.replace([], lambda stamp: None)


def files_below(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_project_that_is_a_link_is_not_entered(root, outside):
    before = files_below(outside)
    (root / "demo").symlink_to(outside)
    refuses(root)
    assert files_below(outside) == before


def test_a_project_that_links_to_its_neighbour_is_not_entered(root, outside):
    (root / "other" / ".etienne").mkdir(parents=True)
    (root / "demo").symlink_to(root / "other")
    refuses(root)


def test_an_inner_folder_that_is_a_link_is_not_entered(root, outside):
    before = files_below(outside)
    (root / "demo").mkdir()
    (root / "demo" / ".etienne").symlink_to(outside / ".etienne")
    refuses(root)
    assert files_below(outside) == before


def test_a_memories_file_that_is_a_link_is_neither_read_nor_written_through(root, outside):
    before = files_below(outside)
    (root / "demo" / ".etienne").mkdir(parents=True)
    (root / "demo" / ".etienne" / "memories.json").symlink_to(outside / ".etienne" / "memories.json")
    with pytest.raises(StorageUnavailable, match="links below the workspace"):
        ProjectFile(root, project("demo")).read()
    assert files_below(outside) == before


def test_a_lock_that_is_a_link_is_not_created_elsewhere(root, outside):
    (root / "demo" / ".etienne").mkdir(parents=True)
    (root / "demo" / ".etienne" / "memories.json.lock").symlink_to(outside / "made")
    with pytest.raises(StorageUnavailable), ProjectFile(root, project("demo")).hold_lock():
        pass
    assert not (outside / "made").exists()


async def test_settings_behind_a_link_are_neither_read_nor_written(root, outside):
    before = files_below(outside)
    (root / "demo" / ".etienne").mkdir(parents=True)
    (root / "demo" / ".etienne" / "long-term-memory").symlink_to(outside / ".etienne" / "long-term-memory")
    settings = FileProjectSettings(root)
    with pytest.raises(StorageUnavailable):
        await settings.load(project("demo"))
    with pytest.raises(StorageUnavailable):
        await settings.change(project("demo"), lambda _: ProjectSettings(memory_enabled=True))
    assert files_below(outside) == before


def test_a_named_pipe_in_place_of_the_file_is_refused_and_not_waited_for(root):
    (root / "demo" / ".etienne").mkdir(parents=True)
    os.mkfifo(root / "demo" / ".etienne" / "memories.json")
    with pytest.raises(StorageUnavailable):
        ProjectFile(root, project("demo")).read()


@pytest.mark.parametrize("name", ["../x", "..", ".", "", "a/b", "/etc/x", "x\0", ".tenants", "a" * 129, "a b", "ä"])
def test_a_name_that_could_lead_elsewhere_is_refused(root, name):
    with pytest.raises(InvalidRequest, match="Project name"):
        ProjectFile(root, project(name))
    with pytest.raises(InvalidRequest, match="Project name"):
        ProjectFile(root, project("demo", tenant=name))


def test_the_root_itself_may_be_a_link(root, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    file = ProjectFile(tmp_path / "alias", project("demo"))
    with file.hold_lock():
        file.replace([], lambda stamp: None)
    assert (root / "demo" / ".etienne" / "memories.json").read_bytes() == b"[]\n"


def test_projects_that_differ_by_case_never_share_a_file(root):
    for name in ("demo", "Demo"):
        file = ProjectFile(root, project(name))
        with suppress(StorageUnavailable), file.hold_lock():  # refused where the file system ignores case
            file.replace([{"project": name}], lambda stamp: None)
    assert ProjectFile(root, project("demo")).read().records == [{"project": "demo"}]


def test_tenants_have_folders_of_their_own(root):
    for tenant in ("default", "acme"):
        with ProjectFile(root, project("demo", tenant)).hold_lock():
            pass
    assert projects(root) == [project("demo"), project("demo", "acme")]


def test_what_is_no_project_is_not_listed(root, outside):
    (root / "empty").mkdir()
    (root / "notes.txt").write_text("")
    (root / "a b" / ".etienne").mkdir(parents=True)
    (root / "link").symlink_to(outside)
    assert projects(root) == []
    assert projects(root / "missing") == []
