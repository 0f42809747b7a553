"""A backup that dies at any step leaves the old one or the new one, and the next one puts all right."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.settings import load_settings
from mnemoir.upkeep.backups import Choice, create_backup
from tests.storage.sqlite.test_data_directory import CRASH, look

_CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def crashed(tmp_path):
    """The settings of a data directory as a crash left it: two hundred memories, all in the write-ahead log."""
    data = tmp_path / "data"
    data.mkdir()
    assert subprocess.run([sys.executable, "-c", CRASH, data / "mnemoir.db"], check=False).returncode == 9
    return load_settings(None, {"storage.data_dir": data}, environ={"HOME": str(tmp_path)})


def test_what_is_in_the_log_after_a_crash_is_in_the_backup(crashed, tmp_path):
    _, made = create_backup(crashed, tmp_path / "backup", Choice())
    assert made.counts == {"memories": 200}


def test_a_log_that_lost_acknowledged_writes_is_refused_and_still_known_to_the_next_start(crashed, tmp_path):
    database = tmp_path / "data/mnemoir.db"
    log = database.with_name("mnemoir.db-wal")
    log.write_bytes(log.read_bytes()[:-50_000])
    for _ in range(2):
        with pytest.raises(StorageUnavailable, match="pages in it cannot be read"):
            create_backup(crashed, tmp_path / "backup", Choice())
    assert asyncio.run(look(database)) == "refused"


@pytest.mark.slow
@pytest.mark.parametrize("kept", [(), ("1",)])
def test_death_at_any_step_leaves_the_old_backup_or_the_new_one(tmp_path, kept):
    command = [sys.executable, "-m", "tests.upkeep.backup_program", str(tmp_path), *kept]
    done = subprocess.run(command, cwd=_CHECKOUT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 40
