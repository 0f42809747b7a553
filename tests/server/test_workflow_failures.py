"""Endpoints of a config tree that misbehave: an honest answer, no key in it, no node run behind it."""

import asyncio
from typing import Any

import orjson
import pytest

from tests.remembering_model import learn_every_turn
from tests.scripted_llm import Answer, ScriptedLLM, closed_port_url, failure, gzip_bomb, html_page, redirect
from tests.server.served_tree import BEHIND, KEY, KINDS, answering, behind, endpoint, served
from tests.server.server_kit import asks, error_of, hello
from tests.server.test_incomplete_answers import only_the_whole_turn_is_remembered, says
from tests.server.test_upstream_failures import assert_broken_off, most_allocated, sent_text, upstream_left

CHAT = "/v1/chat/completions"
JSON_TYPE = {"Content-Type": "application/json"}
MIB = 1024 * 1024
SHORT = {"workflows.timeouts.between_bytes_s": 0.2, "embedding.provider": "openai"}
ALL = pytest.mark.parametrize("kind", KINDS)
WITH_AN_END = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "Kobold"])  # its streams have none
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


async def still_serves(server, llm) -> None:
    """The next request is answered as if nothing had happened."""
    llm.reply("Good morning.")
    answer = await server.post(CHAT, hello())
    assert answer["choices"][0]["message"]["content"] == "Good morning."


def said(body: bytes, stream: bool) -> str:
    """The text of an answer."""
    return sent_text(body) if stream else orjson.loads(body)["choices"][0]["message"]["content"]


async def nothing_ran_behind(server, llm) -> None:
    """The last run ended with the node that failed; that behind it asked nothing."""
    run = (await server.get("/api/runs"))["results"][0]
    trace = await server.get(f"/api/runs/{run['id']}")
    titles = [node["title"] for workflow in trace["workflows"] for node in workflow["nodes"]]
    assert (run["status"], titles) == ("failed", ["Answer"])
    assert [asked for asked in llm.requests if BEHIND in asked.prompt] == []


@ALL
@WAYS
async def test_a_refusal_keeps_its_class_and_its_wait_and_names_the_endpoint(
    open_server, llm, tmp_path, stream, kind
):
    server = await open_server(served(tmp_path, llm.url, answering(), behind(), kind=kind) | {"llm.tries": 3})
    refusals = [(400, 400, 1), (401, 401, 1), (403, 403, 1), (429, 429, 3), (500, 502, 3), (503, 503, 3)]
    for said, status, times in refusals:
        llm.requests.clear()
        llm.queue(*[failure(said, f"no, {KEY}", Retry_After="0")] * (times - 1))
        llm.queue(failure(said, f"its own words, {KEY}", Retry_After="7"))
        answer = await server.ask("POST", CHAT, hello(stream=stream))
        assert error_of(answer)[0] == status
        assert (said, len(llm.requests), answer.headers["retry-after"]) == (said, times, "7")
        assert b"Endpoint Main (127.0.0.1:" in answer.body
        assert b"its own words, [redacted]" in answer.body
    await nothing_ran_behind(server, llm)


@WAYS
@pytest.mark.parametrize("said", [401, 429])
async def test_one_requests_refusal_is_not_the_next_ones(open_server, llm, tmp_path, stream, said):
    server = await open_server(served(tmp_path, llm.url))
    llm.queue(failure(said))
    assert (await server.ask("POST", CHAT, hello(stream=stream, user="mira"))).status == said
    assert (await server.ask("POST", CHAT, hello(stream=stream, user="tom"))).status == 200
    assert len(llm.requests) == 2


@WAYS
@pytest.mark.parametrize("trouble", ["refused", "no such name", "no TLS"])
async def test_an_endpoint_that_cannot_be_reached_is_named_in_time_and_without_its_key(
    open_server, llm, tmp_path, stream, trouble, planned_waits
):
    urls = {
        "refused": closed_port_url(),
        "no such name": "http://nowhere.invalid",
        "no TLS": llm.url.replace("http:", "https:"),
    }
    settings = served(tmp_path, urls[trouble], user={"connectTimeoutInSeconds": 0.3}) | {"llm.tries": 3}
    server = await open_server(settings)
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert sum(planned_waits) <= 0.3
    assert error_of(answer) == (502, "llm_unavailable")
    assert b"Endpoint Main (" in answer.body
    assert KEY.encode() not in answer.body


