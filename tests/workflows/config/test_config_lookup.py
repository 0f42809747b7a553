"""Lookup of files in a config tree by name."""

import os

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.lookup import Lookup, file_parts, folder_parts, parts_of
from tests.workflows.config.config_kit import tree_of, write

HOSTILE = [
    "../secret",
    "sub/../../secret",
    "..\\secret",
    "sub\\Main",
    "/etc/passwd",
    "C:Main",
    "c:\\Main",
    "Main\0",
    "Ma\nin",
    ".",
    "..",
    "sub//Main",
    "/",
    "Main.",
    "Main ",
    "sub /Main",
    "x" * 300,
    "é" * 200,
    "CON",
    "nul.txt",
    "com1",
    "sub/AUX",
    "\ud800",
]
CALLS = {
    "user": lambda tree, name: tree.user(name),
    "endpoint": lambda tree, name: tree.user("Ann").endpoint(name),
    "API type": lambda tree, name: tree.user("Ann").api_type(name),
    "preset": lambda tree, name: tree.user("Ann").preset(name, tree.user("Ann").api_type("Open-AI-API")),
    "prompt template": lambda tree, name: tree.user("Ann").template(name),
    "routing": lambda tree, name: tree.user("Ann").routing(name),
    "workflow": lambda tree, name: tree.user("Ann").workflow(name),
    "workflowUserFolderOverride": lambda tree, name: tree.user("Ann").workflow("Chat", name),
}
FOLDERS = {
    "endpointConfigsSubDirectory": lambda user: user.endpoint("Main"),
    "presetConfigsSubDirectoryOverride": lambda user: user.preset("Calm", user.api_type("Open-AI-API")),
    "workflowConfigsSubDirectoryOverride": lambda user: user.workflow("Chat"),
    "sharedWorkflowsSubDirectoryOverride": lambda user: user.shared_folders(),
}


@pytest.mark.parametrize("field", CALLS)
def test_a_name_that_could_leave_its_folder_is_refused_with_its_field(field, tmp_path):
    tree = tree_of(tmp_path)
    for name in [name for name in HOSTILE if not (field == "workflowUserFolderOverride" and name == "/")]:
        with pytest.raises(SettingsError, match=f"^{field} .* is not allowed: "):
            CALLS[field](tree, name)


@pytest.mark.parametrize("field", FOLDERS)
@pytest.mark.parametrize("folder", ["../secret", "/etc", "a//b", "C:x", "a\\b", "NUL", "x" * 300])
def test_a_folder_of_the_settings_that_could_lead_away_is_refused_with_its_key(field, folder, tmp_path):
    settings = {"customWorkflow": "Chat", field: folder}
    user = tree_of(tmp_path, {"Users/ann.json": settings}).user("Ann")
    with pytest.raises(SettingsError, match=f"^{field} .* is not allowed: "):
        FOLDERS[field](user)


def test_an_api_type_cannot_lead_presets_away(tmp_path):
    tree = tree_of(tmp_path, {"ApiTypes/Odd.json": {"type": "openAIChatCompletion", "presetType": "../../x"}})
    user = tree.user("Ann")
    with pytest.raises(SettingsError, match=r"^presetType '\.\./\.\./x' is not allowed"):
        user.preset("Calm", user.api_type("Odd"))


def test_a_current_user_with_a_slash_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="user 'a/b' is not allowed"):
        tree_of(tmp_path).user("a/b")


@pytest.mark.parametrize(
    "name", ["Main", "gpt-4.1", "model:7b", "Käse", "日本", "_archived/foo", "a b", "{x}", "%2e%2e"]
)
def test_ordinary_names_are_accepted(name):
    assert parts_of(name) == tuple(name.split("/"))


def test_an_empty_name_is_no_file_and_an_empty_folder_is_the_folder_itself():
    with pytest.raises(SettingsError, match="endpoint '' is not allowed: it is empty"):
        file_parts("endpoint", "")
    assert folder_parts("endpointConfigsSubDirectory", "") == ()
    assert folder_parts("endpointConfigsSubDirectory", "_archived/foo/") == ("_archived", "foo")


def test_a_name_is_found_in_any_case_in_each_part_of_its_path(tmp_path):
    lookup = Lookup(str(write(tmp_path, {"Workflows/SubFolder/Chat.json": []})))
    found = lookup.find("workflows", "subfolder", "CHAT.json")
    assert found is not None
    assert lookup.relative(found.path) == "Workflows/SubFolder/Chat.json"


