"""Which process runs which files of tests: by how long each file took when that was last recorded.

`tests/times.json` has the seconds of each file, first of the quick cases and then of the slow ones.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
TIMES = Path(__file__).with_name("times.json")
STAGES = ("quick", "slow")
_IMPORT_S = 0.1  # what each file takes beside its cases


def recorded_times(stage: str) -> dict[str, float]:
    """Seconds by file, of one of both stages; a file that was never recorded has none."""
    recorded = json.loads(TIMES.read_text("utf-8")) if TIMES.exists() else {}
    return {file: seconds[STAGES.index(stage)] for file, seconds in recorded.items()}


def record_times(stages: Mapping[str, Mapping[str, float]]) -> None:
    """Write what each file took in each stage, rounded to 0.1 s, a line for each file."""
    files = sorted({file for seconds in stages.values() for file in seconds})
    lines = [
        f"{json.dumps(file)}: {json.dumps([round(stages[stage].get(file, 0.0), 1) for stage in STAGES])}"
        for file in files
    ]
    TIMES.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def files_of_tests(below: Iterable[Path] = ()) -> list[str]:
    """All files of tests, or those that are one of these paths or lie below it; relative to the checkout."""
    places = list(below) or [TIMES.parent]
    files = {file for file in TIMES.parent.rglob("test_*.py") if any(file.is_relative_to(place) for place in places)}
    return sorted(str(file.relative_to(CHECKOUT)) for file in files)


def shares_of(files: Iterable[str], times: Mapping[str, float], number: int) -> list[list[str]]:
    """The files in so many shares of about equal times; one that has no time goes to the shortest share."""
    parts: list[list[str]] = [[] for _ in range(number)]
    seconds = [0.0] * number
    for file in sorted(files, key=lambda file: (file not in times, -times.get(file, 0.0), file)):
        shortest = seconds.index(min(seconds))
        parts[shortest].append(file)
        seconds[shortest] += _IMPORT_S + times.get(file, 1.0)
    return parts
