"""Installs the checkout and what a lock names into the environment of the interpreter that runs this.

    python -m tools.install serving     what `make serve` needs
    python -m tools.install tests       what tests, checks and builds need besides
    python -m tools.install docs        what makes the site of docs/, without the checkout

With `LOCKED=no` in the environment pip chooses releases itself, within what pyproject.toml allows. Needs the standard
library only: it is what installs the rest.
"""

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = Path("requirements")
_PIP = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
_ARRIVED = re.compile(r"(?:Downloading|Using cached) (?:\S*/)?([\w.]+)-(\d[^-\s]*)-\S+ \(([\d.]+) MB\)")
_TELLING_MB = 1.0  # smaller files are not worth a line


@dataclass(frozen=True, kw_only=True)
class Part:
    """What is installed together. `size` is told beforehand."""

    what: str
    size: str
    sign: str  # a module that is there once this was installed
    unlocked: tuple[str, ...]  # arguments of pip that say the same without a lock
    with_checkout: bool = True


PARTS = {
    "serving": Part(
        what="Mnemoir and what it needs to serve",
        size="about 110 MB to fetch, 390 MB on the disk, a minute or two",
        sign="mnemoir",
        unlocked=("-r", "requirements/build.in", "-e", "."),
    ),
    "tests": Part(
        what="what tests and checks need besides",
        size="about 250 MB to fetch, 1 GB on the disk, some minutes",
        sign="pytest",
        unlocked=(
            *("-r", "requirements/build.in", "-r", "requirements/docs.in", "-r", "requirements/pages.in"),
            *("-e", ".[test]"),
        ),
    ),
    "docs": Part(
        what="what makes a site of the documentation",
        size="about 20 MB to fetch, 60 MB on the disk",
        sign="mkdocs",
        unlocked=("-r", "requirements/docs.in"),
        with_checkout=False,
    ),
}


def install(name: str, *, locked: bool) -> int:
    """0, or the status of the pip that failed."""
    part = PARTS[name]
    lock = REQUIREMENTS / f"{name}.lock"
    known = importlib.util.find_spec(part.sign) is not None
    _say(f"Installing {part.what}: {'what changed since' if known else part.size}")
    status = _fetch(*(("--require-hashes", "-r", str(lock)) if locked else part.unlocked))
    if status == 0 and not part.with_checkout:
        return 0
    if status == 0:
        return subprocess.run([*_PIP, "--quiet", "--no-deps", "--no-build-isolation", "-e", "."]).returncode
    _say("pip could not install that, and says why above. If the network failed, give the same command again.")
    if locked:
        _say(_without(lock))
    return status


def _without(lock: Path) -> str:
    here = f"{sysconfig.get_platform()}, Python {sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"If {lock} names a release that has no file for this machine ({here}), "
        "let pip choose others: the same command with LOCKED=no."
    )


def _fetch(*arguments: str) -> int:
    """Run pip with a line for each large file; its warnings and errors are shown as they come."""
    with subprocess.Popen([*_PIP, *arguments], stdout=subprocess.PIPE, text=True, errors="replace") as pip:
        assert pip.stdout
        for line in pip.stdout:
            if news := told(line):
                _say(f"  {news}")
        return pip.wait()


def told(line: str) -> str | None:
    """What a line of pip says to who waits; None for most."""
    if (arrived := _ARRIVED.search(line)) and float(arrived[3]) >= _TELLING_MB:
        return f"{arrived[1].replace('_', '-')} {arrived[2]}, {float(arrived[3]):.0f} MB"
    if line.startswith("Installing collected packages"):
        return f"putting {line.count(',') + 1} packages in their place"
    return None


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(install(sys.argv[1], locked=os.environ.get("LOCKED") != "no"))
