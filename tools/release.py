"""`make wheel`: the wheel, the sdist and the bill of materials of this checkout, in `dist/`.

What was built there of Mnemoir before is removed, so that `dist/*.whl` names one file. Times in the files are those
of the last commit: the same commit gives the same bytes.
"""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import hatch_build
from mnemoir import __version__
from tools.sbom import bill_of_materials

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
_WITHOUT_HISTORY = 1580601600  # what hatchling takes, 2020-02-02


def build(dist: Path) -> None:
    """Raises CalledProcessError where the build fails."""
    if not hatch_build.is_current():  # before the bill of materials names what is in them
        hatch_build.build()
    dist.mkdir(exist_ok=True)
    for old in dist.glob("mnemoir-*"):
        old.unlink()
    made_at = _made_at()
    sbom = dist / f"mnemoir-{__version__}.cdx.json"
    sbom.write_text(bill_of_materials(__version__, datetime.fromtimestamp(made_at, UTC)), "utf-8")
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(made_at), "MNEMOIR_SBOM": str(sbom)}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(dist)]
    subprocess.run(command, check=True, cwd=ROOT, env=environment, capture_output=True)


def _made_at() -> int:
    """Seconds since 1970: `SOURCE_DATE_EPOCH`, or the time of the last commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    told = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return int(told.stdout) if told.returncode == 0 and told.stdout.strip() else _WITHOUT_HISTORY


def main() -> int:
    try:
        build(DIST)
    except subprocess.CalledProcessError as failed:
        sys.stderr.write((failed.stdout + failed.stderr).decode(errors="replace"))
        return failed.returncode
    for made in sorted(DIST.glob("mnemoir-*")):
        print(f"{made.relative_to(ROOT)}  {made.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
