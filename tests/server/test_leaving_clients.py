"""Clients that leave: the model stops working for them, and others are served."""

import asyncio
import contextlib
import socket
from typing import Any

import orjson
import psutil
import pytest

from mnemoir.server import ServerOptions
from tests.scripted_llm import Answer
from tests.server.server_kit import CUT_S, QUICK_S, asks, hello, listening

CHAT = "/v1/chat/completions"


async def left_after_arrival(server, llm, body) -> None:
    """Send a chat, and go as soon as the model was asked."""
    host, port = server.url.removeprefix("http://").split(":")
    _reader, writer = await asyncio.open_connection(host, int(port))
    sent = orjson.dumps(body)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(sent)}\r\n\r\n"
    writer.write(head.encode() + sent)
    await writer.drain()
    async with asyncio.timeout(30):
        await llm.arrived.wait()
    writer.close()
    await writer.wait_closed()


@pytest.mark.real_time
@pytest.mark.parametrize("words", [1, 100_000], ids=["few words", "a large body"])
@pytest.mark.parametrize("stream", [True, False])
async def test_leaving_before_the_first_word_ends_the_model_call(listen, llm, stream, words):
    server = await listen(asks(llm))
    llm.reply(silent=True)
    messages = [{"role": "user", "content": "Hello " * words}]
    await left_after_arrival(server, llm, hello(stream=stream, messages=messages))
    async with asyncio.timeout(CUT_S):
        await llm.disconnected.wait()


@pytest.mark.real_time
@pytest.mark.parametrize("kind", [{"endless": True}, {"stall_after": 1}])
async def test_leaving_within_a_stream_ends_the_model_call(listen, llm, http, kind):
    server = await listen(asks(llm))
    llm.reply("One two three", **kind)
    response = await http.post(server.url + CHAT, json=hello(stream=True))
    await response.content.readany()
    response.close()
    async with asyncio.timeout(CUT_S):
        await llm.disconnected.wait()


@pytest.mark.parametrize(("stream", "kind"), [(True, {"endless": True}), (True, {"stall_after": 1}), (False, {})])
async def test_a_server_that_stops_tells_those_whose_answer_it_cuts_off(open_server, llm, http, stream, kind):
    options: dict[str, Any] = {"graceful_s": 1}
    server = await open_server(asks(llm), **options)
    llm.reply("One two three", **({"silent": True} if not stream else kind))
    async with contextlib.AsyncExitStack() as running:
        url = await running.enter_async_context(listening(server.app, ServerOptions(**options)))
        asking = asyncio.create_task(http.post(url + CHAT, json=hello(stream=stream)))
        await (asking if stream else llm.arrived.wait())
    response = await asking
    told = (await response.read()).decode()
    assert response.status == (200 if stream else 503)
    assert "The server is stopping." in told
    assert "[DONE]" not in told
    await llm.disconnected.wait()


@pytest.mark.real_time
async def test_a_place_is_free_again_when_its_client_has_left(listen, llm, http):
    server = await listen(asks(llm), most_active_chats=1)
    llm.reply(silent=True)
    await left_after_arrival(server, llm, hello(stream=True))
    async with asyncio.timeout(CUT_S):
        await llm.disconnected.wait()
        async with http.post(server.url + CHAT, json=hello()) as response:
            assert response.status == 200


@pytest.mark.real_time
async def test_a_quick_question_is_answered_beside_slow_streams(listen, llm, http):
    server = await listen(asks(llm))
    llm.reply("One two", stall_after=1)
    async with http.post(server.url + CHAT, json=hello(stream=True)) as slow:
        await slow.content.readany()
        async with asyncio.timeout(QUICK_S), http.post(server.url + CHAT, json=hello()) as quick:
            assert quick.status == 200
        llm.release()
        await slow.read()


async def test_readers_that_stand_still_hold_back_the_model_and_nobody_else(listen, llm, http):
    server = await listen(asks(llm))
    llm.queue(*[Answer(pieces=["word " * 10_000], endless=True)] * 8)
    host, port = server.url.removeprefix("http://").split(":")
    sent = orjson.dumps(hello(stream=True))
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(sent)}\r\n\r\n".encode()
    before = psutil.Process().memory_info().rss
    with contextlib.ExitStack() as held:
        for _ in range(8):
            slow = held.enter_context(socket.socket())
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect((host, int(port)))
            slow.sendall(head + sent)
        async with asyncio.timeout(30):
            while len(llm.requests) < 8:
                llm.arrived.clear()
                await llm.arrived.wait()
            for _ in range(20):
                async with http.post(server.url + CHAT, json=hello()) as quick:
                    assert quick.status == 200
        # client, server and model share this process; what is kept for a connection is a few buffers
        assert psutil.Process().memory_info().rss - before < 64 * 1024 * 1024