@pytest.mark.real_time
@ALL
@WAYS
async def test_silence_ends_at_the_first_byte_limit_and_the_call_is_closed(open_server, llm, tmp_path, stream, kind):
    settings = served(tmp_path, llm.url, answering(), behind(), kind=kind)
    server = await open_server(settings | {"workflows.timeouts.first_byte_s": 0.5, "llm.tries": 3})
    llm.queue(Answer(silent=True))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert error_of(answer) == (504, "llm_timeout")
    await upstream_left(llm)  # who may have read the question after that
    assert len(llm.requests) == 1
    await nothing_ran_behind(server, llm)


async def test_comments_keep_a_waiting_client_until_a_node_before_the_answer_is_done(listen, llm, http, tmp_path):
    before = behind() | {"title": "Before"}
    server = await listen(served(tmp_path, llm.url, before, answering()), heartbeat_s=0.02)
    llm.reply("A thought.", silent=True)
    llm.reply("Good morning.")
    async with asyncio.timeout(30), http.post(server.url + CHAT, json=hello(stream=True)) as response:
        waited = b"".join([await response.content.readuntil(b"\n\n") for _ in range(3)])
        llm.release()
        spoken = await response.read()
    assert all(line.startswith(b":") for line in waited.split(b"\n\n") if line)
    assert sent_text(spoken) == "Good morning."
    assert spoken.endswith(b"data: [DONE]\n\n")


@pytest.mark.real_time
async def test_comments_end_with_an_error_event_at_the_first_byte_limit(open_server, llm, tmp_path):
    settings = served(tmp_path, llm.url) | {"workflows.timeouts.first_byte_s": 0.3}
    server = await open_server(settings, heartbeat_s=0.02)
    llm.queue(Answer(silent=True))
    answer = await server.ask("POST", CHAT, hello(stream=True))
    *comments, error = answer.body.strip().split(b"\n\n")
    assert len(comments) >= 3
    assert orjson.loads(error.removeprefix(b"data: "))["error"]["code"] == "llm_timeout"
    await upstream_left(llm)


@pytest.mark.real_time
@ALL
async def test_a_stall_within_the_answer_keeps_what_was_said_and_closes_the_call(open_server, llm, tmp_path, kind):
    settings = served(tmp_path, llm.url, answering(), behind(), kind=kind)
    server = await open_server(settings | {"workflows.timeouts.between_bytes_s": 0.5})
    llm.reply("One two three four", stall_after=2)
    answer = await server.ask("POST", CHAT, hello(stream=True))
    assert_broken_off(answer.body)
    assert sent_text(answer.body) == "One two "
    await upstream_left(llm)
    await nothing_ran_behind(server, llm)
    await still_serves(server, llm)


PATHS = [CHAT, "/v1/completions", "/api/chat", "/api/generate", "/chat/completions"]


@pytest.mark.parametrize(("path", "kind"), list(zip(PATHS, KINDS, strict=True)))
async def test_a_connection_torn_within_the_answer_is_never_a_normal_end(open_server, llm, tmp_path, path, kind):
    server = await open_server(served(tmp_path, llm.url, answering(), behind(), kind=kind))
    llm.reply("One two three four", cut_after=2)
    answer = await server.ask("POST", path, hello(stream=True, prompt="Hello"))
    assert_broken_off(answer.body)
    await nothing_ran_behind(server, llm)


@WITH_AN_END
async def test_a_body_that_ends_early_is_an_error_and_nothing_runs_behind_it(open_server, llm, tmp_path, kind):
    server = await open_server(served(tmp_path, llm.url, answering(), behind(), kind=kind))
    llm.reply("One two three four", end_after=2)
    answer = await server.ask("POST", CHAT, hello(stream=True))
    assert_broken_off(answer.body)
    assert sent_text(answer.body) == "One two "
    await nothing_ran_behind(server, llm)
    (run,) = (await server.get("/api/runs"))["results"]
    assert (run["status"], "Main" in run["error"]) == ("failed", True)


@pytest.mark.real_time
@pytest.mark.parametrize("path", [CHAT, "/api/chat"])
async def test_of_an_answer_that_broke_within_its_stream_no_memory_is_made(open_server, llm, tmp_path, path):
    remembering = {"title": "Remember", "type": "Remember", "beforeClose": True}
    settings = served(tmp_path, llm.url, answering(), remembering)
    server = await open_server(settings | asks(llm, **SHORT))
    seen = learn_every_turn(llm)
    for broken in ({"stall_after": 2}, {"cut_after": 2}, {"end_after": 2}):
        llm.reply("One two three four", **broken)
        answer = await server.ask("POST", path, says("I am allergic to nuts."), x_memory="on", x_user_id="mira")
        assert b"error" in answer.body.strip().splitlines()[-1]
    await only_the_whole_turn_is_remembered(server, llm, seen)


