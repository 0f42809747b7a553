"""Canaries: keys and a person's words go through a real server that meets failures, and come out nowhere else."""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from tests.cli.command_process import run
from tests.scripted_llm import Answer, Asked, ScriptedLLM, failure
from tests.serving import ServerProcess

KEYS = {
    "OPENAI_API_KEY": "sk-canary-of-the-model-0123456789",
    "MNEMOIR_EMBEDDING__API_KEY": "canary-of-the-embedder-0123456789",
    "API_KEYS": "canary-of-the-server-0123456789",
    "ADMIN_API_KEY": "canary-of-the-admin-0123456789",
}
SENT = ("canary-of-a-stranger-0123456789", "canary-user", "canary-password")
WORDS = "quincemarmalade"
SAID = f"I love {WORDS} and I live in Graz."
HELD = {"Authorization": f"Bearer {KEYS['API_KEYS']}"}


def echo(asked: Asked) -> Answer:
    """What some gateways do: a refusal that repeats the whole request, its key included."""
    return failure(400, f"cannot do {asked.headers.get('Authorization')} {asked.prompt}")


def work(server: ServerProcess) -> Iterator[requests.Response]:
    """A bit of everything, most of which fails, as the model refuses it."""
    turn = [{"role": "user", "content": SAID}]
    memories = f"{server.url}/api/memories"
    for path in ("/v1/chat/completions", "/api/chat", "/api/generate"):
        for stream in (False, True):
            body = {"model": "m", "messages": turn, "prompt": SAID, "stream": stream, "memoryEnabled": True}
            yield requests.post(server.url + path, json=body, headers=HELD, timeout=60)
    for infer in (True, False):
        yield requests.post(
            memories, json={"messages": turn, "user_id": "mira", "infer": infer}, headers=HELD, timeout=30
        )
    later: dict[str, Any] = {"messages": turn, "user_id": "otto", "async_mode": True}
    yield requests.post(memories, json=later, headers=HELD, timeout=60)
    yield requests.post(f"{memories}/search", json={"query": SAID, "user_id": "mira"}, headers=HELD, timeout=60)
    yield requests.post(memories, data=SAID, headers=HELD, timeout=60)
    yield requests.post(memories, json={"messages": SAID, "user_id": "mira"}, headers=HELD, timeout=60)
    stranger = {"Authorization": f"Bearer {SENT[0]}", "X-API-Key": SENT[0]}
    yield requests.get(f"{memories}/mira", headers=stranger, timeout=60)
    yield requests.get(f"{memories}/mira", headers={"api-key": SENT[0]}, timeout=60)
    chat: dict[str, Any] = {"model": "m", "messages": turn, "memoryEnabled": True}
    azure = {"api-key": KEYS["API_KEYS"]}
    yield requests.post(f"{server.url}/v1/chat/completions", json=chat, headers=azure, timeout=60)
    yield requests.get(server.url.replace("://", f"://{SENT[1]}:{SENT[2]}@") + "/api/memories/mira", timeout=60)
    for path in ("/health", "/ready", "/metrics", "/openapi.json", "/docs", "/config", "/v1/models", "/api/tags"):
        yield requests.get(server.url + path, headers=HELD, timeout=60)
    yield requests.get(f"{memories}/settings", headers=HELD, timeout=60)
    yield requests.get(f"{server.url}/api/export", headers=HELD, timeout=60)


@pytest.mark.slow
def test_keys_come_out_nowhere_and_a_persons_words_in_no_log(tmp_path):
    answers: list[requests.Response] = []
    logs: dict[str, str] = {}
    with ScriptedLLM.in_thread() as llm:
        llm.rule(lambda asked: True, echo)
        environment = KEYS | {
            "OPENAI_BASE_URL": llm.openai_url,
            "MNEMOIR_EMBEDDING__PROVIDER": "openai",
            "MNEMOIR_EMBEDDING__BASE_URL": llm.openai_url,
            "MNEMOIR_SERVER__METRICS": "true",
        }
        for level in ("debug", "info"):  # the second start tries again what waits for a vector, and is refused
            environment["MNEMOIR_LOG__LEVEL"] = level
            with ServerProcess(tmp_path / "data", environment=environment, forked=False) as server:
                answers += work(server)
                process = " ".join(psutil.Process(server.pid).cmdline())
                server.stop()
            logs[level] = server.log.read_text()
            server.log.unlink()
    assert {asked.headers["Authorization"][7:] for asked in llm.requests} == set(list(KEYS.values())[:2])
    assert [asked for asked in llm.requests if KEYS["API_KEYS"] in f"{asked.headers} {asked.prompt}"] == []
    told = logs | {"process list": process, "files": everything_in(server.data_dir)}
    told |= {"answers": "".join(f"{answer.headers} {answer.text}" for answer in answers)}
    told |= {"metrics": next(answer.text for answer in answers if "mnemoir_requests_total" in answer.text)}
    assert {place for place, text in told.items() for key in (*KEYS.values(), *SENT) if key in text} == set()
    assert "vectors cannot be made now" in logs["info"]
    assert [place for place in ("info", "metrics", "process list") if WORDS in told[place]] == []


