"""`make audit`: looks for known faults of the locked Python dependencies with pip-audit, which it fetches."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCK = Path("requirements") / "serving.lock"
_NOT_LOOKED_UP = (
    "The faults of {what} could not be looked up. That takes the package pip-audit and the network's database of "
    "known faults; on a machine that reaches neither, run elsewhere with this lock: pip-audit --disable-pip -r {lock}"
)


def main() -> int:
    """0: none is known; 1: some are; 2: not all could be looked up."""
    audit = [sys.executable, "-m", "uv", "tool", "run", "--quiet", "pip-audit", "--progress-spinner", "off"]
    done = subprocess.run(
        [*audit, "--format", "json", "--disable-pip", "--requirement", str(LOCK)], text=True, capture_output=True
    )
    try:
        looked_at = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        sys.stderr.write(done.stderr)
        print(_NOT_LOOKED_UP.format(what="all packages", lock=LOCK), file=sys.stderr)
        return 2
    return told(looked_at)


def told(looked_at: list[dict[str, Any]]) -> int:
    """Print what was found of each package; the status for it."""
    skipped = [one["name"] for one in looked_at if "skip_reason" in one]
    faulty = [(one, fault) for one in looked_at for fault in one.get("vulns", ())]
    for one, fault in faulty:
        mended = ", ".join(fault["fix_versions"]) or "no release yet"
        print(f"{one['name']} {one['version']}: {fault['id']}, mended in {mended}")
    if faulty:
        print("Take the mended releases with make lock, and run the tests.", file=sys.stderr)
    if skipped:
        what = f"{len(skipped)} of {len(looked_at)} packages"
        print(_NOT_LOOKED_UP.format(what=what, lock=LOCK), file=sys.stderr)
    if not faulty and not skipped:
        print(f"No faults are known of the {len(looked_at)} packages in {LOCK}.")
    return 1 if faulty else 2 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
