"""`make lock`: resolves all Python dependencies anew into `requirements/*.lock`, each file with its hashes.

A lock holds for every platform and Python that Mnemoir runs on, and names no registry: each machine uses its own.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

REQUIREMENTS = Path(__file__).parents[1] / "requirements"
LOWEST_PYTHON = "3.11"
# in this order: `tests` takes the versions of the others, for one environment holds them all
INPUTS = {
    "serving": ("pyproject.toml", "requirements/build.in"),
    "pages": ("requirements/pages.in",),
    "docs": ("requirements/docs.in",),
    "tests": (
        "pyproject.toml",
        "--extra",
        "test",
        *(f"requirements/{name}.in" for name in ("build", "docs", "pages")),
    ),
}


def main() -> int:
    for name in INPUTS:
        subprocess.run(list(_command(name)), check=True, cwd=REQUIREMENTS.parent)
        print(f"requirements/{name}.lock", flush=True)
    return 0


def _command(name: str) -> Iterator[str]:
    yield from (sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--upgrade", "--no-header", "--no-annotate")
    yield from ("--universal", "--python-version", LOWEST_PYTHON, "--generate-hashes", "--no-emit-index-url")
    yield from INPUTS[name]
    if name == "tests":
        for other in ("serving", "pages", "docs"):
            yield from ("--constraint", f"requirements/{other}.lock")
    yield from ("--output-file", f"requirements/{name}.lock")


if __name__ == "__main__":
    sys.exit(main())