def test_the_exact_name_wins_over_one_in_another_case(tmp_path):
    lookup = Lookup(str(write(tmp_path, {"a/chat.json": 1, "a/Chat.json": 2, "A/CHAT.json": 3})))
    assert [relative(lookup, "a", name) for name in ("chat.json", "Chat.json", "CHAT.json", "cHat.json")] == [
        "a/chat.json",
        "a/Chat.json",
        "a/Chat.json",
        "a/Chat.json",
    ]
    assert relative(lookup, "A", "chat.json") == "A/CHAT.json"


def test_a_folder_in_another_case_is_searched_too_where_the_exact_one_lacks_the_file(tmp_path):
    lookup = Lookup(str(write(tmp_path, {"ann/One.json": 1, "Ann/Two.json": 2})))
    assert relative(lookup, "ann", "Two.json") == "Ann/Two.json"


def test_a_name_is_found_however_its_accents_are_composed(tmp_path):
    lookup = Lookup(str(write(tmp_path, {"Kafe\u0301.json": 1})))
    assert relative(lookup, "KAF\u00c9.json") == "Kafe\u0301.json"


def test_added_files_are_found_and_deleted_ones_are_not(tmp_path):
    lookup = Lookup(str(write(tmp_path, {"a/Other.json": 1})))
    assert lookup.find("a", "chat.json") is None
    write(tmp_path, {"a/Chat.json": 1})
    assert relative(lookup, "a", "chat.json") == "a/Chat.json"
    (tmp_path / "a/Chat.json").unlink()
    assert lookup.find("a", "chat.json") is None


def test_only_regular_files_are_found(tmp_path):
    (tmp_path / "Folder.json").mkdir()
    os.mkfifo(tmp_path / "Pipe.json")
    (tmp_path / "Dangling.json").symlink_to(tmp_path / "nowhere")
    lookup = Lookup(str(tmp_path))
    assert [lookup.find(name) for name in ("Folder.json", "Pipe.json", "Dangling.json", "None.json")] == [None] * 4


def test_names_and_folders_are_listed_in_order(tmp_path):
    write(tmp_path, {"Users/b.json": 1, "users/A.JSON": 1, "Users/notes.txt": b"", "Users/sub/c.json": 1})
    lookup = Lookup(str(tmp_path))
    assert lookup.names("Users") == ["A", "b"]
    assert lookup.folders("Users") == ["sub"]
    assert lookup.names("Nowhere") == []


def relative(lookup, *parts):
    found = lookup.find(*parts)
    return None if found is None else lookup.relative(found.path)


class Searched:
    """A lookup over folders that have not changed for long, so that their cached listings are used."""

    def __init__(self, root):
        self.root = root
        (root / "Endpoints" / "ann").mkdir(parents=True)
        self.lookup = Lookup(str(root))
        self.age()

    def age(self):
        for folder in (self.root, *(path for path in self.root.rglob("*") if path.is_dir())):
            old = folder.stat().st_mtime_ns - 3_600_000_000_000
            os.utime(folder, ns=(old, old))

    def finds(self, name="Calm.json"):
        return self.lookup.find("Endpoints", "ann", name) is not None


@pytest.mark.parametrize("added", ["Endpoints/ann/Calm.json", "Endpoints/ann/calm.JSON", "endpoints/Ann/Calm.json"])
def test_a_file_that_was_missing_is_found_as_soon_as_it_is_added(tmp_path, added):
    searched = Searched(tmp_path / "Configs")
    assert [searched.finds(), searched.finds()] == [False, False]
    write(searched.root, {added: {}})
    assert searched.finds()


def test_a_file_that_was_missing_is_found_when_its_folder_is_replaced(tmp_path):
    searched = Searched(tmp_path / "Configs")
    assert [searched.finds(), searched.finds()] == [False, False]
    (searched.root / "Endpoints" / "ann").rmdir()
    assert not searched.finds()
    write(searched.root, {"Endpoints/ann/Calm.json": {}})
    assert searched.finds()


def test_a_missing_file_is_looked_up_without_reading_its_folder_again(tmp_path, monkeypatch):
    searched = Searched(tmp_path / "Configs")
    assert not searched.finds()
    listed: list[str] = []
    monkeypatch.setattr(os, "listdir", listed.append)
    assert [searched.finds(), listed] == [False, []]


def test_names_of_missing_files_are_remembered_up_to_a_number(tmp_path):
    searched = Searched(tmp_path / "Configs")
    for number in range(5000):
        assert not searched.finds(f"{number}.json")
    assert len(searched.lookup._absent) <= 4096
