"""A case that uses too much processor time is repeated once, and fails if it does so again."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # each of them starts pytest

CONFTEST = """
from tests.budget import Budget

def pytest_configure(config):
    for marker in ("slow", "costly"):
        config.addinivalue_line("markers", f"{marker}: without a limit")
    config.pluginmanager.register(Budget(most_s=0.1, named_s=0.04))
"""
# what takes that long, and notes that it ran
TESTS = """
import subprocess, sys, time
from pathlib import Path
import pytest

def work(seconds):
    ends = time.process_time() + seconds
    while time.process_time() < ends:
        pass
    with Path(__file__).with_name("runs").open("a") as runs:
        runs.write("x")

def test_first():
    work(0.2)
"""


@pytest.fixture
def outcome(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """The status, how often tests worked, and the lines of a run of these tests, in their order."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    pytester.makeconftest(CONFTEST)

    def of(source: str) -> tuple[int, int, list[str]]:
        pytester.makepyfile(test_it=TESTS + source)
        result = pytester.runpytest_subprocess("-q", "-p", "no:randomly", "-p", "no:cacheprovider")
        return result.ret, len((pytester.path / "runs").read_text()), result.outlines

    return of


def test_the_first_case_of_a_process_has_no_limit(outcome):
    assert outcome("")[:2] == (0, 1)


def test_one_that_costs_too_much_twice_fails_and_says_so(outcome):
    status, runs, lines = outcome("def test_it():\n    work(1)")  # ten times the limit: the machine may be slow
    assert (status, runs) == (1, 3)
    assert [line for line in lines if "s of processor time, and 1." in line]
    assert lines[-1].startswith("1 failed, 1 passed, 1 over budget in")


def test_one_that_costs_too_much_once_passes(outcome):
    status, runs, lines = outcome("def test_it():\n    work(0.2 if len(Path('runs').read_text()) == 1 else 0)")
    assert (status, runs) == (0, 3)
    assert lines[-1].startswith("2 passed, 1 over budget in")


def test_a_repeat_pays_nothing_for_what_other_cases_left_in_memory(outcome):
    source = """
import gc
left = [[number] for number in range(2_000_000)]

def test_it():
    began_s = time.process_time()
    gc.collect()
    used_s = time.process_time() - began_s
    if len(Path("runs").read_text()) == 1:
        Path("first").write_text(str(used_s))
        work(0.2)
    else:
        assert used_s < float(Path("first").read_text()) / 2
"""
    status, _, lines = outcome(source)
    assert (status, lines[-1].startswith("2 passed")) == (0, True), lines


def test_fixtures_do_not_count(outcome):
    fixture = "@pytest.fixture\ndef needed():\n    work(0.2)\n    yield\n    work(0.2)\n"
    assert outcome(f"{fixture}def test_it(needed):\n    pass")[:2] == (0, 3)


def test_a_repeat_shares_no_fixture_with_the_first_run(outcome):
    source = """
@pytest.fixture(scope="module")
def fresh():
    return []

@pytest.mark.parametrize("s", [0.2, 0])
def test_it(fresh, s):
    assert not fresh or s == 0
    fresh.append(s)
    work(s if len(Path('runs').read_text()) == 1 else 0)
"""
    status, runs, lines = outcome(source)
    assert (status, runs) == (0, 4)
    assert lines[-1].startswith("3 passed, 1 over budget in")


def test_a_process_that_ended_in_the_case_counts(outcome):
    program = "import time\\nwhile time.process_time() < 1: pass"
    status, _, lines = outcome(f"def test_it():\n    subprocess.run([sys.executable, '-c', '''{program}'''])")
    assert (status, lines[-1].startswith("1 failed")) == (1, True)


@pytest.mark.parametrize("marker", ["slow", "costly('why')"])
def test_what_is_marked_has_no_limit(outcome, marker):
    assert outcome(f"@pytest.mark.{marker}\ndef test_it():\n    work(0.2)")[:2] == (0, 2)


def test_a_failure_is_not_repeated(outcome):
    assert outcome("def test_it():\n    work(0.2)\n    assert False")[:2] == (1, 2)


def test_what_costs_much_is_named(outcome):
    lines = outcome("@pytest.mark.parametrize('s', [0.0, 0.05])\ndef test_it(s):\n    work(s)")[2]
    (named,) = (line for line in lines if line.endswith(" s  test_it.py::test_it[0.05]"))
    assert "= 1 cases used more than 0.04 s of processor time =" in lines[lines.index(named) - 1]
