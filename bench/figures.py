"""The figures of a run that are kept: ratios and sizes by name, of which less is better, and their comparison.

A file of them has the commit that they are of. Ratios are to a baseline that ran beside, so that they can be compared
across machines, within the noise of a machine; sizes and times are of one machine.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

WORSE = 1.10  # a figure that grew by more is a fault
beside: Path | None = None  # a checkout of the commit before, which is measured beside this one
_kept: dict[str, float] = {}


def keep(name: str, value: float) -> float:
    """Keep a figure of this run; gives it back."""
    _kept[name] = round(value, 3)
    return value


def save(path: Path) -> None:
    """Write the figures of this run, with the commit, as JSON; those it did not take stay as they are."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    told = {"commit": commit.stdout.strip(), "figures": {**_read(path), **_kept}}
    path.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def worse_than(path: Path) -> list[str]:
    """A sentence for each figure of this run that is worse than in the file. Raises OSError and ValueError."""
    return worse(_read(path, needed=True), _kept)


def worse(before: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """A sentence for each figure that grew by more than a tenth; those that only one side has are left out."""
    return [
        f"{name}: {now[name]:g}, it was {was:g}."
        for name, was in before.items()
        if name in now and now[name] > was * WORSE
    ]


def _read(path: Path, *, needed: bool = False) -> dict[str, float]:
    if not needed and not path.exists():
        return {}
    found: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))["figures"]
    return found
