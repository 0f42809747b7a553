"""A project's own settings in its files."""

import json

import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings
from mnemoir.storage.files.project_files import FileProjectSettings

DEMO = Project(tenant="default", project="demo")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "demo" / ".etienne" / "long-term-memory"


async def test_an_unknown_project_has_set_nothing_and_gets_no_folder(tmp_path):
    assert await FileProjectSettings(tmp_path).load(DEMO) == ProjectSettings()
    assert list(tmp_path.iterdir()) == []


async def test_what_was_saved_is_loaded(tmp_path):
    saved = ProjectSettings(memory_enabled=False, decay_days=2.5, search_limit=0, extraction_prompt="Nur Fakten.\n")
    store = FileProjectSettings(tmp_path)
    await store.change(DEMO, lambda _: saved)
    assert await store.load(DEMO) == saved


async def test_the_files_read_as_other_programs_write_them(tmp_path, folder):
    saved = ProjectSettings(memory_enabled=True, decay_days=6.0, search_limit=5, extraction_prompt="Take note.")
    await FileProjectSettings(tmp_path).change(DEMO, lambda _: saved)
    assert (folder / "settings.json").read_text() == (
        '{\n  "memoryEnabled": true,\n  "decayDays": 6,\n  "searchLimit": 5\n}\n'
    )
    assert (folder / "extraction-prompt.md").read_text() == "Take note."


async def test_unknown_members_are_kept_and_ours_go_when_unset(tmp_path, folder):
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"theme": null, "decayDays": 3, "colour": {"a": 1}}')
    await FileProjectSettings(tmp_path).change(DEMO, lambda _: ProjectSettings(memory_enabled=True))
    kept = {"theme": None, "colour": {"a": 1}, "memoryEnabled": True}
    assert json.loads((folder / "settings.json").read_text()) == kept


async def test_saving_nothing_takes_the_prompt_away(tmp_path, folder):
    store = FileProjectSettings(tmp_path)
    await store.change(DEMO, lambda _: ProjectSettings(extraction_prompt="Take note."))
    await store.change(DEMO, lambda _: ProjectSettings())
    assert await store.load(DEMO) == ProjectSettings()
    assert not (folder / "extraction-prompt.md").exists()


@pytest.mark.parametrize(
    "text",
    ['{"memoryEnabled": "no", "decayDays": true, "searchLimit": -1}', '{"decayDays": "6", "searchLimit": 5.5}'],
)
async def test_values_of_a_wrong_type_count_as_not_set(tmp_path, folder, text):
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(text)
    assert await FileProjectSettings(tmp_path).load(DEMO) == ProjectSettings()


@pytest.mark.parametrize("text", ["[]", "{", "null"])
async def test_damaged_settings_are_refused_and_left_as_they_are(tmp_path, folder, text):
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(text)
    store = FileProjectSettings(tmp_path)
    with pytest.raises(StorageUnavailable, match=r"demo/\.etienne/long-term-memory/settings\.json is damaged"):
        await store.load(DEMO)
    with pytest.raises(StorageUnavailable, match="is damaged"):
        await store.change(DEMO, lambda _: ProjectSettings(decay_days=1))
    assert (folder / "settings.json").read_text() == text
