"""Runs the calls of one release, in its environment, and counts what passed.

pytest runs the calls in Python and Node's own test runner those in JavaScript; both report as JUnit XML.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.clients.environments import HERE, Release, node, python_of

SHARED = HERE / "shared"
_HANG_S = 300  # ends what hangs; no measure
_CLOSED = "http://127.0.0.1:9"  # the discard port: a call that leaves the machine fails at once


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How the calls of one release went; `output` is what the runner printed."""

    name: str
    passed: int
    failed: int
    seconds: float
    output: str

    def __str__(self) -> str:
        line = f"{self.name}: {self.passed} passed, {self.failed} failed ({self.seconds:.1f} s)"
        return f"{self.output}\n{line}" if self.failed else line


def call(release: Release, folder: Path, addresses: Mapping[str, str]) -> Outcome:
    """Run all calls of `release` in its environment `folder` against the servers at `addresses`."""
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    begun = time.monotonic()
    command = _pytest(release, folder, report) if release.client.is_python else _node(release, folder, report)
    try:
        done = subprocess.run(
            command, cwd=folder, env=_environment(addresses), text=True, timeout=_HANG_S,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        output, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as hung:
        output, status = f"{hung.stdout!r}\nended after {_HANG_S} s", 1
    passed, failed = _counts(report)
    broken = (status != 0 or not passed) and not failed  # the runner itself failed, or it found no calls
    return Outcome(
        name=f"{release.client.name} ({release.label})",
        passed=passed,
        failed=failed + broken,
        seconds=time.monotonic() - begun,
        output=output,
    )


def _pytest(release: Release, folder: Path, report: Path) -> Sequence[str]:
    calls = map(str, sorted(release.client.folder.glob("calls*.py")))
    own = ["-c", str(SHARED / "pytest.ini"), f"--rootdir={HERE}", f"--confcutdir={HERE}"]
    return [str(python_of(folder)), "-m", "pytest", *own, f"--junitxml={report}", *calls]


def _node(release: Release, folder: Path, report: Path) -> Sequence[str]:
    """The calls are copied into the environment, because Node looks for packages beside the importing file."""
    for file in (release.client.folder / "calls.mjs", SHARED / "mnemoir_calls.mjs"):
        shutil.copy(file, folder / file.name)
    told = ["--test-reporter=spec", "--test-reporter-destination=stdout"]
    told += ["--test-reporter=junit", f"--test-reporter-destination={report}"]
    return [
        str(node()),
        "--test",
        "--test-isolation=none",
        f"--test-timeout={_HANG_S * 200}",
        *told,
        str(folder / "calls.mjs"),
    ]


def _environment(addresses: Mapping[str, str]) -> dict[str, str]:
    """The servers' addresses, no keys or settings of the shell, and no network beyond this machine."""
    foreign = ("OPENAI_", "OLLAMA_", "ANTHROPIC_", "LITELLM_", "LLM_", "LANGCHAIN_", "LANGSMITH_", "PYTEST_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    for name in ("PYTHONDONTWRITEBYTECODE", "ALL_PROXY", "all_proxy"):
        kept.pop(name, None)
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _CLOSED)
    local = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    return {**kept, **proxies, **local, "PYTHONPATH": str(SHARED), "MNEMOIR_CLIENTS": json.dumps(dict(addresses))}


def _counts(report: Path) -> tuple[int, int]:
    """How many calls passed and failed; none of both where the runner did not come to its report."""
    try:
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (FileNotFoundError, ElementTree.ParseError):
        return 0, 0
    failed = sum(any(child.tag in ("failure", "error") for child in case) for case in cases)
    skipped = sum(any(child.tag == "skipped" for child in case) for case in cases)
    return len(cases) - failed - skipped, failed
