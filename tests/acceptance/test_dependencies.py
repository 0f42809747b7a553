"""What Mnemoir depends on: all of it locked, none of it on the network when imported, and no option of it needed."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import openai
import pytest
import requests
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.serving import ServerProcess, clean_environment

CHECKOUT = Path(__file__).parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {name: needed for name, needed in PROJECT["optional-dependencies"].items() if name != "test"}
NOT_LOCKED = {"sentence-transformers"}  # gigabytes with PyTorch, whose build each machine chooses for its hardware

IMPORT_ALL = """
import pkgutil, sys

def refuse(event, arguments):
    if event.startswith("socket."):
        raise RuntimeError(f"{event} {arguments!r}")

sys.addaudithook(refuse)
import mnemoir

names = [found.name for found in pkgutil.walk_packages(mnemoir.__path__, "mnemoir.", onerror=lambda name: None)]
imported = [name for name in names if not name.endswith("__main__") and __import__(name)]
print(len(imported))
"""
# in front of all else in a child: what it hides is not there for imports, nor for those who ask whether it is
HIDE = """
import os, sys
from importlib.machinery import PathFinder

HIDDEN = frozenset(os.environ["HIDDEN_PACKAGES"].split(","))

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else super().find_spec(name, path, target)

sys.meta_path[:] = [Finder if finder is PathFinder else finder for finder in sys.meta_path]
"""


def locked(name: str) -> set[str]:
    """The packages of a lock that stand there with a digest."""
    text = (CHECKOUT / "requirements" / f"{name}.lock").read_text("utf-8")
    return {canonicalize_name(found) for found in re.findall(r"^([\w.-]+)==[^\n]+\\\n    --hash=sha256:", text, re.M)}


def optional_packages() -> list[str]:
    """What can be imported here and is of no package that serving needs."""
    needed = {*locked("serving"), "mnemoir"}
    return [
        name
        for name, owners in packages_distributions().items()
        if not needed & {canonicalize_name(owner) for owner in owners} and name.isidentifier()
    ]


def without_options(folder: Path) -> dict[str, str]:
    """The environment of a child that finds only what serving needs."""
    (folder / "hiding").mkdir()
    (folder / "hiding" / "sitecustomize.py").write_text(HIDE)
    return {"PYTHONPATH": str(folder / "hiding"), "HIDDEN_PACKAGES": ",".join(optional_packages())}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=clean_environment(**environment), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - NOT_LOCKED))
def test_what_is_optional_is_locked_by_its_digest_too(extra):
    assert {canonicalize_name(Requirement(needed).name) for needed in EXTRAS[extra]} <= locked("tests")


@pytest.mark.slow
def test_importing_all_of_it_opens_no_socket():
    done = run("-c", IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 500


def test_the_guard_of_imports_sees_a_socket(tmp_path):
    (tmp_path / "mnemoir").mkdir()
    (tmp_path / "mnemoir" / "__init__.py").touch()
    (tmp_path / "mnemoir" / "calling.py").write_text("import socket\nsocket.socket()\n")
    done = run("-c", IMPORT_ALL, PYTHONPATH=str(tmp_path))
    assert "socket.__new__" in done.stderr


@pytest.mark.slow
def test_without_what_is_optional_all_but_the_rooms_of_mcp_and_postgres_can_be_imported(tmp_path):
    hidden = without_options(tmp_path)
    script = IMPORT_ALL.replace("if not name", "if '.mcp' not in name and '.postgres.' not in name and not name")
    done = run("-c", script, **hidden)
    assert done.returncode == 0, done.stderr
    assert "No module named 'chromadb'" in run("-c", "import chromadb", **hidden).stderr


@pytest.mark.slow
def test_the_whole_service_works_without_what_is_optional(tmp_path):
    settings = {"MNEMOIR_LLM__PROVIDER": "offline", "MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "data")}
    environment = without_options(tmp_path) | settings
    with ServerProcess(tmp_path / "data", environment=environment, forked=False) as server:
        use(server)
        doctor = run("-m", "mnemoir", "doctor", MNEMOIR_SERVER__PORT=str(server.port), **environment)
        mcp = run("-m", "mnemoir", "mcp", MNEMOIR_SERVER__PORT=str(server.port), **environment)
        ping: Any = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        over_http = requests.post(f"{server.url}/mcp", json=ping, timeout=60)
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    assert (mcp.returncode, "pip install 'mnemoir[mcp]'" in mcp.stderr) == (1, True)
    assert (over_http.status_code, "pip install 'mnemoir[mcp]'" in over_http.text) == (501, True)


def use(server: ServerProcess) -> None:
    """A bit of all that a server offers; each must succeed."""
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        messages: Any = [{"role": "user", "content": "I live in Graz."}]
        kept = {"memoryEnabled": True, "conversation_id": "tea"}
        assert client.chat.completions.create(model="mnemoir", messages=messages, extra_body=kept).choices
        streamed: Any = client.chat.completions.create(model="mnemoir", messages=messages, stream=True)
        assert [piece for piece in streamed if piece.choices]
        assert client.embeddings.create(model="mnemoir", input="Graz").data[0].embedding
    asked("POST", server, "/api/memories", {"user_id": "user", "messages": [{"role": "user", "content": "I row."}]})
    found = asked("POST", server, "/api/memories/search", {"user_id": "user", "query": "Who rows?"})
    assert found.json()["results"]
    assert asked("GET", server, "/api/conversations").json()["results"]
    assert asked("GET", server, "/api/conversations/search?q=Graz&mode=keyword").json()["results"]
    for path in (
        "/ready",
        "/api/status",
        "/api/workflows",
        "/api/runs",
        "/api/discussions",
        "/docs",
        "/openapi.json",
    ):
        asked("GET", server, path)


def asked(method: str, server: ServerProcess, path: str, body: Any = None) -> requests.Response:
    answer = requests.request(method, server.url + path, json=body, timeout=60)
    assert answer.status_code == 200, (path, answer.text)
    return answer


def test_a_known_fault_fails_the_audit_of_the_lock(tmp_path):
    found = {"dependencies": [{"name": "aiohttp", "version": "1.0", "vulns": [{"id": "A-1", "fix_versions": ["9"]}]}]}
    (tmp_path / "uv.py").write_text(f"print({json.dumps(json.dumps(found))})")
    done = run("-m", "tools.audit", PYTHONPATH=f"{tmp_path}{os.pathsep}{CHECKOUT}")
    assert (done.returncode, done.stdout) == (1, "aiohttp 1.0: A-1, mended in 9\n")
    assert "make --no-print-directory audit" in (CHECKOUT / ".ci" / "audit").read_text("utf-8")
