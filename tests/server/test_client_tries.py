"""How often a model is asked for one request of a client, with `llm.tries` and without."""

import pytest

from tests.scripted_llm import Answer, failure
from tests.server.served_tree import BEFORE, answering, before, served
from tests.server.server_kit import asks, error_of, hello

CHAT = "/v1/chat/completions"
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
UNSET = {"llm.tries": None}


@pytest.fixture(params=["built-in", "tree"])
def settings(request, llm, tmp_path):
    """Settings that leave the tries open, with the built-in workflow and with a node of a tree."""
    return (asks(llm) if request.param == "built-in" else served(tmp_path, llm.url)) | UNSET


@WAYS
@pytest.mark.parametrize(("said", "status"), [(500, 502), (502, 502), (503, 503), (408, 408), (409, 409)])
async def test_a_fault_after_the_request_was_sent_is_told_at_once(open_server, llm, settings, stream, said, status):
    server = await open_server(settings)
    llm.default = failure(said, Retry_After="0")
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert (answer.status, len(llm.requests)) == (status, 1)


@WAYS
@pytest.mark.parametrize("wait", ["2.1", "7", "3600"])
async def test_a_long_wait_is_the_clients_to_keep(open_server, llm, settings, stream, wait):
    server = await open_server(settings)
    llm.default = failure(429, Retry_After=wait)
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert error_of(answer) == (429, "llm_rate_limited")
    assert len(llm.requests) == 1
    assert int(answer.headers["retry-after"]) >= float(wait)


@WAYS
async def test_a_short_wait_is_kept_for_the_client(open_server, llm, settings, stream):
    server = await open_server(settings)
    llm.queue(failure(429, Retry_After="0"), failure(429, Retry_After="0.01"), Answer(text="at last"))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert (answer.status, len(llm.requests)) == (200, 3)


@WAYS
async def test_tries_that_are_set_hold_for_the_client_too(open_server, llm, settings, stream):
    server = await open_server(settings | {"llm.tries": 2})
    llm.default = failure(500, Retry_After="0")
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert (answer.status, len(llm.requests)) == (502, 2)


@WAYS
async def test_a_node_before_the_answer_keeps_three(open_server, llm, tmp_path, stream):
    server = await open_server(served(tmp_path, llm.url, before(), answering()) | UNSET)
    llm.rule(lambda asked: BEFORE not in asked.prompt, failure(500))
    llm.queue(failure(500, Retry_After="0"), failure(503, Retry_After="0"), Answer(text="A thought."))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    asked_before = [asked for asked in llm.requests if BEFORE in asked.prompt]
    assert (answer.status, len(asked_before), len(llm.requests)) == (502, 3, 4)


async def test_what_derives_memories_keeps_three(open_server, llm):
    server = await open_server(asks(llm) | UNSET)
    llm.queue(failure(500, Retry_After="0"), failure(500, Retry_After="0"))
    llm.reply_json({"facts": []})
    await server.post("/api/memories", {"messages": [{"role": "user", "content": "Hello"}], "user_id": "mira"})
    assert len(llm.requests) == 3


@WAYS
async def test_a_last_backup_is_the_clients_own_call(open_server, llm, tmp_path, stream):
    files = {"Endpoints/Second.json": {"endpoint": llm.url, "apiTypeConfigFileName": "OpenAiChat"}}
    server = await open_server(served(tmp_path, llm.url, files=files, backupEndpointName="Second") | UNSET)
    llm.default = failure(500, Retry_After="0")
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert (answer.status, len(llm.requests)) == (502, 2)
