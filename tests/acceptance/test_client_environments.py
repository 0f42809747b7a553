"""The environments in which `make test-clients` runs released clients, and how it counts their calls."""

import re
import sys
from pathlib import Path

import pytest

from tests.clients.calling import call
from tests.clients.environments import Client, Release, clients

CHECKOUT = Path(__file__).parents[2]
RELEASES = [release for client in clients() for release in client.releases]
PAGE = (CHECKOUT / "docs" / "clients" / "sdks.md").read_text("utf-8")


@pytest.mark.parametrize("release", RELEASES, ids=lambda one: f"{one.client.name}-{one.version}")
def test_a_lock_pins_everything_and_names_no_registry(release):
    lock = release.lock.read_text("utf-8")
    assert "resolved" not in lock
    if release.client.is_python:
        assert "://" not in lock
        pinned = re.findall(r"^[\w.-]+==[^ ]+.*\\\n    --hash=sha256:", lock, re.MULTILINE)
        assert len(pinned) == len(re.findall(r"^\S", lock, re.MULTILINE))
    else:
        assert lock.count('"integrity": "sha512-') == lock.count('"node_modules/')


@pytest.mark.parametrize("client", clients(), ids=lambda one: one.name)
def test_the_documentation_names_the_lowest_release(client):
    lowest = client.releases[0].label.split(", ")
    told = [each for each in lowest if re.search(rf"`{each.split()[0]}`[^\n]* {re.escape(each.split()[1])}\b", PAGE)]
    assert told


def called(folder: Path, calls: str):
    """The outcome of a client whose environment is this interpreter."""
    (folder / "bin").mkdir()
    (folder / "calls.py").write_text(calls)
    (folder / "requirements.in").write_text("pytest>=9.0\npluggy>=1.0\n")
    (folder / "newest.txt").write_text("pluggy==1.0\n")
    interpreter = folder / "bin" / "python"
    interpreter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    interpreter.chmod(0o755)
    return call(Release(client=Client(folder=folder), version="newest"), folder, {"far": "http://127.0.0.1:9"})


@pytest.mark.slow
def test_calls_that_pass_and_fail_are_counted(tmp_path):
    outcome = called(tmp_path, "def test_a(): pass\ndef test_b(): assert 1 == 2\n")
    assert (outcome.passed, outcome.failed) == (1, 1)
    assert "1 == 2" in str(outcome)


@pytest.mark.slow
@pytest.mark.parametrize("calls", ["import no_such_package\n", "", "import os\nos._exit(0)\n"])
def test_a_client_whose_calls_do_not_run_has_failed(tmp_path, calls):
    outcome = called(tmp_path, calls)
    assert (outcome.passed, outcome.failed) == (0, 1)


@pytest.mark.slow
def test_calls_see_no_settings_of_the_shell(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    outcome = called(tmp_path, "import os\ndef test_a(): assert 'sk-canary' not in os.environ.values()\n")
    assert (outcome.passed, outcome.failed) == (1, 0)
