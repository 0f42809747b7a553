"""Chats that remember through another server: what goes to it over HTTP, and that no chat waits or fails for it."""

from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.narrowing import present
from tests.scripted_llm import ScriptedLLM, ThreadedLLM, closed_port_url
from tests.scripted_memory import ScriptedMemory
from tests.serving import ServerProcess

KEY = "a-key-of-sixteen-or-more"
THEIRS = "key-of-the-memory-server"
CHAT, SEARCH, ADD = "/v1/chat/completions", "/api/memories/search", "/api/memories"
QUESTION = "What shall I cook tonight?"
OFF_VALUES = [False, "false", "true", "True", 1, "yes", "on", None, [], {}]


@pytest.fixture
def llm():
    with ScriptedLLM.in_thread() as scripted:
        yield scripted


def server_with(llm: ThreadedLLM, tmp_path, memory_url: str, **more: str) -> ServerProcess:
    """A server whose model is the scripted one and whose memory is elsewhere."""
    environment = {
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": llm.openai_url,
        "MEMORY_MANAGEMENT_URL": memory_url,
    }
    return ServerProcess(tmp_path / "data", environment=environment | more)


def chat(server: ServerProcess, text: str = QUESTION, *, query: str = "", headers=None, **more) -> requests.Response:
    body = {"model": "mnemoir", "messages": [{"role": "user", "content": text}], "user": "mira"} | more
    return requests.post(f"{server.url}{CHAT}{query}", json=body, headers=headers, timeout=60)


def test_a_chat_searches_before_and_adds_behind_the_answer_as_the_contract_says(llm, tmp_path):
    llm.reply("Lentils.")
    with (
        ScriptedMemory(hits=["Is vegetarian"], statuses=[503]) as memory,
        server_with(llm, tmp_path, f"{memory.url}/", API_KEYS=KEY, MNEMOIR_MEMORY__MANAGEMENT_KEY=THEIRS) as server,
    ):
        asked: dict[str, Any] = {"memoryEnabled": True, "conversation_id": "s-17"}
        answer = chat(server, query="?project=atlas", headers={"Authorization": f"Bearer {KEY}"}, **asked)
        (search,), (refused, add) = memory.asked(SEARCH), memory.wait_for(ADD, count=2)
        stored = requests.get(
            f"{server.url}/api/conversations/s-17/messages?project=atlas&user_id=mira",
            headers={"Authorization": f"Bearer {KEY}"},
            timeout=60,
        ).json()["results"]
    assert answer.json()["choices"][0]["message"]["content"] == "Lentils."
    assert answer.headers["X-Memory-Injected"] == "1"
    bounds = {"limit": 5, "max_tokens": 1200, "max_fact_tokens": 400}
    assert search.body == {"query": QUESTION, "user_id": "mira", "before": [], **bounds}
    assert [wanted.query for wanted in (search, add)] == [{"project": "atlas"}] * 2
    assert [wanted.headers["authorization"] for wanted in (search, add)] == [f"Bearer {THEIRS}"] * 2
    prompt = llm.requests[0].body["input"][-1]["content"]
    text = prompt if isinstance(prompt, str) else prompt[0]["text"]
    assert "- [2026-03-04] Is vegetarian" in text
    assert text.endswith(QUESTION)
    said = [
        {"role": one["role"], "content": one["content"], "metadata": {"message_uid": one["uid"]}} for one in stored
    ]
    assert [one["content"] for one in said] == [QUESTION, "Lentils."]
    at = add.body["timestamp"]
    metadata = {"session_id": "s-17", "source": "chat", "timestamp": at}
    assert add.body == {"messages": said, "user_id": "mira", "metadata": metadata, "timestamp": at}
    assert add.headers["idempotency-key"] == refused.headers["idempotency-key"]  # so that it counts once
    assert add.body == refused.body


def test_without_a_true_switch_the_memory_service_is_never_called(llm, tmp_path):
    with ScriptedMemory() as memory, server_with(llm, tmp_path, memory.url) as server:
        answers = [chat(server), *(chat(server, memoryEnabled=value) for value in OFF_VALUES)]
        answers += [chat(server, query=f"?memoryEnabled={value}") for value in ("false", "1", "yes", "True")]
        assert {answer.status_code for answer in answers} == {200}
        chat(server, "remember this one", memoryEnabled=True)  # the line behind which nothing else can come
        (add,) = memory.wait_for(ADD)
        assert add.body["messages"][0]["content"] == "remember this one"
        assert len(memory.asked(SEARCH)) == 1


def test_a_chat_goes_on_without_its_memory_and_is_remembered_when_that_is_back(llm, tmp_path):
    address = closed_port_url()
    with server_with(llm, tmp_path, f"{address}/api/memories") as server:
        answer = chat(server, memoryEnabled=True, stream=True)
        assert (answer.status_code, answer.headers["X-Memory-Injected"]) == (200, "0")
        assert "Understood" in answer.text
        with ScriptedMemory(port=present(urlsplit(address).port)) as memory:
            (add,) = memory.wait_for(ADD)
    assert add.body["messages"][0]["content"] == QUESTION


def test_a_memory_that_is_silent_or_refuses_fails_no_chat_and_no_word_gets_into_the_log(llm, tmp_path):
    settings = {"MNEMOIR_MEMORY__SEARCH_TIMEOUT_S": "0.5"}
    with ScriptedMemory(silent=True) as memory, server_with(llm, tmp_path, memory.url, **settings) as server:
        answers = [chat(server, "quince marmalade", memoryEnabled=True)]  # while it still says nothing
        memory.silent, memory.echoes = False, True
        answers.append(chat(server, "quince marmalade", memoryEnabled=True))
        memory.wait_for(ADD)
        server.stop()
        log = server.log.read_text()
    assert [(answer.status_code, answer.headers["X-Memory-Injected"]) for answer in answers] == [(200, "0")] * 2
    assert "could not be asked      code=llm_timeout" in log  # it was left at the limit that is set
    assert log.count("memory could not be asked") == 2
    assert "quince marmalade" not in log


@pytest.mark.parametrize(("forwards", "sent"), [("false", None), ("true", f"Bearer {KEY}")])
def test_a_caller_s_own_key_goes_to_another_server_only_if_the_settings_say_so(llm, tmp_path, forwards, sent):
    llm.reply("Lentils.")
    with (
        ScriptedMemory(hits=["Is vegetarian"]) as memory,
        server_with(
            llm, tmp_path, f"{memory.url}/", API_KEYS=KEY, MNEMOIR_MEMORY__FORWARD_CREDENTIALS=forwards
        ) as server,
    ):
        chat(server, headers={"Authorization": f"Bearer {KEY}"}, memoryEnabled=True)
        (search,) = memory.asked(SEARCH)
    assert search.headers.get("authorization") == sent
