"""Config trees for a whole server, whose endpoints ask a scripted model's server; and a tiny service beside them."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests

from tests.scripted_llm import Asked, ThreadedLLM
from tests.serving import ServerProcess

Json = dict[str, Any]
T = TypeVar("T")


def write_tree(public: Path, llm_url: str, files: Mapping[str, object]) -> Path:
    """A Public folder whose endpoint `Main` asks `llm_url`; `files` are JSON by path below its Configs."""
    common: Mapping[str, object] = {
        "ApiTypes/Open-AI-API.json": {
            "type": "openAIChatCompletion",
            "presetType": "OpenAiCompatibleApis",
            "streamPropertyName": "stream",
            "maxNewTokensPropertyName": "max_tokens",
        },
        "Endpoints/Main.json": {
            "endpoint": llm_url,
            "apiTypeConfigFileName": "Open-AI-API",
            "modelNameToSendToAPI": "far-model",
            "maxContextTokenSize": 8192,
        },
        "Presets/OpenAiCompatibleApis/Calm.json": {"temperature": 0.2},
        "PromptTemplates/_chatonly.json": {},
    }
    for path, content in {**common, **files}.items():
        write_json(public / "Configs" / path, content)
    return public


def write_json(path: Path, content: object) -> None:
    """One file, with the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")


def user(**members: object) -> Json:
    """A user who runs the workflow `Chat`, unless the members say otherwise."""
    told: Json = {
        "customWorkflowOverride": True,
        "customWorkflow": "Chat",
        "chatPromptTemplateName": "_chatonly",
        "chatCompleteAddUserAssistant": False,
        "chatCompletionAddMissingAssistantGenerator": False,
    }
    return told | members


def asks(title: str, prompt: str = "", **members: object) -> Json:
    """A node that asks the model; its title is its system prompt too, by which a test tells requests apart."""
    said = {"title": title, "type": "Standard", "endpointName": "Main", "preset": "Calm", "systemPrompt": title}
    return said | {"prompt": prompt} | members


def answers(title: str, prompt: str = "", **members: object) -> Json:
    """The same, for the client."""
    return asks(title, prompt, returnToUser=True, **members)


def asked_by(title: str) -> Callable[[Asked], bool]:
    """Whether a request to the model comes from the node of that title."""

    def is_it(asked: Asked) -> bool:
        messages = asked.body.get("messages") if isinstance(asked.body, dict) else None
        return bool(messages and messages[0] == {"role": "system", "content": title})

    return is_it


def asked_titles(llm: ThreadedLLM) -> list[str]:
    """The titles of the nodes that asked the model, in order."""
    return [asked.body["messages"][0]["content"] for asked in llm.requests if "messages" in (asked.body or {})]


def eventually(holds: Callable[[], T], within_s: float = 120) -> T:
    """What `holds` gives as soon as it is something; fails when that does not come to pass."""
    deadline = time.monotonic() + within_s
    while not (found := holds()):
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)  # it happens in another process or thread, which tells nobody
    return found


def run_of(server: ServerProcess, run_id: str) -> Json:
    """The trace of a run, once nothing of it is under way any more."""

    def ended() -> Json | None:
        run: Json = requests.get(f"{server.url}/api/runs/{run_id}", timeout=60).json()
        return run if run["status"] != "running" else None

    run = eventually(ended)
    assert run is not None
    return run


def settle(server: ServerProcess) -> None:
    """Wait until no run is under way: what one test leaves behind must not ask the model in the next."""
    url = f"{server.url}/api/runs?status=running"
    eventually(lambda: not requests.get(url, timeout=60).json()["results"])


def newest_run(server: ServerProcess) -> Json:
    """The trace of the run begun last, when it is over."""
    (run,) = requests.get(f"{server.url}/api/runs?limit=1", timeout=60).json()["results"]
    return run_of(server, run["id"])


def nodes_of(run: Json) -> Json:
    """All nodes of a run by their titles, those of inner workflows too."""
    found: Json = {}
    waiting = list(run["workflows"])
    while waiting:
        for node in waiting.pop()["nodes"]:
            found[node["title"]] = node
            waiting += node["children"]
    return found


class JsonService:
    """A small HTTP service in a thread: JSON by path, whatever the method; 404 for any other path."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self.asked: list[tuple[str, str]] = []  # method, and path with query
        service = self

        class Answering(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                service.asked.append((self.command, self.path))
                path = urlsplit(self.path).path
                body = json.dumps(answers.get(path)).encode()
                self.send_response(200 if path in answers else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                """Nothing: a test reads `asked`."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self.port: int = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    @contextlib.contextmanager
    def running(self) -> "Iterator[JsonService]":
        """The service while it answers."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join(10)
            self._server.server_close()
