"""Chats through every dialect: what arrives, what is answered, and what is told in the headers."""

import asyncio
from typing import Any

import orjson
import pytest

from tests.scripted_llm import Answer, closed_port_url, failure
from tests.server.server_kit import asks, error_of, hello, succeeded
from tests.wire.task_prompts import TITLE

CHAT = "/v1/chat/completions"


def stream_events(body: bytes) -> list[dict]:
    """The JSON of every event but [DONE]."""
    lines = [line.removeprefix("data: ") for line in body.decode().split("\n\n") if line.startswith("data: ")]
    return [orjson.loads(line) for line in lines if line != "[DONE]"]


def streamed_text(body: bytes) -> str:
    """The answer, put together."""
    return "".join(
        choice["delta"].get("content") or "" for event in stream_events(body) for choice in event.get("choices", ())
    )


@pytest.mark.parametrize("path", [CHAT, "/chat/completions", f"{CHAT}/", "//v1//chat/completions"])
async def test_a_whole_answer_is_the_models(open_server, llm, path):
    server = await open_server(asks(llm))
    llm.reply("Good morning.")
    answer = await server.post(path, hello())
    assert answer["choices"][0]["message"]["content"] == "Good morning."
    assert answer["model"] == "mnemoir"


async def test_a_streamed_answer_is_the_models_word_for_word(open_server, llm):
    server = await open_server(asks(llm))
    llm.reply("Good morning, dear reader.")
    answer = await server.ask("POST", CHAT, hello(stream=True))
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert streamed_text(answer.body) == "Good morning, dear reader."
    assert answer.body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
@pytest.mark.parametrize("stream", [True, False])
async def test_ollamas_routes_answer_in_lines_or_whole(open_server, llm, path, stream):
    server = await open_server(asks(llm))
    llm.reply("Good morning.")
    answer = await server.ask("POST", path, hello(stream=stream, prompt="Hello"))
    lines = [orjson.loads(line) for line in answer.body.splitlines()]
    texts = [line.get("response") or line.get("message", {}).get("content") or "" for line in lines]
    assert "".join(texts) == "Good morning."
    assert lines[-1]["done"] is True
    assert len(lines) == 1 or stream


async def test_any_model_name_is_taken_and_echoed(open_server, llm):
    server = await open_server(asks(llm))
    assert (await server.post(CHAT, hello(model="whatever:7b")))["model"] == "whatever:7b"
    assert llm.requests[0].body["model"] == "far-model"


@pytest.mark.parametrize("stream", [True, False])
async def test_headers_tell_the_request_and_the_time_added(open_server, llm, stream):
    server = await open_server(asks(llm))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert len(answer.headers["x-request-id"]) == 16
    assert 0 <= float(answer.headers["x-overhead-duration-ms"]) < 1000
    assert "x-memory-injected" not in answer.headers


@pytest.mark.parametrize(
    ("target", "body", "headers"),
    [
        (CHAT, {"memoryEnabled": True}, {}),
        (f"{CHAT}?memoryEnabled=true", {}, {}),
        (CHAT, {}, {"x_memory": "on"}),
    ],
)
async def test_memory_is_switched_on_by_body_query_or_header(open_server, llm, target, body, headers):
    server = await open_server(asks(llm))
    answer = await server.ask("POST", target, hello(**body), **headers)
    assert answer.headers["x-memory-injected"] == "0"


@pytest.mark.parametrize("value", [False, "false", "true", 1, "yes", None, {}, []])
async def test_nothing_but_true_switches_memory_on(open_server, llm, value):
    server = await open_server(asks(llm))
    answer = await server.ask("POST", f"{CHAT}?memoryEnabled=1", hello(memoryEnabled=value), x_memory="true")
    assert answer.status == 200
    assert "x-memory-injected" not in answer.headers


async def test_what_a_client_asks_for_itself_recalls_nothing(open_server, llm):
    server = await open_server(asks(llm))
    await server.post(
        "/api/memories", {"messages": [{"role": "user", "content": "Rows"}], "user_id": "user", "infer": False}
    )
    task: dict[str, Any] = {
        "messages": [{"role": "user", "content": TITLE.replace("Ferns", "rows")}],
        "memoryEnabled": True,
    }
    await server.post(CHAT, hello(**task))
    assert "Rows" not in llm.requests[-1].prompt


