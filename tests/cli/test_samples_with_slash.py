"""The samples of docs/memory-api.md as clients write them too: with a final slash, and none of them in error."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_documentation import SAMPLES, WRITTEN_FOR, command
from tests.serving import ServerProcess
from tests.stages import staged

ADDRESS = re.compile(rf"{re.escape(WRITTEN_FOR)}[\w/-]*")
KNOWN_ERROR = '"code":"memory_not_found"'  # of the ids that the page makes up


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with ServerProcess(tmp_path_factory.mktemp("slashes") / "data") as running:
        yield running


def run(kind: str, source: str, folder: Path) -> str:
    (folder / "memories.jsonl").write_text("")
    line = command(kind, source, folder)
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("kind", "source"), staged(SAMPLES, quick=4))
def test_a_sample_with_a_final_slash_does_the_same(kind, source, server, tmp_path):
    slashed, count = ADDRESS.subn(lambda address: f"{address[0]}/", source)
    assert count
    told = run(kind, slashed.replace(WRITTEN_FOR, server.url), tmp_path)
    assert '"code":' not in told.replace(KNOWN_ERROR, "")


@pytest.mark.parametrize(("kind", "source"), [form for form in SAMPLES if form[0] == "sh"])
def test_no_shell_sample_is_answered_with_an_error(kind, source, server, tmp_path):
    told = run(kind, source.replace(WRITTEN_FOR, server.url), tmp_path)
    assert '"code":' not in told.replace(KNOWN_ERROR, "")


def test_every_route_and_every_language_has_a_sample():
    everything = " ".join(source for _, source in SAMPLES)
    assert {kind for kind, _ in SAMPLES} == {"sh", "python", "javascript"}
    for part in (
        "/search",
        "/mira?limit",
        "-X DELETE",
        "user_id=mira",
        "/history",
        "/export",
        "/import",
        "/settings",
    ):
        assert part in everything
