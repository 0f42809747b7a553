"""`mnemoir subject`, `hold` and `retention` on a data directory without a server."""

import json
import zipfile

import pytest

from tests.cli.command_process import run_here


@pytest.mark.slow
def test_a_person_is_exported_held_and_erased(tmp_path, capsys):
    def mnemoir(*arguments):
        return run_here(*arguments, "--data-dir", "data", cwd=tmp_path, capsys=capsys)

    assert mnemoir("memories", "add", "Likes tea", "--verbatim", "--user", "mira").returncode == 0
    done = mnemoir("subject", "export", "mira.zip", "--user", "mira", "--json")
    assert json.loads(done.stdout)["bytes"] == (tmp_path / "mira.zip").stat().st_size
    with zipfile.ZipFile(tmp_path / "mira.zip") as archive:
        assert b"Likes tea" in archive.read("projects/default/current_memories.jsonl")
    assert mnemoir("hold", "set", "mira", "--reason", "Case 12").returncode == 0
    assert "Case 12" in mnemoir("hold", "list").stdout
    refused = mnemoir("subject", "erase", "--user", "mira", "--yes")
    assert (refused.returncode, "is on legal hold" in refused.stderr) == (1, True)
    assert mnemoir("hold", "clear", "mira").returncode == 0
    erased = mnemoir("subject", "erase", "--user", "mira", "--yes", "--json")
    assert json.loads(erased.stdout)["counts"]["memories"] == 1
    assert "Nothing was stored" in mnemoir("subject", "erase", "--user", "mira", "--yes").stderr
    assert "Nothing is too old" in mnemoir("retention", "run", "--dry-run").stderr
