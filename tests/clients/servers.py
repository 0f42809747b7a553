"""The servers that the clients call: one for each kind of model server behind, and one with a config tree.

Every server is a real `mnemoir serve`. One scripted model is behind all of them; clients in other processes write
its script and read what it was asked over HTTP.
"""

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.scripted_dialects import to_json
from tests.scripted_llm import Answer, ScriptedLLM, ThreadedLLM
from tests.serving import ServerProcess, clean_environment

_MODEL = "far-model"
_USER = "single-model"


@contextlib.contextmanager
def running(folder: Path, *, directly: bool = False) -> Iterator[Mapping[str, str]]:
    """Addresses by name while everything runs.

    `openai`, `ollama` and `responses` say what is behind the server, `tree` serves what `mnemoir init` writes,
    `agents` asks for a key and has no model, and `far` is the model's script. With `directly` every server's
    address is the model's own.
    """
    with contextlib.ExitStack() as stack:
        llm = stack.enter_context(ScriptedLLM.in_thread())
        addresses = {"far": stack.enter_context(_script(llm))}
        if directly:
            yield {**addresses, **dict.fromkeys(_SETTINGS, llm.url)}
            return
        no_vocabulary = folder / "no-vocabulary"  # otherwise a test would depend on files of this machine
        no_vocabulary.mkdir()
        for name, settings in _SETTINGS.items():
            given = {key: value.format(url=llm.url, model=_MODEL) for key, value in settings.items()}
            arguments = _tree(folder, llm.openai_url) if name == "tree" else []
            environment = {**given, "TIKTOKEN_CACHE_DIR": str(no_vocabulary)}
            server = ServerProcess(folder / name, arguments=arguments, environment=environment)
            addresses[name] = stack.enter_context(server).url
        yield addresses


_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "openai": {
        "MNEMOIR_LLM__PROVIDER": "openai-chat",
        "MNEMOIR_LLM__BASE_URL": "{url}/v1",
        "MNEMOIR_LLM__MODEL": "{model}",
        "MNEMOIR_EMBEDDING__PROVIDER": "openai",
        "MNEMOIR_EMBEDDING__MODEL": "text-embedding-3-small",
    },
    "ollama": {
        "MNEMOIR_LLM__PROVIDER": "ollama",
        "MNEMOIR_LLM__OLLAMA_URL": "{url}",
        "MNEMOIR_LLM__MODEL": "{model}",
        "MNEMOIR_EMBEDDING__PROVIDER": "ollama",
        "MNEMOIR_EMBEDDING__MODEL": "far-embedder",
    },
    "responses": {
        "MNEMOIR_LLM__PROVIDER": "openai-responses",
        "MNEMOIR_LLM__BASE_URL": "{url}/v1",
        "MNEMOIR_LLM__MODEL": "{model}",
    },
    "agents": {"API_KEYS": "a-key-of-sixteen-characters"},
    "tree": {},
}


def _tree(folder: Path, url: str) -> list[str]:
    """Write the examples of `mnemoir init`; the arguments that serve the first of them."""
    written = ["init", "examples", "--endpoint-url", url.removesuffix("/v1"), "--model", _MODEL]
    command = [sys.executable, "-m", "mnemoir", *written, "--api-type", "Open-AI-API"]
    subprocess.run(command, cwd=folder, env=clean_environment(), check=True, stdout=subprocess.DEVNULL)
    return ["--config-dir", str(folder / "examples"), "--user", _USER]


@contextlib.contextmanager
def _script(llm: ThreadedLLM) -> Iterator[str]:
    """The address at which a client's calls write the model's script.

    POST queues answers, each the members of Answer, or `json` as the whole body; GET lists what the model was asked;
    DELETE forgets both.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Script", (_Script,), {"llm": llm}))
    thread = threading.Thread(target=server.serve_forever, name="script", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class _Script(BaseHTTPRequestHandler):
    """One request of a client's calls to the model's script."""

    llm: ThreadedLLM
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = [{"path": one.path, "body": one.body, "headers": dict(one.headers)} for one in self.llm.requests]
        self._say([one for one in asked if one["body"] is not None])

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        queue = self.llm.queue_embedding if self.path == "/embeddings" else self.llm.queue
        queue(*(_answer(**members) for members in given))
        self._say(None)

    def do_DELETE(self) -> None:
        self.llm.clear()
        self._say(None)

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _say(self, value: object) -> None:
        body = to_json(value)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _answer(*, events: list[Any] | None = None, lines: list[Any] | None = None, **members: Any) -> Answer:
    """An answer as a client's calls describe it: `json` whole, `events` of OpenAI, `lines` of Ollama, or Answer's."""
    headers = members.pop("headers", {})
    if "json" in members:
        body, media_type = to_json(members.pop("json")), "application/json"
    elif events is not None:
        framed = [b"data: " + to_json(event) + b"\n\n" for event in events]
        body, media_type = b"".join([*framed, b"data: [DONE]\n\n"]), "text/event-stream"
    elif lines is not None:
        body, media_type = b"".join(to_json(line) + b"\n" for line in lines), "application/x-ndjson"
    else:
        return Answer(headers=headers or None, **members)
    return Answer(body=body, headers={"Content-Type": media_type, **headers}, **members)
