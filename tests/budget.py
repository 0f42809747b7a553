"""What a case of `make test` may cost: 0.2 s of processor time, else it is named; 0.6 s, else it fails.

The call alone counts, with the processes that ended in it, and neither fixtures nor the first case of a process,
which imports what others find. A case over the limit is repeated by itself behind all others of its process, without
what they left in memory, and the cheaper run counts: the first may have loaded a model, or collected everybody's
garbage. It is judged by what a fixed piece of work costs just then, since one and the same machine may be three times
slower for an hour. A test that has to cost more is marked `costly`, with its
reason.
"""

import gc
import resource
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import cast

import pytest
from _pytest.runner import runtestprotocol

from tests.serving import ServerProcess

NAME = "budget"  # `-p no:budget` sets no limit, as for a profiler
_FREE = ("slow", "costly")  # markers
_NAMED_S, _MOST_S = 0.2, 0.6
_MOST_NAMED = 10
_WORK, _WORK_S = 1_000_000, 0.03  # a piece of work, and what it took
_TO_REPEAT = "over budget"
_used_s = pytest.StashKey[float]()


@dataclass(kw_only=True, eq=False)
class Budget:
    """The plugin. Processes of xdist go without it."""

    most_s: float = _MOST_S
    named_s: float = _NAMED_S
    named: dict[str, list[float]] = field(default_factory=dict)  # seconds of each run, by case
    _first: str | None = None
    _over: list[tuple[pytest.Item, float]] = field(default_factory=list)  # with the seconds of the first run

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure the call."""
        began_s = _processor_s()
        try:
            return (yield)
        finally:
            item.stash[_used_s] = _processor_s() - began_s

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Set a success aside that cost too much."""
        report = yield
        if report.when == "call":
            self._first = self._first or item.nodeid
            if report.passed and self._first != item.nodeid and not any(map(item.get_closest_marker, _FREE)):
                report.user_properties.append((NAME, item.stash[_used_s]))
                if item.stash[_used_s] > self.most_s:
                    report.outcome = _TO_REPEAT  # type: ignore[assignment]  # pytest counts only what it knows
                    self._over.append((item, item.stash[_used_s]))
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Behind the last test, run once more what was set aside; that result counts."""
        done = yield
        if self._over:
            gc.collect()
            gc.freeze()  # else whoever collects garbage looks at all that thousands of cases left
        for item, first_s in self._over[:]:
            slowness = _slowness()
            for report in runtestprotocol(item, nextitem=None, log=False):  # None: it shares no fixture with others
                if report.outcome == _TO_REPEAT:
                    self._judge(report, first_s, item.stash[_used_s], max(slowness, _slowness()))
                item.ihook.pytest_runtest_logreport(report=report)
        return done

    def _judge(self, report: pytest.TestReport, first_s: float, again_s: float, slowness: float) -> None:
        """Let a repeated case pass that is over the limit for no other reason than a slow machine."""
        report.outcome = "passed" if min(first_s, again_s) <= self.most_s * slowness else "failed"
        if report.outcome == "failed":
            report.longrepr = (
                f"It used {first_s:.2f} s of processor time, and {again_s:.2f} s when repeated. "
                f"A case of `make test` may use {self.most_s} s: see tests/budget.py."
            )

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """A letter and a word for such a report."""
        return (_TO_REPEAT, "B", "OVER BUDGET") if report.outcome == _TO_REPEAT else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what a case cost."""
        used_s = cast(float, dict(report.user_properties).get(NAME, 0.0))
        if report.when == "call" and used_s > self.named_s:
            self.named.setdefault(report.nodeid, []).append(used_s)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name those that cost most."""
        if self.named:
            terminalreporter.section(f"{len(self.named)} cases used more than {self.named_s} s of processor time")
            for case, runs_s in sorted(self.named.items(), key=lambda one: -one[1][0])[:_MOST_NAMED]:
                terminalreporter.write_line(f"{', then '.join(f'{run_s:.2f} s' for run_s in runs_s)}  {case}")


def _slowness() -> float:
    """How often longer a fixed piece of work takes than on the machine where the limits were set; at least 1."""
    began_s = time.thread_time()
    sum(number * number for number in range(_WORK))
    return max(1.0, (time.thread_time() - began_s) / _WORK_S)


def _processor_s() -> float:
    """Of this process, of its children that have ended, and of servers that were forked and have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    forked_s = ServerProcess.forker.used_s if ServerProcess.forker else 0.0
    return forked_s + sum(one.ru_utime + one.ru_stime for one in used)
