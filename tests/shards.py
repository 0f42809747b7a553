"""Runs the tests in shards: several processes of pytest at once, each with its own share of the files.

    python -m tests.shards quick|slow [--with-ui] [--record] [arguments of pytest]

A shard collects its own files only. It prints its progress at once, all else when it has ended. With `--with-ui` the
tests in `ui/` run beside them; with `--record` the times of the files are written to `tests/times.json`. Ctrl-C ends
all. The status is 0 when all succeeded, else pytest's own.
"""

import fcntl
import json
import os
import re
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.chromium import is_provided
from tests.shares import CHECKOUT, STAGES, TIMES, files_of_tests, record_times, recorded_times, shares_of

_SHARDS = 2 + (os.cpu_count() or 1)  # more than processors: now and then a test waits
_MARKERS = {"quick": "not slow", "slow": "slow"}
# one worker: beside the shards more of them would load everything once more each, and only take turns
_UI = (sys.executable, "hatch_build.py", "run", "--silent", "test", "--", "--maxWorkers=1")
_PYTEST = (sys.executable, "-m", "pytest")
_PROGRESS = re.compile(rb"[.FEsxXTB]+( +\[ *\d+%\])?")
_PAGES = "tests/browser/"
_FAILED, _NO_TESTS = 1, 5  # statuses of pytest


@dataclass(kw_only=True)
class Run:
    """One process beside others. A shard writes its counts and times to `result`."""

    name: str
    process: subprocess.Popen[bytes]
    result: Path
    held_back: list[bytes] = field(default_factory=list)
    begun: bytes = b""  # a line that has not ended

    def read(self) -> bool:
        """Print progress at once and keep the rest; False once it has ended, when all that was kept is printed."""
        assert self.process.stdout is not None
        said = os.read(self.process.stdout.fileno(), 65_536)
        *lines, self.begun = (self.begun + said).split(b"\n")
        for line in lines:
            if _PROGRESS.fullmatch(line):
                _print(f"{self.name}  ".encode() + line + b"\n")
            else:
                self.held_back.append(line + b"\n")
        if said:
            return True
        self.process.wait()
        _print(f"\nOutput of {self.name}:\n".encode() + b"".join(self.held_back) + self.begun)
        return False

    def told(self, what: str) -> dict[str, float]:
        """Its `counts` by outcome, or the `seconds` of its files; nothing of a shard that was ended."""
        if not self.result.exists():
            return {}
        found: dict[str, float] = json.loads(self.result.read_text("utf-8"))[what]
        return found


def main(stage: str, *arguments: str) -> int:
    """Run the tests of a stage; the exit status."""
    own = {flag for flag in ("--with-ui", "--record") if flag in arguments}
    given = [argument for argument in arguments if argument not in own]
    files, left_out = without_browser(files_of_tests(_places(given)))
    options = [f"-m{_MARKERS[stage]}", *_seed(given), *given]
    number = min(_SHARDS, len(files))
    if number == 1 and not own and not left_out:
        return subprocess.call([*_PYTEST, *options], cwd=CHECKOUT)
    for interrupting in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interrupting, signal.default_int_handler)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="shards-") as folder:
        runs = [_started("ui", _UI, Path(folder))] if "--with-ui" in own else []
        for at, share in enumerate(shares_of(files, recorded_times(stage), number), 1):
            runs.append(_shard(f"shard-{at}", share, options, Path(folder)))
        _follow(runs)
        if "--record" in own and all(run.process.returncode in (0, _FAILED) for run in runs):
            seconds = {file: took for run in runs for file, took in run.told("seconds").items()}
            record_times({each: seconds if each == stage else recorded_times(each) for each in STAGES})
        status = _summed_up(stage, runs, time.monotonic() - began)
    if left_out:
        print(f"Left out, for there is no browser: {', '.join(left_out)}")
    return status


def without_browser(files: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The files that can be tested, and those for which there is no browser, even after an attempt to install one."""
    pages = [file for file in files if file.startswith(_PAGES)]
    if not pages or is_provided():
        return files, []
    return [file for file in files if file not in pages], pages


def _places(arguments: Sequence[str]) -> list[Path]:
    """The files and folders that arguments of pytest name."""
    named = [CHECKOUT / argument.partition("::")[0] for argument in arguments]
    return [path for path in named if path.is_relative_to(TIMES.parent) and path.exists()]


def _seed(arguments: Sequence[str]) -> list[str]:
    """One seed for all shards, with which their order comes again."""
    if any("randomly" in argument for argument in arguments):
        return []
    seed = secrets.randbelow(2**32)
    print(f"This order comes again with ARGS=--randomly-seed={seed}", flush=True)
    return [f"--randomly-seed={seed}"]


def _shard(name: str, share: Sequence[str], options: Sequence[str], folder: Path) -> Run:
    files = folder / f"{name}.files"
    files.write_text("\n".join(str(CHECKOUT / file) for file in share), "utf-8")
    told = (f"--share={files}", f"--shard-result={folder / name}", f"-ocache_dir=.pytest_cache/{name}")
    return _started(name, (*_PYTEST, *told, *options), folder)


def _started(name: str, command: Sequence[str], folder: Path) -> Run:
    """A process in a group of its own, which Ctrl-C does not reach.

    It shares a lock until it ends; a shard that has to repeat a test alone waits until no other has the lock.
    """
    with (folder / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        process = subprocess.Popen(
            [*command, f"--run-lock={lock.fileno()}"] if command[: len(_PYTEST)] == _PYTEST else command,
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
            pass_fds=[lock.fileno()],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},  # what conftest.py imports before it can say so
        )
    return Run(name=name, process=process, result=folder / name)


def _follow(runs: Sequence[Run]) -> None:
    """Until all have ended. Ctrl-C interrupts each of them, which then tidies up; a second one kills them."""
    signals = [signal.SIGINT, signal.SIGKILL]
    with selectors.DefaultSelector() as reading:
        for run in runs:
            assert run.process.stdout is not None
            reading.register(run.process.stdout, selectors.EVENT_READ, run)
        while reading.get_map():
            try:
                for key, _ in reading.select():
                    if not key.data.read():
                        reading.unregister(key.fileobj)
            except KeyboardInterrupt:
                for key in reading.get_map().values():
                    os.killpg(key.data.process.pid, signals[0])
                del signals[:-1]


def _summed_up(stage: str, runs: Sequence[Run], took_s: float) -> int:
    """Print one line for each process and one for all of them; the exit status."""
    statuses = [run.process.returncode for run in runs]
    counts: Counter[str] = Counter()
    for run, status in zip(runs, statuses, strict=True):
        counts.update(run.told("counts"))
        print(f"{run.name}: {_in_words(run.told('counts')) or 'ended'}, status {status}")
    failures = [status for status in statuses if status not in (0, _NO_TESTS)]
    status = failures[0] if failures else min(statuses)  # a shard may have no tests, but not all of them
    print(f"The {stage} tests {'failed' if status else 'passed'}: {_in_words(counts)} in {took_s:.0f} s")
    return status


def _in_words(counts: Mapping[str, float]) -> str:
    return ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items()))


def _print(said: bytes) -> None:
    sys.stdout.buffer.write(said)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
