"""Nothing leaves the machine: every connection and name lookup of a working server is written down and looked at."""

import json
from pathlib import Path
from typing import Any

import openai
import psutil
import pytest
import requests

from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess

# runs before anything else in the server's interpreter
RECORDER = """
import json, os, sys

def record(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        asked = arguments[1] if event != "socket.getaddrinfo" else arguments[:2]
        with open(os.environ["SOCKET_RECORD"], "a") as out:
            out.write(json.dumps([event, repr(asked)]) + chr(10))

sys.addaudithook(record)
"""


def recorded_server(tmp_path: Path, **environment: str) -> tuple[ServerProcess, Path]:
    """A server that writes each outgoing connection into the file that is given back."""
    (tmp_path / "recorder").mkdir()
    (tmp_path / "recorder" / "sitecustomize.py").write_text(RECORDER)
    record = tmp_path / "connections.jsonl"
    environment |= {"PYTHONPATH": str(tmp_path / "recorder"), "SOCKET_RECORD": str(record)}
    return ServerProcess(tmp_path / "data", environment=environment), record


def work(server: ServerProcess) -> None:
    """A bit of everything the server does."""
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        messages: Any = [{"role": "user", "content": "I'm Alex and I live in Graz."}]
        client.chat.completions.create(model="mnemoir", messages=messages, extra_body={"memoryEnabled": True})
    requests.post(f"{server.url}/api/memories/search", json={"query": "where?", "user_id": "user"}, timeout=60)
    requests.get(f"{server.url}/docs", timeout=60)


def connections(record: Path) -> list[str]:
    """Addresses that were connected to or looked up."""
    return [json.loads(line)[1] for line in record.read_text().splitlines()] if record.exists() else []


@pytest.mark.slow
def test_without_a_model_only_the_ollama_address_is_ever_called(tmp_path):
    server, record = recorded_server(tmp_path)
    with server:
        work(server)
    assert [asked for asked in connections(record) if "127.0.0.1" not in asked] == []


@pytest.mark.slow
def test_with_a_model_only_its_address_is_called(tmp_path):
    with ScriptedLLM.in_thread() as llm:
        environment = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{llm.url}/v1"}
        server, record = recorded_server(tmp_path, **environment)
        with server:
            work(server)
    model = f"('127.0.0.1', {llm.url.rsplit(':', 1)[1]})"
    own = f"('127.0.0.1', {server.port})"  # read as numbers, to listen on it
    assert set(connections(record)) - {own} == {model}


def test_with_no_options_the_server_listens_on_loopback_only(tmp_path):
    with ServerProcess(tmp_path / "data", environment={"MNEMOIR_SERVER__DEBUG_PROCESS": "true"}) as server:
        listening = [c.laddr for c in psutil.Process(server.pid).net_connections() if c.status == psutil.CONN_LISTEN]
    assert [(address.ip, address.port) for address in listening] == [("127.0.0.1", server.port)]
