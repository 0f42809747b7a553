"""Members that Mnemoir does not use go on to a model of the same protocol, and those of its answer come back."""

from typing import Any

import orjson
import pytest

from tests.scripted_llm import Answer, ScriptedLLM
from tests.server.conftest import OpenServer
from tests.server.server_kit import asks, hello
from tests.server.test_chat_routes import stream_events

CHAT = "/v1/chat/completions"
KEY = "a-key-of-sixteen-characters"
OWN = {"top_k": 40, "logit_bias": {"50256": -100}, "parallel_tool_calls": False, "x_new": [1, {"a": None}]}


@pytest.mark.parametrize("stream", [True, False])
async def test_unknown_members_reach_the_model_as_they_came(
    open_server: OpenServer, llm: ScriptedLLM, stream: bool
) -> None:
    server = await open_server(asks(llm))
    answer = await server.ask("POST", CHAT, hello(stream=stream, **OWN))
    assert answer.status == 200
    assert "x-mnemoir-dropped" not in answer.headers
    assert {name: llm.requests[-1].body.get(name) for name in OWN} == OWN


async def test_members_that_are_ours_reach_no_model(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(asks(llm))
    ours: dict[str, Any] = {"memoryEnabled": False, "user": "alex", "store": False, "metadata": {"session_id": "s1"}}
    answer = await server.ask("POST", CHAT, hello(**ours, session_id="s1", conversation_id="c1"))
    assert "x-mnemoir-dropped" not in answer.headers
    assert llm.requests[-1].body.keys() == {"model", "messages"}


async def test_a_member_that_chooses_where_a_request_goes_is_dropped_by_name(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server(asks(llm))
    answer = await server.ask("POST", CHAT, hello(api_base="http://elsewhere.example", top_k=1))
    assert answer.headers["x-mnemoir-dropped"] == "api_base"
    assert "api_base" not in llm.requests[-1].body


async def test_a_server_that_forwards_nothing_says_so(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(asks(llm, **{"llm.forward": "none"}))
    answer = await server.ask("POST", CHAT, hello(top_k=1, min_p=0.1))
    assert answer.headers["x-mnemoir-dropped"] == "top_k, min_p"
    run = await server.get(f"/api/runs/{answer.headers['x-workflow-run-id']}")
    assert run["dropped"] == ["top_k", "min_p"]


async def test_a_server_with_keys_forwards_what_is_known(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(asks(llm, **{"server.api_keys": [KEY]}), api_keys=[KEY])
    answer = await server.ask("POST", CHAT, hello(top_k=1, x_new=2), authorization=f"Bearer {KEY}")
    assert (answer.headers["x-mnemoir-dropped"], llm.requests[-1].body["top_k"]) == ("x_new", 1)


async def test_members_of_an_answer_come_back_whole(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(asks(llm))
    message = {"role": "assistant", "content": "Hi.", "refusal": None, "annotations": [{"type": "url_citation"}]}
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": 9,
        "total_tokens": 14,
        "completion_tokens_details": {"reasoning_tokens": 7, "audio_tokens": 0},
    }
    choice = {"index": 0, "message": message, "logprobs": {"content": []}, "finish_reason": "stop", "x": 1}
    sent = {"choices": [choice], "usage": usage, "service_tier": "default", "system_fingerprint": "fp_1"}
    llm.queue(Answer(body=orjson.dumps({**sent, "id": "up", "model": "up", "created": 1, "object": "x"})))
    answer = await server.post(CHAT, hello())
    assert {name: answer[name] for name in ("service_tier", "system_fingerprint")} == {
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    }
    assert answer["choices"] == [choice]
    assert answer["usage"] == {**usage, "prompt_tokens_details": {"cached_tokens": 0}}


async def test_members_of_a_stream_come_back_with_their_piece(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(asks(llm))
    pieces = [
        {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None},
        {"index": 0, "delta": {"content": "Hi"}, "logprobs": {"content": [1]}, "finish_reason": None},
        {"index": 0, "delta": {"content": ".", "annotations": [2]}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop", "stop_reason": 7},
    ]
    data = b"".join(b"data: " + orjson.dumps({"choices": [one], "service_tier": "flex"}) + b"\n\n" for one in pieces)
    llm.queue(Answer(headers={"Content-Type": "text/event-stream"}, body=data + b"data: [DONE]\n\n"))
    answer = await server.ask("POST", CHAT, hello(stream=True))
    events = stream_events(answer.body)
    assert {event["service_tier"] for event in events} == {"flex"}
    said = [event["choices"][0] for event in events[1:]]
    assert said == [
        {"index": 0, "delta": {"content": "Hi"}, "logprobs": {"content": [1]}, "finish_reason": None},
        {"index": 0, "delta": {"content": ".", "annotations": [2]}, "logprobs": None, "finish_reason": None},
        {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop", "stop_reason": 7},
    ]


@pytest.mark.parametrize(
    "members",
    [
        ",".join(f'"m{n}": 1' for n in range(257)),
        f'"{"x" * 257}": 1',
        '"deep": {"a": [1180591620717411303424]}',
    ],
    ids=["too many", "a long name", "beyond 64 bits"],
)
async def test_what_cannot_be_passed_as_it_came_is_refused(
    open_server: OpenServer, llm: ScriptedLLM, members: str
) -> None:
    server = await open_server(asks(llm))
    answer = await server.ask("POST", CHAT, orjson.dumps(hello())[:-1] + b"," + members.encode() + b"}")
    assert (answer.status, llm.requests) == (400, [])


async def test_a_page_of_an_allowed_origin_may_read_what_was_dropped(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    origin = "https://chat.example"
    server = await open_server(asks(llm), cors_origins=[origin])
    answer = await server.ask("POST", CHAT, hello(api_base="x"), origin=origin)
    assert answer.headers["x-mnemoir-dropped"] == "api_base"
    assert "X-Mnemoir-Dropped" in answer.headers["access-control-expose-headers"]
