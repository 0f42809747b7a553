"""A model's server that misbehaves, as our client sees it: an honest answer now, and the next request served."""

import asyncio
import contextlib
import tracemalloc
from collections.abc import Callable, Iterator

import orjson
import pytest

from tests.scripted_llm import Answer, ScriptedLLM, closed_port_url, failure, gzip_bomb, html_page, redirect
from tests.server.server_kit import asks, error_of, hello

CHAT = "/v1/chat/completions"
JSON_TYPE = {"Content-Type": "application/json"}
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
PATHS = pytest.mark.parametrize("path", [CHAT, "/api/chat"])
MIB = 1024 * 1024


def far(llm: ScriptedLLM) -> dict:
    """Settings of a server that asks `llm` for everything; nothing is loaded here."""
    return asks(llm) | {"embedding.provider": "openai"}


async def still_serves(server, llm) -> None:
    """The next request is answered as if nothing had happened."""
    llm.reply("Good morning.")
    answer = await server.post(CHAT, hello())
    assert answer["choices"][0]["message"]["content"] == "Good morning."


@contextlib.contextmanager
def most_allocated() -> Iterator[Callable[[], int]]:
    """Tells, from inside or afterwards, how many bytes were allocated at once at most."""
    tracemalloc.start()
    most = 0

    def peak() -> int:
        return max(most, tracemalloc.get_traced_memory()[1])

    try:
        yield peak
        most = peak()
    finally:
        tracemalloc.stop()


async def upstream_left(llm) -> None:
    """The call to the model is closed."""
    async with asyncio.timeout(30):
        await llm.disconnected.wait()


def sent_text(body: bytes) -> str:
    """The text of an OpenAI stream, put together."""
    events = (line[6:] for line in body.splitlines() if line.startswith(b"data: {"))
    choices = (choice for event in events for choice in orjson.loads(event).get("choices", ()))
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def assert_broken_off(body: bytes) -> dict:
    """The stream ends with an error and nothing in it says that it is complete; gives the last event."""
    last = body.strip().splitlines()[-1].removeprefix(b"data: ")
    for end in (b"[DONE]", b'"finish_reason":"stop"', b'"done":true'):
        assert end not in body
    assert b"Traceback" not in body
    told: dict = orjson.loads(last)
    assert told["error"]
    return told


@WAYS
@PATHS
async def test_what_may_pass_is_asked_again_as_often_as_set_and_then_told_with_its_wait(
    open_server, llm, stream, path
):
    server = await open_server(far(llm) | {"llm.tries": 3})
    refusals = [(400, 400, 1), (401, 401, 1), (403, 403, 1), (429, 429, 3), (500, 502, 3), (503, 503, 3)]
    for said, status, times in refusals:
        llm.requests.clear()
        llm.queue(*[failure(said, "the far side's own words", Retry_After="0")] * (times - 1))
        llm.queue(failure(said, "the far side's own words", Retry_After="7"))
        answer = await server.ask("POST", path, hello(stream=stream))
        assert error_of(answer)[0] == status
        assert (said, len(llm.requests), answer.headers["retry-after"]) == (said, times, "7")
        assert b"the far side's own words" in answer.body
    await still_serves(server, llm)


@WAYS
@pytest.mark.parametrize("said", [401, 429])
async def test_one_users_refusal_is_not_the_next_users(open_server, llm, stream, said):
    server = await open_server(far(llm))
    llm.queue(failure(said))
    refused = await server.ask("POST", CHAT, hello(stream=stream, user="mira"))
    assert refused.status == said
    assert (await server.ask("POST", CHAT, hello(stream=stream, user="tom"))).status == 200
    assert len(llm.requests) == 2


