"""STORAGE_BACKEND=file through a real server: fifty adds at once, what lies on the disk, and links that lead out."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from tests.serving import ServerProcess


@pytest.fixture
def root(tmp_path):
    return tmp_path / "workspace"


@pytest.fixture
def server(tmp_path, root):
    environment = {"STORAGE_BACKEND": "file", "WORKSPACE_ROOT": str(root)}
    with ServerProcess(tmp_path / "data", environment=environment) as running:
        yield running


def add(server: ServerProcess, number: int) -> list[str]:
    """One add of one of five users, every second one through extraction; the ids of what was added."""
    body: dict[str, Any] = {"user_id": f"user {number % 5}", "infer": number % 2 == 0}
    body["messages"] = [{"role": "user", "content": f"I like dish{number}."}]
    answer = requests.post(f"{server.url}/api/memories?project=atlas", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    return [entry["id"] for entry in answer.json()["results"]]


@pytest.mark.slow
def test_fifty_adds_at_once_to_one_project_lose_nothing_also_over_a_kill(server, root):
    with ThreadPoolExecutor(50) as clients:
        added = list(clients.map(lambda number: add(server, number), range(50)))
    server.kill()
    server.start()
    kept = json.loads((root / "atlas" / ".etienne" / "memories.json").read_text("utf-8"))
    assert [len(ids) for ids in added] == [1] * 50
    assert sorted(record["id"] for record in kept) == sorted(memory_id for ids in added for memory_id in ids)
    for user in range(5):
        target = f"{server.url}/api/memories/user {user}?project=atlas&limit=0"
        listed = requests.get(target, timeout=60).json()["results"]
        assert {memory["id"] for memory in listed} == {r["id"] for r in kept if r["user_id"] == f"user {user}"}


LINKS = {"a": "", "b": ".etienne", "c": ".etienne/memories.json"}  # project, and the step of it that is a link


def test_a_link_that_leads_out_of_the_workspace_is_neither_read_nor_written(server, root, tmp_path):
    outside = tmp_path / "outside"
    (outside / ".etienne").mkdir(parents=True)
    secret = b'[{"id": "mem_1", "memory": "canary", "user_id": "mira"}]'
    (outside / ".etienne" / "memories.json").write_bytes(secret)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    for name, step in LINKS.items():
        (root / name / step).parent.mkdir(parents=True, exist_ok=True)
        (root / name / step).symlink_to(outside / step)
        answers = list(everything_asked(server, name, with_settings=name != "c"))
        assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(503, "storage_unavailable")}
        assert not [answer.text for answer in answers if "canary" in answer.text or str(tmp_path) in answer.text]
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before


def everything_asked(server: ServerProcess, name: str, *, with_settings: bool) -> Iterator[requests.Response]:
    """Each way to read and to write a project."""
    memories, project = f"{server.url}/api/memories", {"project": name}
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "Rows"}], "user_id": "mira", "infer": False}
    yield requests.get(f"{memories}/mira", params=project, timeout=60)
    yield requests.post(f"{memories}/search", json={"query": "x", "user_id": "mira"}, params=project, timeout=60)
    yield requests.post(memories, json=body, params=project, timeout=60)
    yield requests.delete(memories, params=project | {"user_id": "mira"}, timeout=60)
    yield requests.get(f"{server.url}/api/export", params=project, timeout=60)
    if with_settings:
        yield requests.put(f"{memories}/settings", json={"searchLimit": 8}, params=project, timeout=60)
