"""Files are shared out by their times, each test runs once, and what fails in one shard fails the run."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import shares
from tests.shares import record_times, recorded_times, shares_of

pytest_plugins = ["pytester"]

CONFTEST = """
from tests.real_time import MARKER, NAME, RealTimeRepeats
from tests.share import add_options, share_of

pytest_addoption = add_options

def pytest_configure(config):
    config.addinivalue_line("markers", f"{MARKER}: may be repeated")
    config.addinivalue_line("markers", "slow: of the other stage")
    config.pluginmanager.register(RealTimeRepeats(config=config), NAME)
    config.pluginmanager.register(share_of(config))
"""
RUN = """
import sys
from pathlib import Path
from tests import shards, shares

shards.CHECKOUT = shares.CHECKOUT = Path.cwd()
shards.TIMES = shares.TIMES = Path.cwd() / "times.json"
shards._SHARDS = 2
sys.exit(shards.main("quick", *sys.argv[1:]))
"""
PASSES = "def test_it():\n    pass\n"
# the shard that has to repeat it waits for the other one
FAILS_ONCE = """
import pytest
from pathlib import Path

@pytest.mark.real_time
def test_it():
    with Path("order").open("a") as order:
        print("timed", file=order)
    assert Path("order").read_text().count("timed") == 2
"""
ENDS_LATER = """
from pathlib import Path

def test_other():
    while "-> FLOCK" not in Path("/proc/locks").read_text():
        pass
    with Path("order").open("a") as order:
        print("other", file=order)
"""


class Checkout:
    """A folder with tests of its own, that two shards run."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.path = pytester.path
        pytester.makeconftest(CONFTEST)
        (self.path / "run.py").write_text(RUN)

    def begin(self, *arguments: str, **files: str) -> "subprocess.Popen[str]":
        for name, text in files.items():
            (self.path / f"{name}.py").write_text(text)
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
        command = [sys.executable, "run.py", *arguments]
        return subprocess.Popen(command, cwd=self.path, env=environment, stdout=subprocess.PIPE, text=True)

    def run(self, *arguments: str, **files: str) -> tuple[int, str]:
        """The status, and the last line that is printed, without its time."""
        run = self.begin(*arguments, **files)
        printed, _ = run.communicate()
        return run.returncode, printed.splitlines()[-1].rpartition(" in ")[0]


@pytest.fixture
def checkout(pytester: pytest.Pytester) -> Checkout:
    return Checkout(pytester)


def test_shares_take_equally_long_and_have_each_file_once():
    times = {f"test_{at}.py": float(at) for at in range(40)}
    parts = shares_of(times, times, 3)
    assert sorted(file for part in parts for file in part) == sorted(times)
    took = [sum(times[file] for file in part) for part in parts]
    assert max(took) - min(took) <= 2


def test_a_file_without_a_time_goes_to_the_shortest_share():
    assert shares_of(["new", "long", "short"], {"long": 9.0, "short": 7.0}, 2) == [["long"], ["short", "new"]]


def test_recorded_times_are_sorted_and_rounded(tmp_path, monkeypatch):
    monkeypatch.setattr(shares, "TIMES", tmp_path / "times.json")
    assert recorded_times("slow") == {}
    record_times({"quick": {"b": 1.26, "a": 0.04}, "slow": {"b": 10.0}})
    assert (recorded_times("quick"), recorded_times("slow")) == ({"a": 0.0, "b": 1.3}, {"a": 0.0, "b": 10.0})
    assert (tmp_path / "times.json").read_text() == '{\n"a": [0.0, 0.0],\n"b": [1.3, 10.0]\n}\n'


def test_the_times_of_this_checkout_can_be_read():
    assert recorded_times("quick")
    assert json.loads(shares.TIMES.read_text()).keys() == recorded_times("slow").keys()


@pytest.mark.slow
def test_a_failure_in_one_shard_fails_the_run(checkout):
    fails = "def test_it():\n    assert False\n"
    assert checkout.run(test_a=PASSES, test_b=fails) == (1, "The quick tests failed: 1 failed, 1 passed")


@pytest.mark.slow
def test_a_shard_without_a_test_is_no_failure_but_a_run_is(checkout):
    files = {"test_a": PASSES, "test_b": PASSES.replace("it", "other")}
    assert checkout.run("-k", "other", **files) == (0, "The quick tests passed: 1 deselected, 1 passed")
    assert checkout.run("-k", "none") == (5, "The quick tests failed: 2 deselected")


@pytest.mark.slow
def test_a_test_that_is_named_runs_once(checkout):
    files = {f"test_{name}": PASSES for name in "abc"}
    assert checkout.run("test_a.py", "test_b.py::test_it", **files) == (0, "The quick tests passed: 2 passed")


@pytest.mark.slow
def test_times_of_files_are_recorded_of_the_stage_that_ran(checkout):
    checkout.run("--record", test_a="import time\ndef test_it():\n    time.sleep(0.1)\n", test_b=PASSES)
    times = json.loads((checkout.path / "times.json").read_text())
    assert times["test_a.py"][0] >= 0.1
    assert times["test_b.py"] == [0.0, 0.0]


@pytest.mark.slow
def test_a_repeat_begins_behind_the_last_test_of_all_shards(checkout):
    status, line = checkout.run(test_a=FAILS_ONCE, test_b=ENDS_LATER)
    assert (status, line) == (0, "The quick tests passed: 2 passed, 1 to repeat")
    assert (checkout.path / "order").read_text().split() == ["timed", "other", "timed"]


@pytest.mark.slow
def test_an_interrupted_run_ends_its_shards_which_tidy_up(checkout):
    os.mkfifo(checkout.path / "begun")
    waits = """
import threading
from pathlib import Path

def test_it():
    try:
        with Path("begun").open("w"):
            threading.Event().wait()
    finally:
        Path("tidied up").touch()
"""
    run = checkout.begin(test_a=waits, test_b=PASSES)
    with (checkout.path / "begun").open() as begun:
        run.send_signal(signal.SIGINT)
        assert begun.read() == ""  # nobody has it open any more
    run.communicate()
    assert run.returncode == 2
    assert (checkout.path / "tidied up").exists()
