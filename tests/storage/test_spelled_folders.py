"""One folder for each name, also where a file system takes two names for one."""

import os
import unicodedata

import pytest

from mnemoir.core.discussion_id import directory_name, encoded_name
from mnemoir.storage.spelled_folders import SpelledFolders

ALIKE = ["mira", "Mira", "MIRA", "é", "e\u0301", "É", "straße", "STRASSE", "a.", "../x", "con"]


def without_case(name: str) -> str:
    """What a file system without case and Unicode form makes of a name."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


@pytest.mark.parametrize("restarted", [False, True])
def test_names_that_look_alike_to_a_file_system_get_folders_that_do_not(tmp_path, restarted):
    folders, found = SpelledFolders(), {}
    for name in ALIKE:
        found[name] = folders.of(tmp_path, name)
        found[name].mkdir()
        folders = SpelledFolders() if restarted else folders
    assert len({without_case(folder.name) for folder in found.values()}) == len(ALIKE)
    assert {name: SpelledFolders().of(tmp_path, name) for name in reversed(ALIKE)} == found
    assert found["mira"].name == "mira"
    assert found["Mira"].name == encoded_name("Mira")


def test_two_new_names_get_two_folders_before_any_of_them_is_made(tmp_path):
    folders = SpelledFolders()
    assert [folders.of(tmp_path / "gone", name).name for name in ("Mira", "mira")] == ["Mira", encoded_name("mira")]


def test_folders_that_are_there_open_unchanged_and_names_of_their_own_stay_as_they_are(tmp_path):
    for name in ("A", "a", "é"):
        (tmp_path / name).mkdir()
    folders = SpelledFolders()
    assert [folders.of(tmp_path, name).name for name in ("a", "A", "é")] == ["a", "A", "é"]
    for name in ("Tea Time", "süß", "日本語", "..", "a/b", "x" * 300):
        assert folders.of(tmp_path, name).name == directory_name(name)


def test_a_file_system_that_writes_a_name_in_another_form_finds_it_again(tmp_path, monkeypatch):
    (tmp_path / "e\u0301").mkdir()
    there = os.path.lexists
    monkeypatch.setattr(os.path, "lexists", lambda path: there(path) or str(path).endswith("é"))
    folders = SpelledFolders()
    assert folders.of(tmp_path, "é").name == "e\u0301"
    assert folders.of(tmp_path, "É").name == encoded_name("É")
