"""What a model's server calls its error reaches OpenAI's clients, and the message says what to do about it."""

import orjson
import pytest

from mnemoir.server.door.errors import error_body
from mnemoir.wire.upstream import error_in_body
from tests.scripted_llm import failure
from tests.server.served_tree import KEY, served
from tests.server.server_kit import asks, error_of, hello

CHAT = "/v1/chat/completions"
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
SHORTEN = "Shorten the conversation, or take a model with a larger context."
# status, code of the model's server, our own code, advice
REFUSALS = [
    (400, "context_length_exceeded", "llm_bad_request", SHORTEN),
    (401, "invalid_api_key", "llm_auth_failed", "Check llm.api_key."),
    (402, "insufficient_balance", "llm_bad_request", "add credit there"),
    (403, "model_not_allowed", "llm_auth_failed", "Check what the account may use, and llm.api_key."),
    (404, "model_not_found", "llm_bad_request", "Check llm.model."),
    (404, "no_such_route", "llm_bad_request", "Check llm.model and llm.base_url."),
    (429, "insufficient_quota", "llm_rate_limited", "add credit there"),
    (429, "rate_limit_exceeded", "llm_rate_limited", "Try again later."),
]


@WAYS
@pytest.mark.parametrize(("status", "code", "ours", "advice"), REFUSALS)
async def test_status_and_code_are_kept_and_the_advice_fits(open_server, llm, stream, status, code, ours, advice):
    server = await open_server(asks(llm))
    llm.queue(failure(status, "the far side's own words", code=code))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    told = orjson.loads(answer.body)["error"]
    assert error_of(answer) == (status, ours)
    assert (told["code"], told["type"]) == (code, "scripted_error")
    assert f"answered {status}: the far side's own words. " in told["message"]
    assert advice in told["message"]


@WAYS
async def test_an_endpoint_of_a_tree_keeps_them_and_its_file_is_named(open_server, llm, tmp_path, stream):
    server = await open_server(served(tmp_path, llm.url))
    llm.queue(failure(403, "not for you", code="model_not_allowed"))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    told = orjson.loads(answer.body)["error"]
    assert (answer.status, told["code"]) == (403, "model_not_allowed")
    assert told["message"].endswith("not for you. Check what the account may use, and apiKey in its file.")


@pytest.mark.parametrize("stream", [True, False])
async def test_ollamas_clients_get_the_status_and_the_words(open_server, llm, stream):
    server = await open_server(asks(llm))
    llm.queue(failure(403, "not for you", code="model_not_allowed"))
    answer = await server.ask("POST", "/api/chat", hello(stream=stream))
    assert answer.status == 403
    assert "not for you" in orjson.loads(answer.body)["error"]


async def test_embeddings_keep_them_too(open_server, llm):
    server = await open_server(asks(llm) | {"embedding.provider": "openai"})
    llm.queue_embedding(failure(404, "unknown", code="model_not_found"))
    answer = await server.ask("POST", "/v1/embeddings", {"model": "m", "input": "Hello"})
    told = orjson.loads(answer.body)["error"]
    assert (answer.status, told["code"]) == (404, "model_not_found")
    assert told["message"].endswith("unknown. Check embedding.model.")


async def test_an_error_within_a_stream_keeps_its_names(listen, llm, http):
    server = await listen(asks(llm))
    names = {"code": "content_policy", "type": "policy", "param": "messages[0].content"}
    event = orjson.dumps({"error": {"message": "no", **names}})
    llm.reply("One two three", stall_after=1, bad_after=2, bad_event=event)
    async with http.post(server.url + CHAT, json=hello(stream=True)) as response:
        llm.release()  # now that the answer has begun
        last = (await response.read()).strip().splitlines()[-1]
    told = orjson.loads(last.removeprefix(b"data: "))["error"]
    assert {name: told[name] for name in names} == names


UNFIT = ["", "with spaces", "x" * 65, "naïve", "a\nb", "<b>", "400", 400, 4.5, True, None, ["a"], {"a": "b"}]


@pytest.mark.parametrize("code", UNFIT, ids=repr)
def test_a_name_that_is_none_leaves_our_own(code):
    error = error_in_body({"error": {"message": "boom", "type": code, "code": code, "param": code}}, status=400)
    told = orjson.loads(error_body(error, "openai", "r"))["error"]
    assert told == {"message": "boom", "type": "upstream_error", "param": None, "code": "llm_bad_request"}


@WAYS
async def test_a_key_is_no_name(open_server, llm, tmp_path, stream):
    server = await open_server(served(tmp_path, llm.url))
    llm.queue(failure(401, "wrong", code=KEY))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert orjson.loads(answer.body)["error"]["code"] == "llm_auth_failed"
    assert KEY.encode() not in answer.body


async def test_memory_routes_answer_as_before(open_server, llm):
    server = await open_server(asks(llm))
    body = {"messages": [{"role": "user", "content": "I live in Graz."}], "user_id": "mira"}
    for status, code in ((403, "llm_auth_failed"), (404, "llm_bad_request"), (500, "llm_unavailable")):
        llm.queue(failure(status, code="model_not_found"))
        answer = await server.ask("POST", "/api/memories", body)
        assert error_of(answer) == (502, code)
        assert b"model_not_found" not in answer.body