@WAYS
@pytest.mark.parametrize("kind", ["refused", "no such name", "no TLS"])
async def test_an_address_that_cannot_be_reached_is_told_in_time_and_without_the_key(
    open_server, llm, stream, kind, planned_waits
):
    urls = {
        "refused": f"{closed_port_url()}/v1",
        "no such name": "http://nowhere.invalid/v1",
        "no TLS": llm.openai_url.replace("http:", "https:"),
    }
    unreachable = {"llm.base_url": urls[kind], "llm.tries": 3, "llm.timeouts.connect_s": 0.3}
    server = await open_server(far(llm) | unreachable)
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert sum(planned_waits) <= 0.3
    assert error_of(answer) == (502, "llm_unavailable")
    assert urls[kind].split("/")[2].encode() in answer.body
    assert b"sk-canary" not in answer.body


@pytest.mark.real_time
@WAYS
@PATHS
async def test_silence_ends_at_the_first_byte_limit_and_the_call_is_closed(open_server, llm, stream, path):
    server = await open_server(far(llm) | {"llm.timeouts.first_byte_s": 0.5, "llm.tries": 3})
    llm.queue(Answer(silent=True))
    answer = await server.ask("POST", path, hello(stream=stream))
    assert error_of(answer) == (504, "llm_timeout")
    await upstream_left(llm)  # who may have read the question after that
    assert len(llm.requests) == 1
    await still_serves(server, llm)


async def test_comments_keep_a_waiting_client_until_the_model_speaks(listen, llm, http):
    server = await listen(far(llm), heartbeat_s=0.02)
    llm.reply("Good morning.", silent=True)
    async with asyncio.timeout(30), http.post(server.url + CHAT, json=hello(stream=True)) as response:
        waited = b"".join([await response.content.readuntil(b"\n\n") for _ in range(3)])
        llm.release()
        spoken = await response.read()
    assert all(line.startswith(b":") for line in waited.split(b"\n\n") if line)
    assert sent_text(spoken) == "Good morning."
    assert spoken.endswith(b"data: [DONE]\n\n")


@pytest.mark.real_time
async def test_comments_end_with_an_error_event_at_the_first_byte_limit(open_server, llm):
    server = await open_server(far(llm) | {"llm.timeouts.first_byte_s": 0.5}, heartbeat_s=0.02)
    llm.queue(Answer(silent=True))
    answer = await server.ask("POST", CHAT, hello(stream=True))
    *comments, error = answer.body.strip().split(b"\n\n")
    assert len(comments) >= 3
    assert all(line.startswith(b":") for line in comments)
    assert orjson.loads(error.removeprefix(b"data: "))["error"]["code"] == "llm_timeout"
    await upstream_left(llm)


@pytest.mark.real_time
@PATHS
async def test_a_stall_within_the_answer_keeps_what_was_said_and_closes_the_call(open_server, llm, path):
    server = await open_server(far(llm) | {"llm.timeouts.between_bytes_s": 0.2})
    llm.reply("One two three four", stall_after=2)
    answer = await server.ask("POST", path, hello(stream=True))
    assert_broken_off(answer.body)
    assert b"One" in answer.body
    assert b"two" in answer.body
    await upstream_left(llm)
    await still_serves(server, llm)


@PATHS
async def test_an_event_that_makes_no_sense_is_an_error_event(open_server, llm, path):
    server = await open_server(far(llm))
    for bad in (b"{not json", b'{"choices":[7]}', b"[]", b'{"choices":[{"delta":{"content":7}}]}'):
        llm.reply("One two three four", bad_after=2, bad_event=bad)
        assert_broken_off((await server.ask("POST", path, hello(stream=True))).body)
    await still_serves(server, llm)


@pytest.mark.parametrize("cut", [{"crlf": True}, {"bytewise": True}, {"crlf": True, "bytewise": True}])
async def test_an_answer_reads_the_same_however_the_network_cuts_it(open_server, llm, cut):
    server = await open_server(far(llm))
    text = "Grüße an 鈴木さん 🧀 and a line\nmore."
    llm.reply(text, **cut)
    answer = await server.ask("POST", CHAT, hello(stream=True))
    assert sent_text(answer.body) == text
    assert answer.body.endswith(b"data: [DONE]\n\n")


async def test_a_mebibyte_in_one_event_reaches_the_client(open_server, llm):
    server = await open_server(far(llm))
    llm.reply(pieces=["x" * MIB])
    answer = await server.ask("POST", CHAT, hello(stream=True))
    assert sent_text(answer.body) == "x" * MIB