def saved_key_work(server: ServerProcess, url: str, key: str) -> Iterator[requests.Response]:
    """A key is saved on the page, used by a model that repeats it, changed and read back in every way there is."""
    own = {"Origin": server.url}
    wanted = {"provider": "openai-chat", "url": url, "model": "m", "api_key": key}
    chat: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "memoryEnabled": True}
    yield requests.put(f"{server.url}/api/model", json=wanted, headers=own, timeout=60)
    yield requests.post(f"{server.url}/api/model/test", json=wanted, headers=own, timeout=60)
    yield requests.post(f"{server.url}/api/model/list", json=wanted | {"model": None}, headers=own, timeout=60)
    yield requests.post(f"{server.url}/v1/chat/completions", json=chat, timeout=60)
    yield requests.post(f"{server.url}/api/status/check", timeout=60)
    for path in ("/api/model", "/api/status", "/api/export", "/api/runs", "/v1/models", "/openapi.json", "/ready"):
        yield requests.get(server.url + path, timeout=60)
    bad = wanted | {"api_key": f"{key} with a space"}
    yield requests.put(f"{server.url}/api/model", json=bad, headers=own, timeout=60)
    yield requests.put(f"{server.url}/api/model", json=wanted | {"api_key": [key]}, headers=own, timeout=60)
    yield requests.put(f"{server.url}/api/model", json=wanted, timeout=60)


@pytest.mark.costly("it runs programs")
def test_a_key_saved_on_the_page_stands_in_its_own_file_alone_and_goes_with_its_address(tmp_path):
    key = "sk-canary-of-the-page-0123456789"
    answers: list[requests.Response] = []
    with ScriptedLLM.in_thread() as llm:
        llm.rule(lambda asked: "messages" in (asked.body or {}), echo)
        environment = {"MNEMOIR_LOG__LEVEL": "debug"}
        with ServerProcess(tmp_path / "data", environment=environment, forked=False) as server:
            answers += saved_key_work(server, llm.openai_url, key)
            folder = server.data_dir
            files = [file for file in folder.rglob("*") if file.is_file() and key.encode() in file.read_bytes()]
            holders = [(file.parent.name, file.name[:4], stat.S_IMODE(file.stat().st_mode)) for file in files]
            process = " ".join(psutil.Process(server.pid).cmdline())
            moved = {"provider": "openai-chat", "url": "http://127.0.0.1:9/v1", "model": "m"}
            own = {"Origin": server.url}
            answers.append(requests.put(f"{server.url}/api/model", json=moved, headers=own, timeout=60))
            left = everything_in(folder)
        told = "".join(f"{answer.headers} {answer.text}" for answer in answers) + server.log.read_text() + process
    assert {asked.headers.get("Authorization") for asked in llm.requests} == {f"Bearer {key}"}
    assert holders == [("settings", "key-", 0o600)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 400, *([200] * 8), 400, 422, 403, 200]
    assert (key in told, key in left) == (False, False)


def everything_in(folder: Path) -> str:
    return "".join(file.read_bytes().decode("latin-1") for file in sorted(folder.rglob("*")) if file.is_file())


def test_a_password_in_a_url_is_refused_without_being_repeated(tmp_path):
    url, variables = f"http://{SENT[1]}:{SENT[2]}@127.0.0.1:9/v1", ("OPENAI_BASE_URL", "OLLAMA_HOST")
    places: dict[str, Any] = dict.fromkeys(variables, url)
    done = run("serve", "--port", "0", cwd=tmp_path, MEMORY_MANAGEMENT_URL=url, **places)
    assert done.returncode == 1
    assert [name for name in (*variables, "MEMORY_MANAGEMENT_URL") if name not in done.stderr] == []
    assert not [secret for secret in SENT if secret in done.stdout + done.stderr]


def test_everything_a_server_makes_is_its_owners_alone_whatever_the_umask(tmp_path):
    made = [tmp_path / "data", tmp_path / "workspace"]
    environment = {"STORAGE_BACKEND": "file", "WORKSPACE_ROOT": str(made[1])}
    with ExitStack() as ended:
        before = os.umask(0)
        ended.callback(os.umask, before)
        server = ended.enter_context(ServerProcess(made[0], environment=environment))
        body: dict[str, Any] = {"messages": [{"role": "user", "content": SAID}], "user_id": "mira", "infer": False}
        requests.post(f"{server.url}/api/memories", json=body, timeout=60).raise_for_status()
        requests.put(f"{server.url}/api/memories/settings", json={"searchLimit": 8}, timeout=60).raise_for_status()
        requests.put(
            f"{server.url}/api/memories/extraction-prompt", json={"prompt": "Places."}, timeout=30
        ).raise_for_status()
        found = [path for root in made if root.exists() for path in (root, *root.rglob("*"))]
        modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in found}
    names = {path.name for path in found}
    assert modes == {(True, 0o700), (False, 0o600)}
    assert {"mnemoir.db", "memories.json", "settings.json", "extraction-prompt.md"} <= names
