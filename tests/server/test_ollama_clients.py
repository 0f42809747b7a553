"""The unmodified `ollama` package, with an Ollama behind and with another model server."""

from typing import Any

import ollama
import orjson
import pytest

from tests.scripted_llm import Answer, ScriptedLLM
from tests.server.conftest import OpenServer
from tests.server.served_tree import served
from tests.server.server_kit import JSON, asks

MESSAGES = [{"role": "user", "content": "Hello"}]
END = {"total_duration": 901, "load_duration": 12, "prompt_eval_duration": 300, "eval_duration": 500}
GENERATE, CHAT = "/api/generate", "/api/chat"


def asks_ollama(llm: ScriptedLLM, **more: Any) -> JSON:
    """Settings of a server whose model is in a scripted Ollama."""
    return {"llm.provider": "ollama", "llm.ollama_url": llm.url, "llm.model": "far-model", "llm.tries": 1} | more


def answered(*lines: JSON) -> Answer:
    """An answer of an Ollama, word for word: one line is a whole one."""
    head = {"model": "far", "created_at": "2026-01-01T00:00:00Z"}
    data = b"".join(orjson.dumps({**head, **line}) + b"\n" for line in lines)
    return Answer(body=data, headers={"Content-Type": "application/x-ndjson"})


# --- loading and unloading


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (GENERATE, {"prompt": "", "keep_alive": 0}),
        (GENERATE, {"prompt": "  ", "keep_alive": "0s"}),
        (GENERATE, {"keep_alive": 0, "options": {"num_ctx": 4096}}),
        (CHAT, {"messages": [], "keep_alive": 0}),
        (CHAT, {"keep_alive": 0}),
    ],
)
async def test_an_ollama_gets_a_request_to_unload_as_it_came(
    open_server: OpenServer, llm: ScriptedLLM, path: str, body: JSON
) -> None:
    server = await open_server(asks_ollama(llm))
    piece = {"response": ""} if path == GENERATE else {"message": {"role": "assistant", "content": ""}}
    llm.queue(answered({**piece, "done": True, "done_reason": "unload"}))
    answer = await server.post(path, {"model": "mnemoir", **body})
    (asked,) = llm.requests
    expected = {"messages": [], **body} if path == CHAT else body
    assert (asked.path, asked.body) == (path, {"model": "far-model", **expected, "stream": False})
    assert (answer["done"], answer["done_reason"], answer["model"]) == (True, "unload", "mnemoir")
    assert {name: answer[name] for name in piece} == piece


@pytest.mark.parametrize(("keep_alive", "reason"), [(0, "unload"), ("0m", "unload"), ("5m", "load"), (None, "load")])
async def test_another_model_server_is_not_asked_to_load(
    listen: OpenServer, llm: ScriptedLLM, keep_alive: object, reason: str
) -> None:
    server = await listen(asks(llm))
    async with ollama.AsyncClient(host=server.url) as client:
        generated = await client.generate("mnemoir", keep_alive=keep_alive)
        chatted = await client.chat("mnemoir", keep_alive=keep_alive)
        (streamed,) = [part async for part in await client.chat("mnemoir", keep_alive=keep_alive, stream=True)]
    assert [part.done_reason for part in (generated, chatted, streamed)] == [reason] * 3
    assert (generated.response, chatted.message.content, chatted.done) == ("", "", True)
    assert llm.requests == []


