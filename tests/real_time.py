"""Repeats a failed test that needs real time once, alone, after all other tests, and says so.

A test with the marker `real_time` holds a promise that names a time, which a busy machine can break although the code
is right. Its first failure is reported as "to repeat". When everything else has ended it runs again by itself in a
new process, and that result counts. A test without the marker is never repeated.

Shards of one run share a lock, and each releases it with its last test. One that has to repeat tests takes it for
itself: so it waits for all others, which may have to repeat some, too.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass, field

import pytest

MARKER = "real_time"
NAME = "real-time-repeats"  # `-p no:real-time-repeats` lets the first failure count
_TO_REPEAT = "to repeat"


@dataclass(kw_only=True, eq=False)
class RealTimeRepeats:
    """The plugin; it works the same with and without processes of xdist."""

    config: pytest.Config
    failed: dict[str, pytest.TestReport] = field(default_factory=dict)  # by test, the first failure of each
    results: list[str] = field(default_factory=list)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Set a failure aside where the test runs, which may be another process than the one that reports it."""
        report = yield
        if report.failed and item.get_closest_marker(MARKER):
            report.outcome = _TO_REPEAT  # type: ignore[assignment]  # pytest counts only what it knows
        return report

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """A letter and a word for such a report."""
        return (_TO_REPEAT, "T", "TO REPEAT") if report.outcome == _TO_REPEAT else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember each test once, though its call and its teardown may both have failed."""
        if report.outcome == _TO_REPEAT:
            self.failed.setdefault(report.nodeid, report)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Behind the last test of all processes, repeat what failed."""
        lock = self.config.getoption("run_lock", None)
        if lock is not None:
            os.set_inheritable(lock, False)
        done = yield
        if self.failed and not hasattr(self.config, "workerinput"):
            if lock is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            for report in self.failed.values():
                self._repeat(report)
        return done

    def _repeat(self, first: pytest.TestReport) -> None:
        again = subprocess.run(self._command(first.nodeid), capture_output=True, text=True, cwd=self.config.rootpath)
        passed = again.returncode == 0
        result = "passed" if passed else "failed again"
        self.results.append(f"{first.nodeid} failed, was repeated alone and {result}")
        first.outcome = "passed" if passed else "failed"
        first.when, first.sections = "call", []
        output = f"Repeated alone:\n{again.stdout}{again.stderr}"
        first.longrepr = None if passed else f"{first.longreprtext}\n\n{output}"
        self.config.hook.pytest_runtest_logreport(report=first)

    def _command(self, test: str) -> list[str]:
        seed = self.config.getoption("randomly_seed", None)
        same = ["-p", f"no:{NAME}"] + ([f"--randomly-seed={seed}"] if isinstance(seed, int) else [])
        return [sys.executable, "-m", "pytest", f"--rootdir={self.config.rootpath}", *same, test]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name each repeated test and its result, also when all is well in the end."""
        if self.results:
            terminalreporter.section("repeated, for they need real time")
            for line in self.results:
                terminalreporter.write_line(line)
