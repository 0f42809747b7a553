"""A backup that dies at any step leaves the old one or the new one, and the next one puts all right."""

import subprocess
import sys
from pathlib import Path

import pytest

_CHECKOUT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [(), ("1",)])
def test_death_at_any_step_leaves_the_old_backup_or_the_new_one(tmp_path, kept):
    command = [sys.executable, "-m", "tests.app.backup_program", str(tmp_path), *kept]
    done = subprocess.run(command, cwd=_CHECKOUT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 40