async def test_a_member_that_cannot_load_anything_is_named(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(asks(llm))
    body = {"model": "mnemoir", "prompt": "", "keep_alive": 0}
    assert (await server.ask("POST", GENERATE, body)).headers["x-mnemoir-dropped"] == "keep_alive"


async def test_an_ollama_that_gets_no_members_is_not_made_to_load_in_place_of_unloading(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server(asks_ollama(llm, **{"llm.forward": "none"}))
    answer = await server.post(GENERATE, {"model": "mnemoir", "prompt": "", "keep_alive": 0})
    assert (answer["done_reason"], llm.requests) == ("unload", [])


async def test_a_tree_answers_a_request_to_load_itself(open_server: OpenServer, llm: ScriptedLLM, tmp_path) -> None:
    server = await open_server(served(tmp_path, llm.url, kind="OllamaChat"))
    answer = await server.ask("POST", CHAT, {"model": "ann", "messages": [], "keep_alive": "5m"})
    assert (orjson.loads(answer.body)["done_reason"], llm.requests) == ("load", [])
    assert answer.headers["x-mnemoir-dropped"] == "keep_alive"


async def test_nothing_is_kept_of_a_request_to_load(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(asks(llm))
    body = {"model": "mnemoir", "messages": [], "memoryEnabled": True, "session_id": "tea"}
    answer = await server.ask("POST", CHAT, body)
    assert "x-workflow-run-id" not in answer.headers
    assert (await server.get("/api/runs"))["results"] == []
    assert (await server.get("/api/conversations"))["results"] == []


@pytest.mark.parametrize("path", [CHAT, GENERATE])
@pytest.mark.parametrize("given", [{}, {"session_id": "s", "user": "alex", "metadata": {"session_id": "s"}}])
async def test_a_request_to_load_that_names_only_the_model_asks_nothing(
    open_server: OpenServer, llm: ScriptedLLM, path: str, given: JSON
) -> None:
    server = await open_server(asks_ollama(llm))
    question: JSON = {"messages": []} if path == CHAT else {}
    await server.post(path, {"model": "m", "memoryEnabled": True, **question, **given})
    assert [asked.body for asked in llm.requests] == [{"model": "far-model", "messages": [], "stream": False}]


async def test_a_chat_that_forgets_its_messages_is_refused(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(asks_ollama(llm))
    assert ((await server.ask("POST", CHAT, {"model": "m"})).status, llm.requests) == (400, [])


async def test_a_failing_ollama_fails_the_request_to_load(listen: OpenServer, llm: ScriptedLLM) -> None:
    server = await listen(asks_ollama(llm))
    llm.queue(Answer(status=404, body=b'{"error": "model not found"}', headers={"Content-Type": "application/json"}))
    async with ollama.AsyncClient(host=server.url) as client:
        with pytest.raises(ollama.ResponseError, match="model not found"):
            await client.generate("mnemoir", keep_alive="5m")


# --- durations


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_says_how_long_it_took(open_server: OpenServer, llm: ScriptedLLM, stream: bool) -> None:
    server = await open_server(asks(llm))
    llm.reply("Good morning.", usage=(7, 5))
    answer = await server.ask("POST", CHAT, {"model": "m", "messages": MESSAGES, "stream": stream})
    end = orjson.loads(answer.body.splitlines()[-1])
    assert end["total_duration"] >= end["eval_duration"] > 0
    assert end["total_duration"] == end["prompt_eval_duration"] + end["eval_duration"]


@pytest.mark.parametrize("stream", [True, False])
async def test_an_ollamas_own_durations_come_back(open_server: OpenServer, llm: ScriptedLLM, stream: bool) -> None:
    server = await open_server(asks_ollama(llm))
    message = {"role": "assistant", "content": "Hi."}
    llm.queue(answered({"message": message, "done": True, "done_reason": "length", "eval_count": 5, **END}))
    answer = await server.ask("POST", CHAT, {"model": "m", "messages": MESSAGES, "stream": stream})
    end = orjson.loads(answer.body.splitlines()[-1])
    assert {name: end[name] for name in END} == END
    assert (end["done_reason"], end["eval_count"]) == ("length", 5)


# --- calls of tools


@pytest.mark.parametrize("arguments", ['{"city": "Gr', '["Graz"]', "Graz"])
async def test_arguments_that_are_no_object_are_an_error_of_the_answer(
    listen: OpenServer, llm: ScriptedLLM, arguments: str
) -> None:
    server = await listen(asks(llm))
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": arguments}}
    choice = {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [call]}}
    llm.queue(Answer(body=orjson.dumps({"choices": [{**choice, "finish_reason": "tool_calls"}]})))
    async with ollama.AsyncClient(host=server.url) as client:
        with pytest.raises(ollama.ResponseError, match="'weather' with arguments that are not a JSON obj") as caught:
            await client.chat("mnemoir", MESSAGES)
    assert caught.value.status_code == 502


async def test_arguments_that_are_no_object_end_a_stream_with_an_error(listen: OpenServer, llm: ScriptedLLM) -> None:
    server = await listen(asks(llm))
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city'}}
    deltas = [({"content": "Let me see."}, None), ({"tool_calls": [call]}, None), ({}, "tool_calls")]
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]} for delta, reason in deltas]
    data = b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events) + b"data: [DONE]\n\n"
    llm.queue(Answer(headers={"Content-Type": "text/event-stream"}, body=data))
    async with ollama.AsyncClient(host=server.url) as client:
        with pytest.raises(ollama.ResponseError, match="'weather' with arguments that are not a JSON obj"):
            [part async for part in await client.chat("mnemoir", MESSAGES, stream=True)]


