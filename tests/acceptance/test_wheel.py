"""What is shipped: a wheel, from the checkout or from an sdist, that serves the whole web UI where no Node.js is."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.serving import ServerProcess

CHECKOUT = Path(__file__).parents[2]
STATIC = "mnemoir/server/static/"
_BUILD_S = 600
# nothing of these belongs into a wheel
FOREIGN = re.compile(r"^(ui|tests|tools|bench)/|node_modules/|\.(map|tsx?)$|/\.static-|schema\.d\.ts$")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(_BUILD_S)]


def run(*command: str | Path, cwd: Path = CHECKOUT) -> None:
    """A command that must succeed; its words are shown when it does not."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=_BUILD_S)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def wheel_of(source: Path, out: Path, *how: str) -> Path:
    """The one wheel that pip makes of a checkout or an sdist."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *how, "--wheel-dir", out, source)
    (found,) = out.glob("mnemoir-*.whl")
    return found


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Of the checkout, built as pip builds it anywhere: with what the build itself asks for."""
    return wheel_of(CHECKOUT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", out)
    (found,) = out.glob("mnemoir-*.tar.gz")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment that holds the wheel, what it depends on, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    return python


@pytest.fixture(scope="module")
def served(installed, tmp_path_factory):
    """Its server, begun in an empty folder, with no program in PATH but those of the environment."""
    empty = tmp_path_factory.mktemp("empty")
    with ServerProcess(
        empty / "data", python=str(installed), environment={"PATH": str(installed.parent), "PYTHONPATH": ""}
    ) as server:
        yield server


def test_a_wheel_holds_the_pages_and_nothing_of_how_they_are_made(wheel):
    names = names_in(wheel)
    assert f"{STATIC}index.html" in names
    assert [name for name in names if name.startswith(f"{STATIC}assets/") and name.endswith(".js")]
    assert sorted(name for name in names if FOREIGN.search(name)) == []
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"mnemoir"}


def test_no_file_of_the_pages_names_a_map_of_its_source_or_another_host(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(STATIC) and name.endswith((".js", ".css", ".html")):
                text = archive.read(name).decode()
                assert "sourceMappingURL" not in text, name
                assert not re.search(r"""(?:src|href|@import|url\()\s*=?\s*["'(]?\s*(?:https?:)?//""", text), name


def test_a_wheel_tells_the_licences_of_what_is_in_its_pages(wheel):
    with zipfile.ZipFile(wheel) as archive:
        told = archive.read(f"{STATIC}licenses.md").decode()
    for package in ("react-dom", "@mantine/core", "@tanstack/react-query", "react-markdown"):
        assert package in told


def test_an_sdist_makes_the_same_wheel_where_no_node_is(sdist, wheel, tmp_path):
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    assert [name for name in names if "/node_modules/" in name] == []
    assert names_in(wheel_of(sdist, tmp_path, "--no-build-isolation")) == names_in(wheel)


def test_the_page_is_served_from_the_wheel(served):
    page = requests.get(f"{served.url}/", headers={"Accept": "text/html"}, timeout=60)
    assert page.headers["content-type"].startswith("text/html")
    asked_for = re.findall(r'(?:src|href)="\./([^"]+)"', page.text)
    assert len(asked_for) >= 2
    for name in asked_for:
        assert requests.get(f"{served.url}/{name}", timeout=60).status_code == 200, name


def test_every_file_of_the_pages_is_served_as_it_was_built(served, wheel):
    with zipfile.ZipFile(wheel) as archive:
        files = [name for name in archive.namelist() if name.startswith(STATIC) and not name.endswith("/index.html")]
        for name in files:
            answer = requests.get(f"{served.url}/{name.removeprefix(STATIC)}", timeout=60)
            assert (answer.status_code, answer.content == archive.read(name)) == (200, True), name


def test_the_documentation_and_the_api_are_served_from_the_wheel(served):
    assert "/v1/chat/completions" in requests.get(f"{served.url}/docs", timeout=60).text
    assert requests.get(f"{served.url}/health", timeout=60).json()["status"] == "ok"
    assert requests.get(f"{served.url}/", timeout=60).text == "Mnemoir is running"


def test_what_is_shipped_chats_and_remembers_at_once(served):
    said: dict[str, Any] = {
        "model": "mnemoir",
        "memoryEnabled": True,
        "messages": [{"role": "user", "content": "I row every morning."}],
    }
    chat = requests.post(f"{served.url}/v1/chat/completions", json=said | {"memoryEnabled": True}, timeout=60)
    assert chat.json()["object"] == "chat.completion"
