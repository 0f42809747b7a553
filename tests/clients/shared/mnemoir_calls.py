"""What the calls of every Python client share. It runs in the clients' environments: only pytest is there.

`servers` are the addresses of Mnemoir; `far` is the scripted model behind all of them.
"""

import json
import os
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

Json = dict[str, Any]

MODEL = "far-model"
USER = {"role": "user", "content": "How is the weather in Graz?"}
PARAMETERS: Json = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER: Json = {"name": "weather", "description": "The weather of a city.", "parameters": PARAMETERS}
PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)


class Far:
    """The scripted model: what it will say, and what it was asked."""

    def __init__(self, url: str):
        self._url = url

    def says(self, text: str = "", **members: Any) -> None:
        """Queue an answer: its text, or the members that the script knows (`tool_calls`, `thinking`, `reason`)."""
        self._post("/chat", {"text": text, **members})

    def says_message(
        self, message: Json, *, finish: str = "stop", choice: Json | None = None, **members: Any
    ) -> None:
        """Queue a whole answer of OpenAI chat with this message, and more members of the choice and of the answer."""
        self.says_whole([{"message": message, "finish_reason": finish, **(choice or {})}], **members)

    def says_whole(self, choices: list[Json], **members: Any) -> None:
        """Queue a whole answer of OpenAI chat with these choices."""
        self._post("/chat", {"json": completion(choices) | members})

    def says_json(self, value: object, status: int = 200, **headers: str) -> None:
        """Queue an answer with this body."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        self._post("/chat", {"json": value, "status": status, "headers": named})

    def says_choices(self, *choices: Json, **members: Any) -> None:
        """Queue a streamed answer of OpenAI chat: one event for each choice, and more members in each event."""
        self._post("/chat", {"events": [chunk(choice) | members for choice in choices]})

    def embeds(self, vectors: list[list[float]]) -> None:
        """Queue an answer of the embedding routes."""
        self._post("/embeddings", {"vectors": vectors})

    def fails(self, status: int, message: str = "said the far side", code: str | None = None, **headers: str) -> None:
        """Queue an error of OpenAI's shape."""
        self.says_json({"error": {"message": message, "type": "far", "code": code, "param": None}}, status, **headers)

    @property
    def asked(self) -> list[Json]:
        """The requests with a body: `path`, `body` and `headers`."""
        with urllib.request.urlopen(self._url) as answer:
            return list(json.load(answer))

    @property
    def body(self) -> Json:
        """The body of the only request."""
        (asked,) = self.asked
        return dict(asked["body"])

    @property
    def path(self) -> str:
        """The path of the only request."""
        (asked,) = self.asked
        return str(asked["path"])

    def clear(self) -> None:
        """Forget what is queued and what was asked."""
        self._send("DELETE", "/", b"")

    def _post(self, path: str, answer: Json) -> None:
        self._send("POST", path, json.dumps([answer]).encode())

    def _send(self, method: str, path: str, body: bytes) -> None:
        urllib.request.urlopen(urllib.request.Request(self._url + path, data=body, method=method)).close()


def completion(choices: list[Json]) -> Json:
    """A whole answer of OpenAI chat."""
    numbered = [{"index": at, **choice} for at, choice in enumerate(choices)]
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    head = {"id": "chatcmpl-far", "object": "chat.completion", "created": 1_767_225_600, "model": MODEL}
    return {**head, "choices": numbered, "usage": usage}


def chunk(choice: Json) -> Json:
    """One event of a streamed answer of OpenAI chat."""
    head = {"id": "chatcmpl-far", "object": "chat.completion.chunk", "created": 1_767_225_600, "model": MODEL}
    return {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": None, **choice}]}


def call(name: str, arguments: str, call_id: str = "call_1") -> Json:
    """A tool call as OpenAI writes it; `arguments` is JSON text."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.fixture(scope="session")
def servers() -> Mapping[str, str]:
    """The address of each server by what is behind it: `openai`, `ollama`, `responses`, `agents`, `tree`."""
    return dict(json.loads(os.environ["MNEMOIR_CLIENTS"]))


@pytest.fixture
def far(servers: Mapping[str, str]) -> Iterator[Far]:
    """The scripted model, with nothing queued and nothing asked."""
    model = Far(servers["far"])
    model.clear()
    yield model
    model.clear()
