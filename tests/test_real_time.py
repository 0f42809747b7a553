"""A failed test with the marker `real_time` is repeated once, alone, and named; any other failure is final."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # each of them starts pytest, some with processes of their own

CONFTEST = """
from tests.real_time import MARKER, NAME, RealTimeRepeats

def pytest_configure(config):
    config.addinivalue_line("markers", f"{MARKER}: may be repeated")
    config.pluginmanager.register(RealTimeRepeats(config=config), NAME)
"""
# a test passes from its run `passes_from` on
COUNTED = """
from pathlib import Path
import pytest

def run(name, passes_from):
    runs = Path(__file__).with_name(name)
    runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
    assert len(runs.read_text()) >= passes_from
"""
REAL_TIME = "@pytest.mark.real_time\n"
PARALLEL = pytest.mark.parametrize("processes", ["0", "2"])


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Runs these tests in a process of their own, beside a folder of tests with a conftest.py."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(**{"other/conftest": "", "other/test_other": ""})

    def of(source: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=COUNTED + source)
        return pytester.runpytest_subprocess("-q", *options)

    return of


def runs_of(pytester: pytest.Pytester, name: str) -> int:
    return len((pytester.path / name).read_text())


@PARALLEL
def test_a_failure_that_does_not_come_again_passes_and_is_named(run, pytester, processes):
    result = run(f"{REAL_TIME}def test_timed():\n    run('timed', 2)", "-n", processes)
    assert (result.ret, runs_of(pytester, "timed")) == (0, 2)
    result.stdout.fnmatch_lines(["test_it.py::test_timed failed, was repeated alone and passed"])
    result.stdout.fnmatch_lines(["1 passed, 1 to repeat in *"])


def test_a_test_that_fails_twice_fails_and_shows_both(run, pytester):
    result = run(f"{REAL_TIME}def test_timed():\n    run('timed', 9)")
    assert (result.ret, runs_of(pytester, "timed")) == (1, 2)
    result.stdout.fnmatch_lines(["*assert 1 >= 9", "*Repeated alone:*", "*assert 2 >= 9"])
    result.stdout.fnmatch_lines(["test_it.py::test_timed failed, was repeated alone and failed again"])
    result.stdout.fnmatch_lines(["1 failed, 1 to repeat in *"])


@PARALLEL
def test_a_failure_without_the_marker_is_not_repeated(run, pytester, processes):
    timed = f"{REAL_TIME}def test_timed():\n    run('timed', 1)\n"
    result = run(timed + "def test_plain():\n    run('plain', 2)", "-n", processes)
    assert (result.ret, runs_of(pytester, "plain"), runs_of(pytester, "timed")) == (1, 1, 1)
    result.stdout.fnmatch_lines(["1 failed, 1 passed in *"])
    result.stdout.no_fnmatch_line("*was repeated*")


def test_repeats_begin_behind_the_last_test_and_run_one_by_one(run, pytester):
    noting = """
@pytest.fixture(autouse=True)
def noted(request):
    with Path(__file__).with_name("order").open("a") as file:
        file.write(f"{request.node.name}\\n")
"""
    names = ("test_a", "test_b")
    tests = "".join(f"{REAL_TIME}def {name}():\n    run('{name}', 2)\n" for name in names)
    result = run(f"{noting}{tests}def test_plain():\n    pass", "-p", "no:randomly")
    assert result.ret == 0
    assert (pytester.path / "order").read_text().split() == [*names, "test_plain", *names]


@pytest.mark.parametrize("part", ["setup", "teardown"])
def test_a_failure_of_a_fixture_is_repeated_as_well(run, pytester, part):
    setup, teardown = ("run('part', 2)", "") if part == "setup" else ("", "run('part', 2)")
    fixture = f"@pytest.fixture\ndef needed():\n    {setup or 'pass'}\n    yield\n    {teardown or 'pass'}\n"
    result = run(f"{fixture}{REAL_TIME}def test_timed(needed):\n    pass")
    assert (result.ret, runs_of(pytester, "part")) == (0, 2)
    result.stdout.fnmatch_lines(["test_it.py::test_timed failed, was repeated alone and passed"])


def test_the_repeat_has_the_seed_of_the_first_run(run, pytester):
    test = f"{REAL_TIME}def test_timed():\n    import random\n"
    test += (
        "    with Path(__file__).with_name('chosen').open('a') as file:\n        file.write(f'{random.random()} ')\n"
    )
    result = run(f"{test}    run('timed', 2)")
    first, second = (pytester.path / "chosen").read_text().split()
    assert (result.ret, first) == (0, second)