async def test_a_call_in_the_history_without_an_object_is_refused_before_an_ollama_is_asked(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server(asks_ollama(llm))
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city'}}
    messages = [*MESSAGES, {"role": "assistant", "content": None, "tool_calls": [call]}]
    answer = await server.ask("POST", "/v1/chat/completions", {"model": "m", "messages": messages})
    error = orjson.loads(answer.body)["error"]
    assert (answer.status, error["param"], llm.requests) == (400, "messages.tool_calls", [])


async def test_a_tool_round_goes_through_by_the_tools_name(listen: OpenServer, llm: ScriptedLLM) -> None:
    server = await listen(asks_ollama(llm))
    tool = {"type": "function", "function": {"name": "weather", "description": "w", "parameters": {"type": "object"}}}
    llm.reply(tool_calls=[("weather", {"city": "Graz"})])
    async with ollama.AsyncClient(host=server.url) as client:
        first = await client.chat("mnemoir", MESSAGES, tools=[tool])
        await client.chat(
            "mnemoir", [*MESSAGES, first.message, {"role": "tool", "tool_name": "weather", "content": "sun"}]
        )
    sent = llm.requests[-1].body["messages"]
    assert sent[1]["tool_calls"][0]["function"] | {"index": 0} == {
        "index": 0,
        "name": "weather",
        "arguments": {"city": "Graz"},
    }
    assert (sent[2]["tool_name"], sent[2]["content"]) == ("weather", "sun")
    assert llm.requests[0].body["tools"] == [tool]


# --- what is passed, both ways


@pytest.mark.parametrize("stream", [True, False])
async def test_members_of_a_chat_reach_an_ollama_as_they_came(
    listen: OpenServer, llm: ScriptedLLM, stream: bool
) -> None:
    server = await listen(asks_ollama(llm))
    body: JSON = {
        "options": {"num_ctx": 8192, "temperature": 0.5, "num_predict": 9, "mirostat": 1, "stop": ["x"], "x_new": 1},
        "keep_alive": "30m",
        "think": "high",
        "format": {"type": "object", "properties": {"a": {"type": "string"}}},
        "logprobs": True,
        "top_logprobs": 3,
    }
    async with ollama.AsyncClient(host=server.url) as client:
        made: Any = await client.chat("mnemoir", MESSAGES, stream=stream, **body)
        if stream:
            [part async for part in made]
    assert llm.requests[-1].body == {"model": "far-model", "messages": MESSAGES, "stream": stream, **body}


@pytest.mark.parametrize("think", [True, False, "low"])
async def test_an_ollama_gets_think_as_it_came(listen: OpenServer, llm: ScriptedLLM, think: Any) -> None:
    server = await listen(asks_ollama(llm))
    async with ollama.AsyncClient(host=server.url) as client:
        await client.chat("mnemoir", MESSAGES, think=think)
        await client.generate("mnemoir", "Hello", think=think)
    assert [asked.body["think"] for asked in llm.requests] == [think, think]


async def test_a_prompt_for_the_generate_route_alone_reaches_it_as_it_came(
    listen: OpenServer, llm: ScriptedLLM
) -> None:
    server = await listen(asks_ollama(llm))
    end = {"response": "b", "done": True, "context": [1, 2, 3]}
    llm.queue(answered(end))
    given = {"suffix": "c", "template": "{{ .Prompt }}", "context": [9], "system": "S", "keep_alive": "1m"}
    async with ollama.AsyncClient(host=server.url) as client:
        answer = await client.generate("mnemoir", "a", raw=True, options={"num_ctx": 64}, **given)
    body = {"model": "far-model", "prompt": "a", "raw": True, "options": {"num_ctx": 64}, "stream": False, **given}
    assert (llm.requests[-1].path, llm.requests[-1].body) == (GENERATE, body)
    assert (answer.response, answer.context) == ("b", [1, 2, 3])


@pytest.mark.parametrize("stream", [True, False])
async def test_members_of_an_ollamas_answer_come_back(
    open_server: OpenServer, llm: ScriptedLLM, stream: bool
) -> None:
    server = await open_server(asks_ollama(llm))
    call = {"id": "c1", "function": {"index": 0, "name": "f", "arguments": {}, "x_call": 1}, "type": "function"}
    message = {"role": "assistant", "content": "Hi", "tool_calls": [call], "images": ["aGk="], "x_message": [1]}
    llm.queue(answered({"message": message, "logprobs": [{"token": "Hi"}], "done": True, "x_answer": {"a": None}}))
    answer = await server.ask("POST", CHAT, {"model": "m", "messages": MESSAGES, "stream": stream})
    lines = [orjson.loads(line) for line in answer.body.splitlines()]
    told = [line for line in lines if "x_answer" in line]
    assert [(line["logprobs"], line["x_answer"]) for line in told] == [([{"token": "Hi"}], {"a": None})]
    assert (told[0]["message"]["images"], told[0]["message"]["x_message"]) == (["aGk="], [1])
    assert [line["message"]["tool_calls"] for line in lines if "tool_calls" in line["message"]] == [[call]]


async def test_what_is_dropped_is_named_as_the_client_wrote_it(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server({"llm.provider": "offline"})
    body = {"model": "m", "messages": MESSAGES, "think": "low", "stream": False}
    options = {"num_predict": 5, "seed": 1, "num_ctx": 64}
    answer = await server.ask("POST", CHAT, {**body, "options": options})
    names = set(answer.headers["x-mnemoir-dropped"].split(", "))
    assert names == {"options.num_predict", "options.seed", "options.num_ctx", "think"}
    run = await server.get(f"/api/runs/{answer.headers['x-workflow-run-id']}")
    assert set(run["dropped"]) == names