@ALL
async def test_an_answer_reads_the_same_however_the_network_cuts_it_and_its_thinking_is_gone(
    open_server, llm, tmp_path, kind
):
    thinking: dict[str, Any] = {"removeThinking": True, "startThinkTag": "<think>", "endThinkTag": "</think>"}
    server = await open_server(served(tmp_path, llm.url, kind=kind, **thinking))
    text = "Grüße an 鈴木さん 🧀 and <thin lines\nmore."
    for cut in ({"crlf": True}, {"bytewise": True}, {"crlf": True, "bytewise": True}):
        llm.reply(f"<think>What do I say? 🤔</think>{text}", **cut)
        answer = await server.ask("POST", CHAT, hello(stream=True))
        assert sent_text(answer.body) == text
        assert answer.body.endswith(b"data: [DONE]\n\n")


@ALL
async def test_an_event_that_makes_no_sense_is_an_error_event(open_server, llm, tmp_path, kind):
    server = await open_server(served(tmp_path, llm.url, answering(), behind(), kind=kind))
    llm.reply("One two three four", bad_after=2)
    answer = await server.ask("POST", CHAT, hello(stream=True))
    assert_broken_off(answer.body)
    assert sent_text(answer.body) == "One two "
    await nothing_ran_behind(server, llm)


@pytest.mark.parametrize("kind", ["OpenAiChat", "Kobold", "OllamaText"])
async def test_a_mebibyte_in_one_event_reaches_the_client(open_server, llm, tmp_path, kind):
    server = await open_server(served(tmp_path, llm.url, kind=kind))
    llm.reply(pieces=["x" * MIB])
    assert sent_text((await server.ask("POST", CHAT, hello(stream=True))).body) == "x" * MIB


RUBBISH = [
    html_page(),
    Answer(body=b'{"choices": [{"mess', headers=JSON_TYPE),
    Answer(body=b"", headers=JSON_TYPE),
    Answer(body=b"Not Found", headers={"Content-Type": "text/plain"}),
    Answer(body=b'{"error": {"message": "model crashed"}}', headers=JSON_TYPE),
    Answer(body=b"{}", headers=JSON_TYPE),
    Answer(body=b'{"choices": [], "message": null}', headers=JSON_TYPE),
]


@WITH_AN_END
@WAYS
async def test_rubbish_with_status_200_is_a_bad_gateway(open_server, llm, tmp_path, stream, kind):
    server = await open_server(served(tmp_path, llm.url, answering(), behind(), kind=kind))
    for answer in RUBBISH:
        llm.queue(answer)
        told = await server.ask("POST", CHAT, hello(stream=stream))
        assert error_of(told)[0] == 502, answer
        assert b"Endpoint Main (" in told.body
        assert b"Traceback" not in told.body
    await nothing_ran_behind(server, llm)
    await still_serves(server, llm)


@WAYS
async def test_an_answer_of_an_endpoint_without_a_text_is_empty(open_server, llm, tmp_path, stream):
    server = await open_server(served(tmp_path, llm.url))
    for body in (b'{"choices": [{"message": {}}]}', b'{"choices": [{"message": {"content": null}}]}'):
        llm.queue(Answer(body=body, headers=JSON_TYPE))
        told = await server.ask("POST", CHAT, hello(stream=stream))
        assert (told.status, said(told.body, stream)) == (200, "")


async def test_an_endless_answer_is_stopped_at_its_size_with_memory_flat(listen, llm, http, tmp_path):
    server = await listen(served(tmp_path, llm.url) | {"llm.most_bytes": 8 * MIB})
    await still_serves(server, llm)  # what the first request alone needs is there
    llm.disconnected.clear()
    llm.reply(pieces=["x" * 4000], endless=True)
    end = b""
    with most_allocated() as peak:
        async with asyncio.timeout(30), http.post(server.url + CHAT, json=hello(stream=True)) as response:
            async for data in response.content.iter_any():
                end = (end + data)[-4096:]
    assert peak() < 4 * MIB  # of client, server and model, which share this process
    assert b"more than" in orjson.dumps(assert_broken_off(end))
    await upstream_left(llm)


@pytest.mark.real_time
@WAYS
async def test_an_endless_answer_is_stopped_at_its_time(listen, llm, http, tmp_path, stream):
    server = await listen(served(tmp_path, llm.url, answering(), behind()) | {"workflows.timeouts.total_s": 0.3})
    llm.reply("One two", endless=stream, silent=not stream)
    async with asyncio.timeout(30), http.post(server.url + CHAT, json=hello(stream=stream)) as response:
        body = await response.read()
    assert orjson.loads(body.strip().splitlines()[-1].removeprefix(b"data: "))["error"]["code"] == "llm_timeout"
    await upstream_left(llm)
    await nothing_ran_behind(server, llm)