RUBBISH = [
    html_page(),
    Answer(body=b'{"choices": [{"mess', headers=JSON_TYPE),
    Answer(body=b'{"choices": []}', headers=JSON_TYPE),
    Answer(body=b"", headers=JSON_TYPE),
    Answer(body=b'{"choices": [{"message": {"role": "assistant", "content": 7}}]}', headers=JSON_TYPE),
    Answer(body=b'{"choices": [{"finish_reason": null}]}', headers=JSON_TYPE),
    Answer(body=b'{"choices": "7"}', headers=JSON_TYPE),
]


@WAYS
@PATHS
async def test_rubbish_with_status_200_is_a_bad_gateway(open_server, llm, stream, path):
    server = await open_server(far(llm))
    for answer in RUBBISH:
        llm.queue(answer)
        told = await server.ask("POST", path, hello(stream=stream))
        assert error_of(told)[0] == 502, answer
        assert b"Traceback" not in told.body
    await still_serves(server, llm)


async def test_counts_written_as_text_are_counts(open_server, llm):
    server = await open_server(far(llm))
    message = {"role": "assistant", "content": "Good morning."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": "7"}}
    llm.queue(Answer(body=orjson.dumps(body), headers=JSON_TYPE))
    answer = await server.post(CHAT, hello())
    assert (answer["choices"][0]["message"]["content"], answer["usage"]["prompt_tokens"]) == ("Good morning.", 7)


async def test_an_endless_answer_is_stopped_at_its_size_with_memory_flat(listen, llm, http):
    server = await listen(far(llm) | {"llm.most_bytes": 8 * MIB})
    llm.reply(pieces=["x" * 4000], endless=True)
    size, end = 0, b""
    with most_allocated() as peak:
        async with asyncio.timeout(30), http.post(server.url + CHAT, json=hello(stream=True)) as response:
            async for data in response.content.iter_any():
                size, end = size + len(data), (end + data)[-4096:]
    assert peak() < 4 * MIB  # of client, server and model, which share this process
    assert MIB < size < 12 * MIB
    assert b"more than" in orjson.dumps(assert_broken_off(end))
    await upstream_left(llm)
    await still_serves(server, llm)


@pytest.mark.real_time
async def test_an_endless_answer_is_stopped_at_its_time(listen, llm, http):
    server = await listen(far(llm) | {"llm.timeouts.total_s": 0.3})
    llm.reply("One two", endless=True)
    async with asyncio.timeout(30), http.post(server.url + CHAT, json=hello(stream=True)) as response:
        body = await response.read()
    assert assert_broken_off(body[-4096:])["error"]["code"] == "llm_timeout"
    await upstream_left(llm)


@WAYS
@pytest.mark.parametrize("media_type", ["application/json", "text/event-stream"])
async def test_a_gigabyte_in_a_small_packet_is_stopped_at_the_size_once_unpacked(
    open_server, llm, stream, media_type
):
    server = await open_server(far(llm) | {"llm.most_bytes": MIB})
    llm.queue(gzip_bomb(1024 * MIB, media_type=media_type))
    with most_allocated() as peak:
        answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert error_of(answer) == (502, "llm_invalid_output")
    assert peak() < 64 * MIB
    await still_serves(server, llm)


@WAYS
async def test_a_redirect_takes_the_key_nowhere(open_server, llm, stream):
    async with ScriptedLLM() as other:
        server = await open_server(far(llm))
        secret = other.url.replace("://", "://me:hidden-314@")
        llm.queue(redirect(f"{secret}{CHAT}?key=hidden-315#hidden-316"))
        answer = await server.ask("POST", CHAT, hello(stream=stream))
        assert error_of(answer) == (502, "llm_bad_request")
        assert f"It leads to {other.url}{CHAT}. Set the base URL" in answer.body.decode()
        assert b"hidden-" not in answer.body
        assert other.requests == []
    await still_serves(server, llm)
