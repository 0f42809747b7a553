"""Back-ends are found by name, in this package and in others that are installed."""

import tomllib
from pathlib import Path

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.ports.backends import SHIPPED, backend
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A folder of installed packages; `listing` puts one there."""
    monkeypatch.syspath_prepend(tmp_path)

    def listing(package: str, entries: str, code: str = "") -> None:
        about = tmp_path / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[mnemoir.backends]\n{entries}\n")
        (tmp_path / f"{package}.py").write_text(code)

    return listing


@pytest.mark.parametrize("name", SHIPPED)
def test_a_back_end_of_ours_is_found_by_its_name(name):
    assert backend(name).__name__ == SHIPPED[name].split(":")[1]


def test_a_back_end_of_another_package_is_found_by_its_name(packages):
    packages(
        "shelf_of_theirs", "their-shelf = shelf_of_theirs:open_shelf", "def open_shelf(path): return 'opened ' + path"
    )
    assert backend("their-shelf")("here") == "opened here"


def test_no_other_package_takes_one_of_our_names(packages):
    packages("usurper", "sqlite-sessions = a_usurper:Storage")
    assert backend.__wrapped__("sqlite-sessions") is MemoryStorage


def test_an_unknown_name_is_told_with_those_there_are():
    with pytest.raises(SettingsError, match=r"lists a back-end 'nothing' .* There are: .*sqlite-sessions"):
        backend("nothing")


@pytest.mark.parametrize(
    ("package", "code", "cause"),
    [
        ("broken_back_end", "import no_such_module", "it cannot be imported: ModuleNotFoundError"),
        ("lacking_back_end", "", "it cannot be imported: AttributeError"),
        ("numbered_back_end", "found = 7", "it is neither a class nor a function"),
    ],
)
def test_a_back_end_that_cannot_be_used_is_told_with_its_cause(packages, package, code, cause):
    packages(package, f"{package} = {package}:found", code)
    with pytest.raises(
        SettingsError, match=f"{package} = {package}:found in mnemoir.backends cannot be used: {cause}"
    ):
        backend(package)


def test_our_own_table_says_what_the_project_file_lists():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["mnemoir.backends"] == SHIPPED
