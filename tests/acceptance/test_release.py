"""What a release is made of: locks that hold anywhere, a bill of materials, and a check that finds what is wrong."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mnemoir import __version__
from tools import audit, install, release, release_check
from tools.sbom import bill_of_materials

CHECKOUT = Path(__file__).parents[2]
LOCKS = sorted((CHECKOUT / "requirements").glob("*.lock"))
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
NEEDED = {
    "serving": PROJECT["dependencies"],
    "tests": [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]],
}


def pinned(lock: Path) -> dict[str, list[str]]:
    """The locked versions by name: more than one where Pythons differ."""
    versions: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", lock.read_text("utf-8"), re.MULTILINE):
        versions.setdefault(canonicalize_name(name), []).append(version)
    return versions


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_pins_everything_by_its_digest_and_names_no_registry(lock):
    text = lock.read_text("utf-8")
    assert "://" not in text
    entries = re.findall(r"^[\w.-]+==[^\n]+\\\n    --hash=sha256:", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^\S", text, re.MULTILINE))


@pytest.mark.parametrize("name", NEEDED)
def test_a_lock_has_a_fitting_release_of_each_dependency(name):
    locked = pinned(CHECKOUT / "requirements" / f"{name}.lock")
    for needed in map(Requirement, NEEDED[name]):
        versions = locked.get(canonicalize_name(needed.name), [])
        assert versions, f"{needed} is not locked: run make lock"
        assert [version for version in versions if version not in needed.specifier] == [], f"{needed}: run make lock"


def test_tests_and_serving_are_locked_to_the_same_releases():
    serving, tests = (pinned(CHECKOUT / "requirements" / f"{name}.lock") for name in ("serving", "tests"))
    assert {name: tests.get(name) for name in serving} == serving


def test_who_waits_is_told_of_large_files_only():
    assert (
        install.told("  Downloading numpy-2.4.6-cp311-manylinux_2_28_x86_64.whl (16.9 MB)\n") == "numpy 2.4.6, 17 MB"
    )
    assert install.told("  Using cached apsw-3.54.1.0-cp311-x.whl.metadata (4.0 kB)\n") is None
    assert install.told("Installing collected packages: a, b, c\n") == "putting 3 packages in their place"


@pytest.mark.slow
@pytest.mark.costly("it runs programs")
def test_a_lock_that_does_not_fit_ends_with_the_next_step(tmp_path):
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "serving.lock").write_text("nowhere==1.0 --hash=sha256:" + "0" * 64)
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT), "PIP_NO_INDEX": "1"}
    command = [sys.executable, "-m", "tools.install", "serving"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "the same command with LOCKED=no" in done.stderr


def test_a_bill_of_materials_is_valid_and_names_what_is_inside_and_beside():
    text = bill_of_materials("9.9", datetime(2026, 1, 1, tzinfo=UTC))
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    names = {part["name"] for part in json.loads(text)["components"]}
    assert {"onnxruntime", "react-dom", "all-MiniLM-L6-v2"} <= names
    assert "hatchling" not in names


def test_an_audit_that_could_not_look_is_no_all_clear(capsys):
    fault = {"id": "PYSEC-1", "fix_versions": ["2.0"]}
    assert audit.told([{"name": "a", "version": "1.0", "vulns": []}]) == 0
    assert audit.told([{"name": "a", "version": "1.0", "vulns": [fault]}]) == 1
    assert audit.told([{"name": "a", "skip_reason": "not found"}]) == 2
    assert "1 of 1 packages could not be looked up" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("pip install 'mnemoir[mcp]'", True),
        ("pipx install --force mnemoir", True),
        ("uvx mnemoir serve", True),
        ("pipx install dist/*.whl && mnemoir serve", False),
    ],
)
def test_a_readme_that_takes_an_unpublished_package_from_a_registry_is_refused(line, is_refused, tmp_path):
    (tmp_path / "README.md").write_text(f"# Mnemoir\n\n{line}\n")
    found = list(release_check._of_the_readme(release_check.Release(tmp_path, tmp_path, __version__)))
    assert bool(found) is is_refused


@pytest.mark.parametrize(
    ("changelog", "told"),
    [
        ("## 9.9 (unreleased)\n\n### Memory\n\n- Facts.\n", []),
        ("## 9.8\n\n- Facts.\n", ["CHANGELOG.md begins with 9.8, the package is 9.9"]),
        ("# Changelog\n", ["CHANGELOG.md begins with no version, the package is 9.9"]),
        (
            "## 9.9\n\n### Fixed\n\n- Facts.\n",
            ["CHANGELOG.md has 'Fixed' in its first version: tell what it offers, nobody had another one"],
        ),
        ("## 9.9\n\n### Fixed\n\n- Facts.\n\n## 9.8\n", []),
    ],
)
def test_a_first_version_tells_what_it_offers_and_later_ones_what_changed(changelog, told, tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    assert list(release_check._of_the_notes(release_check.Release(tmp_path, tmp_path, "9.9"))) == told


def test_the_changelog_of_this_checkout_is_one_for_a_release():
    here = release_check.Release(CHECKOUT, CHECKOUT / "dist", __version__)
    assert list(release_check._of_the_notes(here)) == []
    assert len((CHECKOUT / "CHANGELOG.md").read_text("utf-8").splitlines()) <= 150


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> release_check.Release:
    dist = tmp_path_factory.mktemp("dist")
    release.build(dist)
    return release_check.Release(CHECKOUT, dist, __version__)


@pytest.mark.slow
def test_what_was_built_of_this_checkout_is_fit_for_a_release(built):
    assert release_check.faults(built) == []
    assert built.notes.startswith(f"## {__version__}")


@pytest.mark.slow
def test_the_same_sources_make_the_same_bytes(built, tmp_path):
    release.build(tmp_path / "again")
    again = dataclasses.replace(built, dist=tmp_path / "again")
    assert again.wheel.read_bytes() == built.wheel.read_bytes()
    assert again.sdist.read_bytes() == built.sdist.read_bytes()


@pytest.mark.slow
def test_pages_of_other_sources_and_another_version_are_found(built, tmp_path):
    stale = dataclasses.replace(built, dist=tmp_path)
    shutil.copy(built.sdist, stale.sdist)
    with zipfile.ZipFile(built.wheel) as before, zipfile.ZipFile(stale.wheel, "w") as after:
        for name in before.namelist():
            body = before.read(name)
            if name.endswith("source.sha256"):
                body = b"0" * 64
            elif name.endswith("METADATA"):
                body = body.replace(f"Version: {__version__}".encode(), b"Version: 0.0.9")
            after.writestr(name, body)
    assert [fault.partition(":")[0] for fault in release_check.faults(stale)] == [
        f"The wheel says version 0.0.9, its name {__version__}",
        "The web pages in the wheel are not of the sources in ui/",
    ]


@pytest.mark.slow
def test_a_wheel_runs_without_being_installed(built, tmp_path):
    command = [sys.executable, "-m", "uv", "tool", "run", "--quiet", "--from", str(built.wheel), "mnemoir", "doctor"]
    environment = os.environ | {"UV_TOOL_DIR": str(tmp_path / "tools")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "offline" in done.stdout, done.stderr