@pytest.mark.real_time
@WAYS
async def test_a_node_that_takes_too_long_is_named(open_server, llm, tmp_path, stream):
    server = await open_server(served(tmp_path, llm.url, answering(timeoutSeconds=0.5), behind()))
    llm.reply("One two", silent=not stream, stall_after=1)
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert b"Node 'Answer' of workflow Chat took more than 0.5 s" in answer.body
    assert (answer.status == 200) is stream
    await upstream_left(llm)
    await nothing_ran_behind(server, llm)


@pytest.mark.parametrize("kind", ["OpenAiChat", "OllamaText"])
@WAYS
async def test_a_gigabyte_in_a_small_packet_is_stopped_at_the_size_once_unpacked(
    open_server, llm, tmp_path, stream, kind
):
    server = await open_server(served(tmp_path, llm.url, kind=kind) | {"llm.most_bytes": MIB})
    llm.queue(gzip_bomb(256 * MIB))
    with most_allocated() as peak:
        answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert error_of(answer) == (502, "llm_invalid_output")
    assert peak() < 64 * MIB


@WAYS
async def test_a_redirect_takes_the_key_nowhere(open_server, llm, tmp_path, stream):
    async with ScriptedLLM() as other:
        server = await open_server(served(tmp_path, llm.url))
        secret = other.url.replace("://", "://me:hidden-314@")
        llm.queue(redirect(f"{secret}{CHAT}?key=hidden-315#hidden-316"))
        answer = await server.ask("POST", CHAT, hello(stream=stream))
        assert error_of(answer) == (502, "llm_bad_request")
        assert f"It leads to {other.url}{CHAT}. Set the base URL" in answer.body.decode()
        assert b"hidden-" not in answer.body
        assert other.requests == []
    await still_serves(server, llm)


TROUBLE = {
    "refusal": failure(401),
    "fault": failure(500),
    "silence": Answer(silent=True),
    "page": html_page(),
    "half an answer": Answer(body=b'{"choices": [{"mess', headers=JSON_TYPE),
}


@pytest.mark.real_time
@WAYS
@pytest.mark.parametrize("trouble", TROUBLE)
async def test_a_backup_answers_for_an_endpoint_that_fails_before_its_first_word(
    open_server, llm, tmp_path, stream, trouble
):
    async with ScriptedLLM() as other:
        files = {"Endpoints/Second.json": endpoint(other.url, "OllamaChat")}
        settings = served(tmp_path, llm.url, files=files, backupEndpointName="Second") | {"llm.tries": 3}
        server = await open_server(settings | {"workflows.timeouts.first_byte_s": 0.3})
        other.reply("Good morning.")
        llm.queue(TROUBLE[trouble])
        answer = await server.ask("POST", CHAT, hello(stream=stream))
        assert (answer.status, len(other.requests)) == (200, 1)
        assert len(llm.requests) < 2  # nor is the first one asked again
        assert said(answer.body, stream) == "Good morning."


@pytest.mark.real_time
@pytest.mark.parametrize("trouble", [{"stall_after": 1}, {"cut_after": 1}, {"end_after": 1}])
async def test_no_backup_goes_on_with_an_answer_that_has_begun(open_server, llm, tmp_path, trouble):
    async with ScriptedLLM() as other:
        files = {"Endpoints/Second.json": endpoint(other.url)}
        settings = served(tmp_path, llm.url, files=files, backupEndpointName="Second")
        server = await open_server(settings | {"workflows.timeouts.between_bytes_s": 0.5})
        llm.reply("One two three", **trouble)
        answer = await server.ask("POST", CHAT, hello(stream=True))
        assert_broken_off(answer.body)
        assert (sent_text(answer.body), other.requests) == ("One ", [])


@WAYS
async def test_backups_that_fail_too_are_told_and_a_circle_of_them_ends(open_server, llm, tmp_path, stream):
    files = {"Endpoints/Second.json": endpoint(llm.url, backupEndpointName="Main")}
    server = await open_server(served(tmp_path, llm.url, files=files, backupEndpointName="Second"))
    llm.queue(failure(500), failure(500))
    answer = await server.ask("POST", CHAT, hello(stream=stream))
    assert error_of(answer) == (500, "invalid_settings")
    assert "Main → Second → Main. Break the circle." in orjson.loads(answer.body)["detail"]
    assert len(llm.requests) == 2