async def test_recalled_memories_are_counted_and_go_into_the_prompt(open_server, llm):
    server = await open_server(asks(llm))
    said = {"messages": [{"role": "user", "content": "I row every morning."}], "user_id": "mira", "infer": False}
    await server.post("/api/memories", said)
    question = {"messages": [{"role": "user", "content": "When do I row?"}], "memoryEnabled": True, "user": "mira"}
    answer = await server.ask("POST", CHAT, hello(stream=True, **question))
    assert answer.headers["x-memory-injected"] == "1"
    assert "I row every morning." in llm.requests[-1].prompt


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("said", "status"),
    [
        (429, 429),
        (401, 401),
        (403, 403),
        (402, 402),
        (400, 400),
        (404, 404),
        (408, 408),
        (409, 409),
        (418, 400),
        (500, 502),
        (503, 503),
    ],
)
async def test_a_refusal_of_the_model_keeps_its_class(open_server, llm, stream, said, status):
    server = await open_server(asks(llm))
    llm.queue(failure(said, "the far side's own words", Retry_After="7"))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    told = orjson.loads(answer.body)
    assert answer.status == status
    assert "the far side's own words" in told["error"]["message"]
    assert error_of(answer)[1].startswith("llm_")
    if said == 429:
        assert answer.headers["retry-after"] == "7"


async def test_an_unreachable_model_is_a_bad_gateway(open_server, llm):
    settings = asks(llm) | {"llm.base_url": f"{closed_port_url()}/v1"}
    server = await open_server(settings)
    answer = await server.ask("POST", CHAT, hello())
    assert error_of(answer) == (502, "llm_unavailable")
    assert b"sk-canary" not in answer.body


@pytest.mark.real_time
async def test_a_silent_model_is_a_timeout(open_server, llm):
    server = await open_server(asks(llm) | {"llm.timeouts.first_byte_s": 0.2})
    llm.queue(Answer(silent=True))
    assert error_of(await server.ask("POST", CHAT, hello())) == (504, "llm_timeout")


@pytest.mark.real_time
@pytest.mark.parametrize("broken", [{"cut_after": 2}, {"end_after": 2}, {"stall_after": 2}])
@pytest.mark.parametrize(("path", "end"), [(CHAT, b"[DONE]"), ("/api/chat", b'"done":true')])
async def test_an_answer_broken_off_ends_with_an_error_and_never_as_complete(open_server, llm, broken, path, end):
    server = await open_server(asks(llm) | {"llm.timeouts.between_bytes_s": 0.3})
    llm.reply("One two three four", **broken)
    answer = await server.ask("POST", path, hello(stream=True))
    last = answer.body.strip().splitlines()[-1]
    assert answer.status == 200
    assert b"error" in last
    assert end not in answer.body
    assert b'"finish_reason":"stop"' not in answer.body


@pytest.mark.real_time
@pytest.mark.parametrize("path", [CHAT, "/api/chat"])
async def test_silence_is_bridged_by_heartbeats_and_ends_in_an_error_event(open_server, llm, path):
    server = await open_server(asks(llm) | {"llm.timeouts.first_byte_s": 0.5}, heartbeat_s=0.05)
    llm.queue(Answer(silent=True))
    answer = await server.ask("POST", path, hello(stream=True))
    assert answer.status == 200
    assert b"error" in answer.body.strip().splitlines()[-1]
    assert len(answer.body.split(b"\n")) > 4  # several signs of life before it


async def test_the_first_words_arrive_before_the_last_are_made(listen, llm, http):
    server = await listen(asks(llm))
    llm.reply("One two three", stall_after=1)
    async with http.post(server.url + CHAT, json=hello(stream=True)) as response:
        first = await response.content.readuntil(b'"One')
        assert b"One" in first
        llm.release()
        assert b"three" in await response.read()


async def test_chats_beyond_the_places_are_refused_at_once(open_server, llm):
    server = await open_server(asks(llm), most_active_chats=2)
    llm.queue(Answer(silent=True), Answer(silent=True))
    waiting = [asyncio.create_task(server.ask("POST", CHAT, hello())) for _ in range(2)]
    while len(llm.requests) < 2:
        await llm.arrived.wait()
        llm.arrived.clear()
    refused = await server.ask("POST", CHAT, hello())
    assert error_of(refused) == (503, "overloaded")
    assert refused.headers["retry-after"] == "1"
    llm.release()
    assert [(await answer).status for answer in waiting] == [200, 200]
    assert succeeded(await server.ask("POST", CHAT, hello()))


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"\xff",
        b'"text"',
        b"[]",
        b"{}",
        b'{"messages": 5}',
        b'{"messages": "hi"}',
        b'{"messages": [5]}',
        b'{"messages": [{"role": "user", "content": "x"}], "stream": "yes"}',
        b"[" * 5000 + b"]" * 5000,
    ],
)
@pytest.mark.parametrize("path", [CHAT, "/api/chat", "/api/generate", "/v1/embeddings", "/api/embed"])
async def test_a_body_that_makes_no_sense_is_refused_in_the_one_shape(server, path, body):
    answer = await server.ask("POST", path, body)
    assert error_of(answer)[0] == 400
    assert b"Traceback" not in answer.body


async def test_names_that_cannot_be_names_are_refused(server):
    too_long = await server.ask("POST", CHAT, hello(user="x" * 300, memoryEnabled=True))
    assert error_of(too_long) == (400, "validation_error")
    traversal = await server.ask("POST", f"{CHAT}?project=..%2Fetc", hello())
    assert error_of(traversal) == (400, "invalid_project")
