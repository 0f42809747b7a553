"""A browser on the path is taken, else one is installed; without any the tests of the pages are left out by name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import chromium, shards
from tests.shares import CHECKOUT


def make_program(folder: Path, name: str, script: str = "") -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o700)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose only programs are in this folder, and whose Playwright has no browser and gets none."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    monkeypatch.setattr(chromium, "_OWN", ((sys.executable, "-c", "raise SystemExit(1)"),))
    return tmp_path


def test_the_one_without_a_screen_is_preferred(path):
    make_program(path, "chromium")
    assert chromium.chromium() == str(path / "chromium")
    make_program(path, "chromium-headless-shell")
    assert chromium.chromium() == str(path / "chromium-headless-shell")
    assert chromium.is_provided()


def test_root_gets_that_of_debian(path, monkeypatch):
    made = f"[ $1 = install ] && : > {path}/chromium-headless-shell && /bin/chmod 700 {path}/chromium-headless-shell"
    make_program(path, "apt-get", f"[ $1 = update ] || {{ {made}; }}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(chromium, "is_there", lambda: chromium.chromium() is not None)
    assert not chromium.is_provided()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert chromium.is_provided()


def test_without_root_playwright_fetches_its_own(path, monkeypatch):
    fetched = path / "fetched"
    monkeypatch.setattr(chromium, "_OWN", ((sys.executable, "-c", f"open({str(fetched)!r}, 'w')"),))
    monkeypatch.setattr(chromium, "is_there", fetched.exists)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert chromium.is_provided()


def test_without_any_the_tests_of_pages_are_left_out(monkeypatch):
    files = ["tests/browser/test_shell.py", "tests/core/test_ids.py"]
    monkeypatch.setattr(shards, "is_provided", lambda: False)
    assert shards.without_browser(files) == (["tests/core/test_ids.py"], ["tests/browser/test_shell.py"])
    monkeypatch.setattr(shards, "is_provided", lambda: True)
    assert shards.without_browser(files) == (files, [])


def test_no_browser_is_looked_for_where_no_page_is_tested(monkeypatch):
    monkeypatch.setattr(shards, "is_provided", lambda: pytest.fail("looked for"))
    assert shards.without_browser(["tests/core/test_ids.py"]) == (["tests/core/test_ids.py"], [])


NO_ROOT = """
import os, sys
from tests import chromium, shards
os.geteuid = lambda: 1000
chromium._OWN = ((sys.executable, "-c", "raise SystemExit(1)"),)
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A program on the machine without a browser, and without a way to one."""
    command = [sys.executable, "-c", NO_ROOT + program, *arguments]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.usefixtures("path")
def test_the_last_line_names_what_was_left_out():
    named = ["tests/core/test_ids.py", "tests/core/test_clock.py", "tests/browser/test_shell.py"]
    done = run("sys.exit(shards.main('quick', *sys.argv[1:]))", *named)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "Left out, for there is no browser: tests/browser/test_shell.py"


@pytest.mark.slow
@pytest.mark.usefixtures("path")
def test_the_command_fails_without_any():
    done = run("chromium.main()")
    assert (done.returncode, "There is no browser" in done.stderr) == (1, True)
