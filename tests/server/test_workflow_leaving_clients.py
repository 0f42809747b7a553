"""Clients of a config tree that leave: model, place and lock are free at once, and no further node runs."""

import asyncio
import contextlib
import socket
from typing import Any

import orjson
import psutil
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.scripted_llm import Answer
from tests.server.served_tree import BEHIND, answering, asking, before, behind, calling, locking, served
from tests.server.server_kit import CUT_S, QUICK_S, Server, error_of, hello

CHAT = "/v1/chat/completions"
NODES = (before(), locking(), answering(), behind())
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def head_of(path: str, body: bytes, method: str = "POST") -> bytes:
    """The head of a request with that body."""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()


@contextlib.asynccontextmanager
async def client(server, body, path=CHAT):
    """A bare connection on which `body` was sent; it is closed behind the block."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    sent = orjson.dumps(body)
    try:
        writer.write(head_of(path, sent) + sent)
        yield reader
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def asked(llm, count: int) -> None:
    """The model has had that many requests."""
    async with asyncio.timeout(30):
        while len(llm.requests) < count:
            llm.arrived.clear()
            await llm.arrived.wait()


async def ended(server: Server) -> dict:
    """The trace of the newest run, once it is over."""
    async with asyncio.timeout(30):
        while (run := (await server.get("/api/runs"))["results"][0])["status"] == "running":  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.005)
    found: dict = await server.get(f"/api/runs/{run['id']}")
    return found


def titles(trace) -> list[str]:
    """The nodes that ran, of all workflows one behind the other."""
    return [node["title"] for workflow in trace["workflows"] for node in workflow["nodes"]]


async def is_free(server, llm) -> None:
    """The one place of the endpoint, and the lock, go to the next client at once; its run is whole."""
    llm.requests.clear()
    llm.disconnected.clear()
    async with asyncio.timeout(30):
        answer = await server.post(CHAT, hello())
    assert answer["choices"][0]["message"]["content"] == "Understood."
    trace = await ended(server)
    assert (trace["status"], titles(trace)) == ("finished", ["Before", "Lock", "Answer", "Behind"])


@pytest.mark.real_time
@pytest.mark.parametrize(
    ("path", "stream"),
    [
        (CHAT, True),
        (CHAT, False),
        ("/v1/completions", True),
        ("/api/chat", False),
        ("/api/generate", True),
        ("/api/generate", False),
    ],
)
async def test_leaving_before_the_first_word_frees_place_and_lock_and_runs_no_further_node(
    listen, llm, tmp_path, path, stream
):
    server = await listen(served(tmp_path, llm.url, *NODES, maxConcurrentRequests=1))
    llm.queue(Answer(text="A thought."), Answer(silent=True))
    async with client(server, hello(stream=stream, prompt="Hello"), path):
        await asked(llm, 2)
    async with asyncio.timeout(CUT_S):
        await llm.disconnected.wait()
    trace = await ended(server)
    assert (trace["status"], titles(trace)) == ("cancelled", ["Before", "Lock", "Answer"])
    await is_free(server, llm)


@pytest.mark.real_time
@pytest.mark.parametrize("kind", [{"endless": True}, {"stall_after": 1}])
async def test_leaving_within_a_stream_frees_place_and_lock_and_runs_no_further_node(listen, llm, tmp_path, kind):
    server = await listen(served(tmp_path, llm.url, *NODES, maxConcurrentRequests=1))
    llm.queue(Answer(text="A thought."), Answer(text="One two three", **kind))
    async with client(server, hello(stream=True)) as reader:
        await reader.readuntil(b'"content":"One')
    async with asyncio.timeout(CUT_S):
        await llm.disconnected.wait()
    trace = await ended(server)
    assert (trace["status"], titles(trace)) == ("cancelled", ["Before", "Lock", "Answer"])
    assert trace["workflows"][-1]["nodes"][-1]["input_tokens"] > 0
    await is_free(server, llm)


@pytest.mark.real_time
@WAYS
async def test_leaving_while_a_node_before_the_answer_asks_ends_all(listen, llm, tmp_path, stream):
    server = await listen(served(tmp_path, llm.url, *NODES, maxConcurrentRequests=1))
    llm.reply(silent=True)
    async with client(server, hello(stream=stream)):
        await asked(llm, 1)
    async with asyncio.timeout(CUT_S):
        await llm.disconnected.wait()
    trace = await ended(server)
    assert (trace["status"], titles(trace)) == ("cancelled", ["Before"])
    await is_free(server, llm)


@pytest.mark.real_time
@WAYS
async def test_leaving_while_an_inner_workflow_works_frees_the_locks_of_all(listen, llm, tmp_path, stream):
    files = {"Workflows/Ann/Inner.json": [locking("inner"), asking(returnToUser=True), behind()]}
    nodes = (locking("outer"), calling("Inner", returnToUser=True), behind())
    server = await listen(served(tmp_path, llm.url, *nodes, files=files, maxConcurrentRequests=1))
    for _ in range(2):  # the second one meets no lock that the first has left
        llm.requests.clear()
        llm.disconnected.clear()
        llm.reply(silent=True)
        async with client(server, hello(stream=stream)):
            await asked(llm, 1)
        async with asyncio.timeout(CUT_S):
            await llm.disconnected.wait()
        assert (await ended(server))["status"] == "cancelled"
    assert [asked for asked in llm.requests if BEHIND in asked.prompt] == []


async def test_one_who_waits_for_the_place_of_an_endpoint_and_leaves_asks_it_nothing(listen, llm, tmp_path):
    server = await listen(served(tmp_path, llm.url, maxConcurrentRequests=1))
    llm.reply(silent=True)
    async with client(server, hello()) as first:
        await asked(llm, 1)
        async with client(server, hello()):
            async with asyncio.timeout(30):
                while len((await server.get("/api/runs"))["results"]) < 2:  # noqa: ASYNC110 - no event tells it
                    await asyncio.sleep(0.005)
        assert (await ended(server))["status"] == "cancelled"
        llm.release()
        assert b"200 OK" in await first.readline()
    assert len(llm.requests) == 1


async def test_one_who_leaves_the_moment_the_answer_is_complete_takes_nothing_with_it(listen, llm, tmp_path):
    server = await listen(served(tmp_path, llm.url, *NODES))
    for _ in range(10):
        async with client(server, hello(stream=True)) as reader:
            await reader.readuntil(b"data: [DONE]\n\n")
        trace = await ended(server)
        assert (trace["status"], titles(trace)) == ("finished", ["Before", "Lock", "Answer", "Behind"])


async def test_an_answer_is_complete_although_the_model_keeps_its_stream_open(listen, http, tmp_path):
    async def talk(request: web.Request) -> web.StreamResponse:
        if not (await request.json()).get("stream"):
            return web.json_response({"choices": [{"message": {"content": "A thought."}}]})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n')
        await response.write(b"data: [DONE]\n\n")
        await asyncio.Event().wait()
        return response

    app = web.Application()
    app.router.add_post(CHAT, talk)
    async with TestServer(app) as model:
        server = await listen(served(tmp_path, str(model.make_url("")), answering(), behind()))
        async with client(server, hello(stream=True)) as reader, asyncio.timeout(30):
            await reader.readuntil(b"data: [DONE]\n\n")
        trace = await ended(server)
    assert (trace["status"], titles(trace)) == ("finished", ["Answer", "Behind"])


@pytest.mark.real_time
async def test_others_are_answered_at_once_after_clients_that_left_with_the_default_settings(listen, llm, tmp_path):
    server = await listen(served(tmp_path, llm.url, answering(), behind()))
    llm.queue(*[Answer(silent=True)] * 20)
    async with contextlib.AsyncExitStack() as leaving:
        for number in range(20):
            await leaving.enter_async_context(client(server, hello(stream=number % 2 == 0)))
        await asked(llm, 20)
    async with asyncio.timeout(QUICK_S):
        assert (await server.ask("POST", CHAT, hello())).status == 200


@pytest.mark.real_time
async def test_a_quick_question_is_answered_beside_slow_streams(listen, llm, http, tmp_path):
    server = await listen(served(tmp_path, llm.url, before(), answering()))
    llm.queue(Answer(text="A thought."), Answer(text="One two", stall_after=1), Answer(text="Another."))
    async with http.post(server.url + CHAT, json=hello(stream=True)) as slow:
        await slow.content.readuntil(b'"content":"One')
        async with asyncio.timeout(QUICK_S), http.post(server.url + CHAT, json=hello()) as quick:
            assert quick.status == 200
        llm.release()
        await slow.read()


@pytest.mark.costly("it is about large texts")
async def test_readers_that_stand_still_hold_back_the_model_and_nobody_else(listen, llm, http, tmp_path):
    thinking: dict[str, Any] = {"removeThinking": True, "startThinkTag": "<think>", "endThinkTag": "</think>"}
    server = await listen(served(tmp_path, llm.url, answering(), behind(), **thinking))
    llm.queue(*[Answer(pieces=["word " * 10_000], endless=True)] * 64)
    host, port = server.url.removeprefix("http://").split(":")
    sent = orjson.dumps(hello(stream=True))
    before = psutil.Process().memory_info().rss
    with contextlib.ExitStack() as held:
        for _ in range(64):
            slow = held.enter_context(socket.socket())
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect((host, int(port)))
            slow.sendall(head_of(CHAT, sent) + sent)
        await asked(llm, 64)
        for _ in range(20):
            async with asyncio.timeout(30), http.post(server.url + CHAT, json=hello()) as quick:
                assert quick.status == 200
        # client, server and model share this process; what is kept for a connection is a few buffers
        assert psutil.Process().memory_info().rss - before < 64 * 3 * 1024 * 1024


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
async def test_a_stream_is_ended_by_another_request_and_its_nodes_with_it(listen, llm, http, tmp_path, path):
    server = await listen(served(tmp_path, llm.url, *NODES, maxConcurrentRequests=1))
    llm.queue(Answer(text="A thought."), Answer(text="One two", stall_after=1))
    async with asyncio.timeout(30), http.post(server.url + path, json=hello(stream=True, prompt="Hello")) as stream:
        first = orjson.loads(await stream.content.readline())
        async with http.delete(server.url + path, json={"request_id": first["request_id"]}) as ending:
            assert (ending.status, (await ending.json())["status"]) == (200, "cancelled")
        last = orjson.loads((await stream.read()).splitlines()[-1])
    assert "error" in last
    async with asyncio.timeout(30):
        await llm.disconnected.wait()
    trace = await ended(server)
    assert (trace["status"], titles(trace)) == ("cancelled", ["Before", "Lock", "Answer"])
    await is_free(server, llm)


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
async def test_ending_what_is_not_under_way_is_told(open_server, llm, tmp_path, path):
    server = await open_server(served(tmp_path, llm.url))
    assert error_of(await server.ask("DELETE", path, {"request_id": "nobody"})) == (404, "not_found")
    bodies: tuple[object, ...] = ({}, {"request_id": 7}, [], {"request_id": ""})
    for body in bodies:
        assert error_of(await server.ask("DELETE", path, body)) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/completions", "POST, OPTIONS"),
        ("/completions", "POST, OPTIONS"),
        ("/api/chat", "DELETE, POST, OPTIONS"),
        ("/api/generate", "DELETE, POST, OPTIONS"),
    ],
)
async def test_methods_not_offered_name_those_that_are(open_server, llm, tmp_path, path, allowed):
    server = await open_server(served(tmp_path, llm.url))
    for method, status in (("HEAD", 405), ("PATCH", 405), ("NONSENSE", 405), ("OPTIONS", 200)):
        answer = await server.ask(method, path)
        assert (answer.status, answer.headers["allow"]) == (status, allowed)
    assert llm.requests == []


@pytest.mark.parametrize("path", ["/v1/completions", "/api/generate"])
async def test_prompts_come_in_any_content_type_in_pieces_and_in_a_row(listen, llm, tmp_path, path):
    server = await listen(served(tmp_path, llm.url))
    host, port = server.url.removeprefix("http://").split(":")
    body = orjson.dumps({"model": "Ann", "prompt": "Hello", "stream": False})
    reader, writer = await asyncio.open_connection(host, int(port))
    plain = head_of(path, body).replace(b"\r\n\r\n", b"\r\nContent-Type: text/plain\r\n\r\n") + body
    chunked = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % path.encode()
    chunked += b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    first = head_of(path, body).replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")
    async with asyncio.timeout(30):
        writer.write(plain + chunked + first)
        for _ in range(2):
            assert await whole(reader) == 200
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        writer.write(body)
        assert await whole(reader) == 200
    writer.close()
    await writer.wait_closed()


async def whole(reader) -> int:
    """The status of one response, read to its end."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head.split()[1])
