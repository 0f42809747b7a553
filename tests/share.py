"""What a shard does of its own: it collects its share of the files, and tells how its tests ended and how long.

The plugin of `tests/shards.py`.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass(kw_only=True, eq=False)
class Share:
    """The files, absolute, and where the result is written to: counts by outcome, and seconds by file."""

    files: frozenset[Path]
    result: Path
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Import no file of another share."""
        return True if self._is_of_another(collection_path) else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop the tests of other shares' files: one that the command line names is collected in any case."""
        items[:] = [item for item in items if not self._is_of_another(item.path)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what each part of a test took."""
        self.seconds[report.nodeid.partition("::")[0]] += report.duration

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the result, once no test is left."""
        counts = {
            outcome: sum(getattr(report, "count_towards_summary", True) for report in reports)
            for outcome, reports in terminalreporter.stats.items()
            if outcome
        }
        self.result.write_text(json.dumps({"counts": counts, "seconds": self.seconds}), "utf-8")

    def _is_of_another(self, path: Path) -> bool:
        return path.name.startswith("test_") and path.suffix == ".py" and path not in self.files


def add_options(parser: pytest.Parser) -> None:
    """The options that a run gives to its shards."""
    parser.addoption("--share", help="a file that names the files of tests to collect")
    parser.addoption("--shard-result", help="where the counts and times of these tests are written to")
    parser.addoption("--run-lock", type=int, help="the number of an open file, which all shards of a run have locked")


def share_of(config: pytest.Config) -> Share | None:
    """The share that the options name; None where pytest was called by hand."""
    told = config.getoption("share")
    if told is None:
        return None
    files = frozenset(map(Path, Path(told).read_text("utf-8").splitlines()))
    return Share(files=files, result=Path(config.getoption("shard_result")))
