"""The main job: an app chats, Mnemoir remembers, and recalls after a kill -9, with the real client packages."""

import subprocess
from typing import Any

import ollama
import openai
import pytest
from openai.types.chat import ChatCompletion

from tests.narrowing import present
from tests.serving import ServerProcess
from tests.stages import staged

INTRODUCTION = "Hi, I'm Alex. I'm a vegetarian and allergic to nuts."
QUESTION = "what should I keep in mind when cooking for me?"


def openai_chat(server: ServerProcess, text: str, *, stream: bool, by_header: bool) -> str:
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)
    switch: dict[str, Any] = (
        {"extra_headers": {"X-Memory": "on"}} if by_header else {"extra_body": {"memoryEnabled": True}}
    )
    messages: Any = [{"role": "user", "content": text}]
    with client:
        if not stream:
            answer: ChatCompletion = client.chat.completions.create(model="mnemoir", messages=messages, **switch)
            return present(answer.choices[0].message.content)
        pieces: Any = client.chat.completions.create(model="mnemoir", messages=messages, stream=True, **switch)
        return "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)


def ollama_chat(server: ServerProcess, text: str, *, stream: bool) -> str:
    messages = [{"role": "user", "content": text}]
    with ollama.Client(host=server.url, headers={"X-Memory": "on"}) as client:
        if not stream:
            found: str = client.chat(model="mnemoir", messages=messages).message.content
            return found
        pieces = client.chat(model="mnemoir", messages=messages, stream=True)
        return "".join(piece.message.content for piece in pieces)


def ollama_generate(server: ServerProcess, text: str, *, stream: bool) -> str:
    with ollama.Client(host=server.url, headers={"X-Memory": "on"}) as client:
        if not stream:
            found: str = client.generate(model="mnemoir", prompt=text).response
            return found
        return "".join(piece.response for piece in client.generate(model="mnemoir", prompt=text, stream=True))


CLIENTS = {
    "openai whole, memory by body": lambda s, t: openai_chat(s, t, stream=False, by_header=False),
    "openai streamed, memory by header": lambda s, t: openai_chat(s, t, stream=True, by_header=True),
    "ollama chat whole": lambda s, t: ollama_chat(s, t, stream=False),
    "ollama chat streamed": lambda s, t: ollama_chat(s, t, stream=True),
    "ollama generate streamed": lambda s, t: ollama_generate(s, t, stream=True),
}


@pytest.mark.costly("it runs programs")
@pytest.mark.parametrize("name", staged(CLIENTS, quick=2))
def test_what_was_said_is_recalled_in_a_new_chat_after_kill_9(name, tmp_path):
    chat = CLIENTS[name]
    with ServerProcess(tmp_path / "data") as server:
        chat(server, INTRODUCTION)
        server.kill()
        server.start()
        answer = chat(server, QUESTION).lower()
    assert "vegetarian" in answer
    assert "nuts" in answer


# --- one server


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with ServerProcess(tmp_path_factory.mktemp("served") / "data") as server:
        yield server


def test_without_the_switch_nothing_is_remembered(running):
    client = openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0)
    with client:
        client.chat.completions.create(model="mnemoir", messages=[{"role": "user", "content": INTRODUCTION}])
    assert "vegetarian" not in openai_chat(running, QUESTION, stream=False, by_header=True).lower()


def test_the_offline_model_says_that_no_model_is_connected_and_how_to_connect_one(running):
    answer = openai_chat(running, "Hello!", stream=False, by_header=True)
    assert "no language model" in answer.lower()
    assert "OPENAI_API_KEY" in answer


def test_the_first_lines_printed_tell_url_data_model_embedder_and_one_curl_line(running):
    printed = running.log.read_text()
    for told in (running.url, str(running.data_dir), "offline", "all-MiniLM-L6-v2", f"curl {running.url}"):
        assert told in printed


def test_the_curl_line_printed_at_the_start_works_as_it_stands(running):
    lines = [line.strip() for line in running.log.read_text().splitlines()]
    command = next(line[line.index("curl ") :] for line in lines if "curl " in line)
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=30, check=True)
    assert "chat.completion" in answer.stdout
