"""What a model says in place of an answer: a refusal for those who know refusals, its words for all others."""

import json

import pytest

from tests.fidelity.conftest import House
from tests.fidelity.openai_chat_requests import PLAIN
from tests.scripted_llm import Answer

NO = "I cannot help with that."
MESSAGE = {"role": "assistant", "content": None, "refusal": NO}
WHOLE = {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}
PIECES = [
    {"choices": [{"index": 0, "delta": {"refusal": piece}, "finish_reason": None}]} for piece in ("I cannot", NO[8:])
]
END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def refuses(stream: bool) -> Answer:
    """A model that refuses."""
    if not stream:
        return Answer(body=json.dumps(WHOLE).encode())
    data = b"".join(b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in (*PIECES, END))
    return Answer(headers={"Content-Type": "text/event-stream"}, body=data + b"data: [DONE]\n\n")


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
@pytest.mark.parametrize("place", ["openai-chat", "tree"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_client_of_ollama_reads_a_refusal_as_text(house: House, path: str, place: str, stream: bool) -> None:
    house.llm.queue(refuses(stream))
    answer = house.ask(place, path, {**PLAIN, "prompt": "Hello", "stream": stream}).answer
    lines = [json.loads(line) for line in answer.content.splitlines()]
    assert "".join(line.get("response") or line.get("message", {}).get("content", "") for line in lines) == NO


@pytest.mark.parametrize("place", ["openai-chat", "tree"])
def test_a_text_completion_reads_a_refusal_as_text(house: House, place: str) -> None:
    house.llm.queue(refuses(False))
    answer = house.ask(place, "/v1/completions", {"model": "?", "prompt": "Hello"}).answer
    assert answer.json()["choices"][0]["text"] == NO
