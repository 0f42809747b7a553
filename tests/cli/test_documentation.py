"""The documentation is consistent: links have a target, and samples run as printed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import requests

from tests.serving import ServerProcess, clean_environment
from tests.stages import staged

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def samples(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [
        (match[1], match[2]) for match in re.finditer(r"^```(sh|python|javascript)\n(.*?)^```", text, re.M | re.S)
    ]


SAMPLES = samples("memory-api.md")
CHATS = samples("clients/sdks.md")
TALKS = {  # pages whose samples go on with each other
    "conversations.md": ("sh", "python"),
    "strategies.md": ("sh", "python"),
    "export-and-import.md": ("sh", "python"),
    "node-memory.md": ("python",),
    "agent.md": ("python",),
    "coming-from.md": ("python",),
    "tutorial.md": ("sh",),
}
EXAMPLES = sorted((ROOT / "examples").glob("*.py")) + sorted((ROOT / "examples").glob("*.mjs"))
CLIENTS = [example for example in EXAMPLES if example.name != "agent.py"]  # that one needs no server
WRITTEN_FOR = "http://127.0.0.1:6060"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_to_a_file_and_a_heading(page):
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" not in link and (not target.exists() or (heading and heading not in headings(target))):
            broken.append(link)
    assert broken == []


def headings(page):
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with ServerProcess(tmp_path_factory.mktemp("samples") / "data") as running:
        yield running


def command(kind, source, folder):
    """How a sample is run; skipped where its language is not installed."""
    program = {"sh": "curl", "javascript": "node"}.get(kind)
    if program and not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    if kind == "sh":
        return ["bash", "-e", "-c", source]
    if kind == "python":
        return [sys.executable, "-c", source]
    script = folder / "sample.mjs"
    script.write_text(source, encoding="utf-8")
    return ["node", str(script)]


@pytest.mark.parametrize(("kind", "source"), SAMPLES, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(SAMPLES)])
def test_every_sample_of_the_memory_api_runs_as_printed(kind, source, server, tmp_path):
    (tmp_path / "memories.jsonl").write_text("")
    line = command(kind, source.replace(WRITTEN_FOR, server.url), tmp_path)
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "validation_error" not in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("kind", "source"), staged(CHATS, quick=1), ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(CHATS)]
)
def test_every_sample_of_a_chat_is_answered_as_printed(kind, source, server, tmp_path):
    line = command(kind, source.replace(WRITTEN_FOR, server.url), tmp_path)
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert '"error"' not in done.stdout


def write_foreign_archive(path):
    """An export as Claude gives it, which a page's sample brings in."""
    said = {"uuid": "m1", "sender": "human", "text": "I drink green tea.", "created_at": "2025-03-01T10:00:00Z"}
    with ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([{"uuid": "c1", "name": "Tea", "chat_messages": [said]}]))


@pytest.mark.costly("it runs programs")
@pytest.mark.parametrize("page", staged(TALKS, quick=1))
def test_the_samples_of_a_page_about_conversations_run_one_after_another(page, server, tmp_path):
    body: dict[str, Any] = {"model": "mnemoir", "messages": [{"role": "user", "content": "I drink green tea."}]}
    chat = requests.post(f"{server.url}/v1/chat/completions", json=body, headers={"X-Session-Id": "tea"}, timeout=60)
    assert chat.headers["X-Conversation-Id"] == "tea"
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = clean_environment(PATH=commands, MNEMOIR_SERVER__PORT=str(server.port))
    write_foreign_archive(tmp_path / "export.zip")
    wanted = [(kind, source) for kind, source in samples(page) if kind in TALKS[page]]
    assert {kind for kind, _ in wanted} == set(TALKS[page])
    for kind, source in wanted:
        line = command(kind, source.replace(WRITTEN_FOR, server.url), tmp_path)
        done = subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        assert '"error"' not in done.stdout


def run_example(example, url, folder):
    line = command("python" if example.suffix == ".py" else "javascript", example.read_text("utf-8"), folder)
    environment = clean_environment(MNEMOIR_URL=url)
    return subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=folder, env=environment)


@pytest.mark.costly("it runs programs")
@pytest.mark.parametrize("example", staged(EXAMPLES, quick=1), ids=lambda example: example.name)
def test_every_example_runs(example, server, tmp_path):
    done = run_example(example, server.url, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.slow
@pytest.mark.costly("it runs programs")
@pytest.mark.parametrize("example", staged(CLIENTS, quick=1), ids=lambda example: example.name)
def test_an_example_that_finds_no_server_says_so_in_a_sentence(example, tmp_path):
    done = run_example(example, "http://127.0.0.1:1", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("No server answers at http://127.0.0.1:1.")
    assert done.stderr.count("\n") == 1
