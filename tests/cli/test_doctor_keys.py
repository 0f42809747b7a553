"""`mnemoir doctor` on the file of keys: it names what is damaged or missing and changes nothing."""

import sqlite3
from contextlib import closing

import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.cli.diagnosis.file_checks import check_keys
from mnemoir.core.api_keys import new_pepper
from mnemoir.settings import Settings, load_settings
from tests.acceptance.conversation_kit import bytes_below


@pytest.fixture
def settings(tmp_path) -> Settings:
    return load_settings(None, {"storage.data_dir": str(tmp_path / "data")}, environ={})


@pytest.fixture
def made(settings: Settings) -> Settings:
    """The settings of a server for which a key was made."""
    with closing(AccessFile(settings)) as file:
        ApiKeys(file).create(role="admin", by="test")
    return settings


async def test_without_keys_all_is_well_and_nothing_is_created(settings, tmp_path):
    finding = await check_keys(settings)
    assert (finding.state, finding.found) == ("ok", "none were made")
    assert not (tmp_path / "data").exists()


async def test_whole_keys_pass_and_nothing_is_changed(made):
    before = bytes_below(made.storage.data_dir)
    finding = await check_keys(made)
    assert (finding.state, finding.to_do) == ("ok", "")
    assert bytes_below(made.storage.data_dir) == before


async def test_a_damaged_file_of_keys_is_named(made):
    file = made.storage.data_dir / "access.db"
    file.write_bytes(file.read_bytes()[:-4096])
    finding = await check_keys(made)
    assert finding.state == "fail"
    assert str(file) in finding.found


async def test_a_missing_pepper_is_named(made):
    (made.storage.data_dir / "secrets" / "pepper").unlink()
    finding = await check_keys(made)
    assert (finding.state, "secrets/pepper is missing" in finding.found) == ("fail", True)


async def test_a_pepper_of_the_settings_needs_no_file(tmp_path):
    given = {"storage.data_dir": str(tmp_path / "data"), "security.pepper": "of the settings, long enough"}
    settings = load_settings(None, given, environ={})
    with closing(AccessFile(settings)) as file:
        ApiKeys(file).create(role="admin", by="test")
    assert (await check_keys(settings)).state == "ok"


@pytest.mark.parametrize("place", ["secrets/pepper", "security.pepper"])
async def test_a_pepper_that_is_not_that_of_the_keys_is_named(made, place):
    given = {"storage.data_dir": str(made.storage.data_dir)}
    if place == "security.pepper":
        given[place] = "of another directory, long enough"
    else:
        (made.storage.data_dir / place).write_bytes(new_pepper())
    finding = await check_keys(load_settings(None, given, environ={}))
    assert finding.state == "fail"
    assert f"{place} is not the secret" in finding.found


async def test_the_pepper_is_known_by_a_later_entry_where_the_first_of_the_log_was_changed(made):
    with closing(AccessFile(made)) as file:
        ApiKeys(file).create(role="admin", by="test")
    with closing(sqlite3.connect(made.storage.data_dir / "access.db")) as database, database:
        database.execute("UPDATE audit SET result = 'changed' WHERE number = 1")
    assert (await check_keys(made)).state == "ok"
