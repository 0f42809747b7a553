"""`make release-check`: whether `dist/` holds what may be released of this checkout, and the notes of its version.

Each fault is a line that says what to do; with one the status is 1. The notes are the version's section of
CHANGELOG.md.
"""

import email
import json
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import hatch_build
from mnemoir import __version__

ROOT = Path(__file__).parents[1]
LARGEST_WHEEL_MB = 60
IS_PUBLISHED = False  # once a registry has the package, README may name it
STATIC = "mnemoir/server/static/"
LICENSES = ("LICENSE", "src/mnemoir/providers/embedding/minilm/NOTICE")
_CHANGES = re.compile(r"^### (Added|Changed|Fixed|Removed)\b", re.MULTILINE)
_FOREIGN = re.compile(r"(^|/)(node_modules|\.venv|__pycache__|build|\.clients)/|\.(map|pyc)$|/\.static-")
_REGISTRY = re.compile(r"(?:pipx?|uv tool|uv pip) install (?:-\S+ )*['\"]?mnemoir\b|uvx (?:--from )?['\"]?mnemoir\b")


@dataclass(frozen=True)
class Release:
    """The files of one version: `root` is its checkout, `dist` holds what was built."""

    root: Path
    dist: Path
    version: str

    @property
    def wheel(self) -> Path:
        return self.dist / f"mnemoir-{self.version}-py3-none-any.whl"

    @property
    def sdist(self) -> Path:
        return self.dist / f"mnemoir-{self.version}.tar.gz"

    @cached_property
    def notes(self) -> str | None:
        """The version's section of CHANGELOG.md, with its heading."""
        text = (self.root / "CHANGELOG.md").read_text("utf-8")
        found = re.search(rf"^## {re.escape(self.version)}\b.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        return found[0].strip() if found else None


def faults(release: Release) -> list[str]:
    """What keeps `release` from being one; none where it is ready."""
    missing = [file for file in (release.wheel, release.sdist) if not file.exists()]
    if missing:
        return [f"{file.name} is not in {release.dist.name}/: run make wheel" for file in missing]
    return [fault for check in _CHECKS for fault in check(release)]


def _of_the_notes(release: Release) -> Iterator[str]:
    versions = re.findall(r"^## (\S+)", (release.root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    if versions[:1] != [release.version]:
        yield f"CHANGELOG.md begins with {(*versions, 'no version')[0]}, the package is {release.version}"
    changes = _CHANGES.findall(release.notes or "") if len(versions) == 1 else ()
    for heading in changes:
        yield f"CHANGELOG.md has {heading!r} in its first version: tell what it offers, nobody had another one"


def _of_the_wheel(release: Release) -> Iterator[str]:
    size = release.wheel.stat().st_size / 1e6
    if size > LARGEST_WHEEL_MB:
        yield f"The wheel has {size:.0f} MB, {LARGEST_WHEEL_MB} are allowed"
    with zipfile.ZipFile(release.wheel) as archive:
        names = archive.namelist()
        info = f"mnemoir-{release.version}.dist-info/"
        told = email.message_from_bytes(archive.read(f"{info}METADATA"))
        if told["Version"] != release.version:
            yield f"The wheel says version {told['Version']}, its name {release.version}: run make wheel"
        for licence in LICENSES:
            if f"{info}licenses/{licence}" not in names:
                yield f"The wheel has no {licence}: name it under license-files in pyproject.toml"
        for name in names:
            if _FOREIGN.search(name) or not name.startswith(("mnemoir/", info)):
                yield f"The wheel holds {name}, which belongs into no release"
        yield from _of_the_pages(archive)
        yield from _of_the_bill(archive, f"{info}sboms/mnemoir-{release.version}.cdx.json")


def _of_the_pages(archive: zipfile.ZipFile) -> Iterator[str]:
    names = set(archive.namelist())
    for name in ("index.html", "licenses.md"):
        if STATIC + name not in names:
            yield f"The wheel has no {name} of the web pages: run make wheel"
    told = archive.read(STATIC + hatch_build.DIGEST).decode() if STATIC + hatch_build.DIGEST in names else None
    if told != hatch_build.source_digest():
        yield "The web pages in the wheel are not of the sources in ui/: run make wheel"


def _of_the_bill(archive: zipfile.ZipFile, name: str) -> Iterator[str]:
    if name not in archive.namelist():
        yield "The wheel has no bill of materials: run make wheel"
    elif json.loads(archive.read(name))["metadata"]["component"]["name"] != "mnemoir":
        yield "The bill of materials in the wheel is not Mnemoir's: run make wheel"


def _of_the_sdist(release: Release) -> Iterator[str]:
    root = f"mnemoir-{release.version}/"
    with tarfile.open(release.sdist) as archive:
        names = {name.removeprefix(root) for name in archive.getnames()}
    needed = (
        "Makefile",
        "hatch_build.py",
        "requirements/serving.lock",
        "ui/package-lock.json",
        f"src/{STATIC}index.html",
    )
    for name in (*needed, *LICENSES):
        if name not in names:
            yield f"The sdist has no {name}"
    for name in sorted(names):
        if _FOREIGN.search(name):
            yield f"The sdist holds {name}, which belongs into no release"


def _of_the_readme(release: Release) -> Iterator[str]:
    text = (release.root / "README.md").read_text("utf-8")
    for found in [] if IS_PUBLISHED else _REGISTRY.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield f"README.md:{line} takes Mnemoir from a registry, where it is not: name make serve or the local wheel"


_CHECKS: tuple[Callable[[Release], Iterator[str]], ...] = (
    _of_the_notes,
    _of_the_wheel,
    _of_the_sdist,
    _of_the_readme,
)


def main() -> int:
    release = Release(ROOT, ROOT / "dist", __version__)
    found = faults(release)
    for fault in found:
        print(fault, file=sys.stderr)
    if found:
        return 1
    notes = release.notes or ""
    if "(unreleased)" in notes.partition("\n")[0]:
        print(f"CHANGELOG.md calls {release.version} unreleased: its date goes there on the day.", file=sys.stderr)
    print(f"{release.wheel.name} and {release.sdist.name} are fit for a release. The notes:\n", file=sys.stderr)
    print(notes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
