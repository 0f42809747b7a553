"""Connections at their limits: slow, large, many, odd. Everything over a real socket."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator

import aiohttp
import orjson
import psutil
import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.server import ServerOptions, run, serve
from mnemoir.server.run import bind
from tests.scripted_llm import Answer
from tests.server.server_kit import asks, hello, listening

CHAT = "/v1/chat/completions"


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def response(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """One response with a length."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return int(head[0].split()[1]), headers, body


async def send_for_ever(writer: asyncio.StreamWriter) -> None:
    """Send until the connection is cut."""
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


def request(method: str, target: str, body: bytes = b"", *headers: str) -> bytes:
    """A request as it goes over the wire."""
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


async def test_a_body_over_the_limit_is_refused_before_it_is_sent(listen):
    server = await listen()
    async with connected(server.url) as (reader, writer):
        writer.write(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 67108864\r\n\r\n" % CHAT.encode())
        status, _, body = await response(reader)
    assert (status, orjson.loads(body)["code"]) == (413, "payload_too_large")


async def test_a_large_body_takes_no_memory(listen):
    server = await listen()
    before = psutil.Process().memory_info().rss
    async with connected(server.url) as (reader, writer):
        writer.write(b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % CHAT.encode())
        piece = b"%x\r\n%s\r\n" % (65536, b"x" * 65536)
        for _ in range(1024):  # 64 MiB
            writer.write(piece)
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        status, _, _ = await response(reader)
    assert status == 413
    assert psutil.Process().memory_info().rss - before < 32 * 1024 * 1024  # client and server share this process


@pytest.mark.parametrize("ending", ["keep-alive", "close"])
async def test_a_client_that_is_still_sending_reads_why_its_body_is_refused(listen, ending):
    server = await listen()
    async with connected(server.url) as (reader, writer):
        head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nConnection: {ending}\r\nContent-Length: 67108864\r\n\r\n"
        writer.write(head.encode())
        for _ in range(512):  # 32 MiB more than any buffer holds
            writer.write(b"x" * 65536)
            await writer.drain()
        status, headers, body = await response(reader)
        assert (status, orjson.loads(body)["code"]) == (413, "payload_too_large")
        if ending == "close":
            assert (headers["connection"], await reader.read()) == ("close", b"")


async def test_a_client_that_is_still_sending_its_head_reads_why_it_is_refused(listen):
    server = await listen()
    async with connected(server.url) as (reader, writer):
        writer.write(f"GET {CHAT} HTTP/1.1\r\nHost: localhost\r\n".encode())
        for number in range(512):
            writer.write(b"X-Part-%d: %s\r\n" % (number, b"x" * 65536))
            await writer.drain()
        status, _, body = await response(reader)
    assert (status, orjson.loads(body)["code"]) == (431, "payload_too_large")


@pytest.mark.parametrize(("size", "is_taken"), [(60_000, True), (66_000, False), (130_000, False)])
async def test_a_head_that_comes_whole_is_measured_without_the_body_behind_it(listen, size, is_taken):
    server = await listen()
    said = orjson.dumps({"messages": [{"role": "user", "content": "Likes tea " * 9000}], "user_id": "mira"})
    sent = request("POST", "/api/memories/search", said).replace(b"\r\n", b"\r\nX-Long: " + b"x" * size + b"\r\n", 1)
    async with connected(server.url) as (reader, writer):
        writer.write(sent)
        status, _, body = await response(reader)
    assert (status == 431, b"larger than 65536 bytes" in body) == (not is_taken, not is_taken)


@pytest.mark.parametrize("size", [65_000, 65_536, 90_000, 200_000])
@pytest.mark.parametrize(("place", "before"), [("address", 0), ("header", 0), ("header", 1)])
async def test_a_head_is_measured_wherever_it_is_long_and_behind_whatever_request(listen, size, place, before):
    server = await listen()
    long = b"x" * size
    head = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: " + long + b"\r\n\r\n"
    if place == "address":
        head = b"GET /health?_=" + long + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with connected(server.url) as (reader, writer):
        writer.write(request("GET", "/health") * before + head)
        answers = [await response(reader) for _ in range(before + 1)]
    assert [status for status, *_ in answers] == [200] * before + [431 if size > 65_000 else 200]
    assert (b"larger than 65536 bytes" in answers[-1][2]) == (size > 65_000)


async def test_a_refused_client_that_never_ends_is_let_go_at_its_deadline(listen):
    server = await listen(request_deadline_s=0.5)
    async with connected(server.url) as (reader, writer):
        writer.write(f"POST {CHAT} HTTP/1.1\r\nConnection: close\r\nContent-Length: 67108864\r\n\r\n{{".encode())
        assert b" 413 " in await reader.read()
        with pytest.raises(ConnectionError):
            await send_for_ever(writer)


@contextlib.asynccontextmanager
async def half_sent(url: str) -> AsyncIterator[list[asyncio.Future[bytes]]]:
    """A hundred requests that are never finished; what each is told, once it is."""
    async with contextlib.AsyncExitStack() as held:
        ends: list[asyncio.Future[bytes]] = []
        for number in range(100):
            reader, writer = await held.enter_async_context(connected(url))
            head = b"POST %s HTTP/1.1\r\nHost: localhost\r\n" % CHAT.encode()
            writer.write(head + (b"Content-Length: 100\r\n\r\n{" if number % 2 else b"X-Slow: "))
            ends.append(asyncio.ensure_future(reader.read()))
        held.callback(lambda: [end.cancel() for end in ends])
        yield ends


async def test_half_sent_requests_hold_up_nobody(listen, http):
    server = await listen(request_deadline_s=3600)
    async with half_sent(server.url) as ends, http.get(f"{server.url}/health") as answer:
        assert (answer.status, [end for end in ends if end.done()]) == (200, [])


@pytest.mark.real_time
async def test_half_sent_requests_are_closed_at_the_deadline_and_hold_up_nobody(listen, http):
    server = await listen(request_deadline_s=0.5)
    async with half_sent(server.url) as halves, asyncio.timeout(60):
        ends = await asyncio.gather(*halves)
        async with http.get(f"{server.url}/health") as answer:
            assert answer.status == 200
    assert {end.split(b"\r\n")[0] for end in ends} == {b"HTTP/1.1 408 Request Timeout"}


@pytest.mark.real_time
async def test_a_drip_does_not_move_the_deadline(listen):
    server = await listen(request_deadline_s=0.3)
    async with connected(server.url) as (reader, writer), asyncio.timeout(60):
        writer.write(b"GET /health HTTP/1.1\r\nX-Slow: ")
        # its first line only: a byte that meets a closed connection resets it, and then there is no end to read
        answered = asyncio.ensure_future(reader.readline())
        while not answered.done():
            writer.write(b"x")
            await asyncio.wait([answered], timeout=0.05)
    assert answered.result().startswith(b"HTTP/1.1 408")  # a drip that moved it would be answered never


async def test_an_endless_head_is_cut(listen):
    server = await listen()
    async with connected(server.url) as (reader, writer), asyncio.timeout(60):
        writer.write(b"GET /health HTTP/1.1\r\nX-Long: " + b"x" * 200_000)
        status, _, body = await response(reader)
    assert (status, orjson.loads(body)["code"]) == (431, "payload_too_large")


async def test_connections_over_the_limit_are_told_so_and_old_ones_go_on(listen):
    server = await listen(most_connections=20)
    async with contextlib.AsyncExitStack() as held, asyncio.timeout(60):
        inside = [await held.enter_async_context(connected(server.url)) for _ in range(20)]
        for reader, writer in inside:
            writer.write(request("GET", "/health"))
            assert (await response(reader))[0] == 200
        reader, writer = await held.enter_async_context(connected(server.url))
        writer.write(request("GET", "/health"))
        status, headers, body = await response(reader)
        assert (status, headers["retry-after"], orjson.loads(body)["code"]) == (503, "1", "overloaded")
        reader, writer = inside[0]
        writer.write(request("GET", "/health"))
        assert (await response(reader))[0] == 200


async def test_idle_connections_far_over_the_limit_are_not_kept(listen):
    server = await listen(most_connections=20)
    async with contextlib.AsyncExitStack() as held, asyncio.timeout(60):
        idle = [await held.enter_async_context(connected(server.url)) for _ in range(100)]
        ends = [asyncio.ensure_future(reader.read()) for reader, _ in idle]
        done = 0
        while done < 100 - 20 - 8:
            finished, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            done = len(finished)
            ends_left = [end for end in ends if not end.done()]
            if done < 100 - 20 - 8 and ends_left:
                await asyncio.wait(ends_left, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
        await asyncio.gather(*ends, return_exceptions=True)


async def test_a_crowd_of_chats_is_answered_or_refused_quickly(listen, llm, http: aiohttp.ClientSession):
    server = await listen(asks(llm), most_active_chats=16)

    async def chat() -> int:
        async with http.post(server.url + CHAT, json=hello()) as answer:
            await answer.read()
            if answer.status == 503:
                assert answer.headers["Retry-After"] == "1"
            return answer.status

    llm.default = Answer(text="yes")
    async with asyncio.timeout(30):
        statuses = await asyncio.gather(*(chat() for _ in range(100)))
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) >= 16


async def test_requests_in_a_row_are_answered_in_order(listen):
    server = await listen()
    async with connected(server.url) as (reader, writer), asyncio.timeout(60):
        writer.write(request("GET", "/api/version") + request("GET", "/no/such") + request("GET", "/health"))
        assert [(await response(reader))[0] for _ in range(3)] == [200, 404, 200]


async def test_a_chunked_body_is_a_body(listen):
    server = await listen()
    body = orjson.dumps(hello())
    async with connected(server.url) as (reader, writer), asyncio.timeout(60):
        writer.write(b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % CHAT.encode())
        writer.writelines(b"1\r\n%c\r\n" % byte for byte in body)
        writer.write(b"0\r\n\r\n")
        assert (await response(reader))[0] == 200


async def test_a_client_that_asks_first_is_told_to_go_on(listen):
    server = await listen()
    body = orjson.dumps(hello())
    async with connected(server.url) as (reader, writer), asyncio.timeout(60):
        writer.write(
            request("POST", CHAT, b"", "Expect: 100-continue").replace(b"Length: 0", b"Length: %d" % len(body))
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        writer.write(body)
        assert (await response(reader))[0] == 200


async def test_fields_behind_a_body_are_no_headers(listen):
    server = await listen()
    _, key = server.parts.access.api_keys.create(role="admin", by="test")
    head = request("GET", "/api/keys", b"", "Transfer-Encoding: chunked").replace(b"Content-Length: 0\r\n", b"")
    async with connected(server.url) as (reader, writer), asyncio.timeout(60):
        writer.write(head + b"0\r\nX-API-Key: %s\r\n\r\n" % key.encode())
        assert (await response(reader))[0] == 401


@pytest.mark.parametrize(
    "target", ["/", "/health", "/api/memories/mira", "/v1/models", "/api/version", "/docs", "/api/runs/live"]
)
async def test_head_is_get_without_a_body(listen, target):
    server = await listen()
    async with connected(server.url) as (reader, writer), asyncio.timeout(60):
        writer.write(request("HEAD", target))
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        writer.write(request("GET", "/api/version"))
        assert (await response(reader))[0] == 200


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        (CHAT, "POST, OPTIONS"),
        ("/api/memories", "DELETE, GET, POST, HEAD, OPTIONS"),
        ("/api/memories/x", "DELETE, GET, PATCH, HEAD, OPTIONS"),
        ("/api/show", "POST, OPTIONS"),
        ("/health", "GET, HEAD, OPTIONS"),
    ],
)
async def test_methods_not_offered_name_those_that_are(server, target, allowed):
    for method, status in (("PUT", 405), ("TRACE", 405), ("OPTIONS", 200)):
        answer = await server.ask(method, target)
        assert (answer.status, answer.headers["allow"]) == (status, allowed)
        assert isinstance(orjson.loads(answer.body), dict)


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x02", b"GET\r\n\r\n", b"NONSENSE / HTTP/1.1\r\n\r\n"])
async def test_what_is_not_http_is_refused_in_json(listen, garbage):
    server = await listen()
    async with connected(server.url) as (reader, writer), asyncio.timeout(60):
        writer.write(garbage + b"\r\n\r\n")
        status, _, body = await response(reader)
    assert (status, orjson.loads(body)["code"]) == (400, "invalid_http")


@pytest.mark.parametrize("junk", [b"{", b"NOT HTTP\r\n\r\n"])
async def test_what_stands_behind_a_whole_request_does_not_replace_its_answer(listen, junk):
    server = await listen()
    said = orjson.dumps({"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "mira", "infer": False})
    async with connected(server.url) as (reader, writer):
        writer.write(request("POST", "/api/memories", said) + request("DELETE", "/api/memories?user_id=mira") + junk)
        added, deleted = await response(reader), await response(reader)
        assert (added[0], deleted[0], orjson.loads(deleted[2])["deleted"]) == (200, 200, 1)
        assert ("connection" in added[1], deleted[1]["connection"]) == (False, "close")
        assert await reader.read() == b""


async def test_a_refused_request_has_its_answer_behind_those_of_the_requests_before_it(listen):
    server = await listen()
    chunked = b"POST /api/memories HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n"
    async with connected(server.url) as (reader, writer):
        writer.write(request("GET", "/health") + request("GET", "/api/projects") + chunked)
        answers = [await response(reader) for _ in range(3)]
        assert [status for status, *_ in answers] == [200, 200, 400]
        assert (orjson.loads(answers[2][2])["code"], await reader.read()) == ("invalid_http", b"")


@pytest.mark.real_time
async def test_a_refused_body_that_does_not_end_gets_no_second_answer(listen):
    server = await listen(request_deadline_s=0.3, max_body_bytes=1)
    async with connected(server.url) as (reader, writer), asyncio.timeout(60):
        writer.write(request("POST", CHAT, b"{}")[:-1])
        assert (await response(reader))[0] == 413
        assert await reader.read() == b""


@pytest.mark.real_time
async def test_a_running_answer_is_not_cut_by_a_next_request_that_does_not_come(listen, llm):
    server = await listen(asks(llm), request_deadline_s=0.3)
    llm.reply("Tea is ready.", stall_after=1)
    async with connected(server.url) as (reader, writer), asyncio.timeout(60):
        writer.write(request("POST", CHAT, orjson.dumps(hello(stream=True))))
        await reader.readuntil(b"Tea")
        writer.write(b"GET /health HT")
        async with half_sent(server.url) as later:  # their deadlines end behind its own
            await asyncio.gather(*later)
        llm.release()
        rest = await reader.read()
    assert (b"[DONE]" in rest, b"408" in rest, rest.endswith(b"0\r\n\r\n")) == (True, False, True)


async def says_hello(scope, receive, send) -> None:
    """The smallest application."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


def test_on_the_fast_event_loop_head_and_body_leave_in_one_piece():
    async def scenario() -> bytes:
        async with listening(says_hello, ServerOptions()) as url, connected(url) as (reader, writer):
            writer.write(request("GET", "/"))
            return await reader.read(65536)

    assert run(scenario()).endswith(b"\r\n\r\nhello")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_serving_and_not_the_process(number):
    async def scenario() -> str:
        def end(port: int) -> None:
            os.kill(os.getpid(), number)

        await serve(says_hello, ServerOptions(), listener=bind("127.0.0.1", 0), on_started=end)
        return "the parts can be closed now"

    before = signal.getsignal(number)
    assert run(scenario()) == "the parts can be closed now"
    assert signal.getsignal(number) == before


def test_an_address_in_use_is_named():
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=f"port {port}.*--port"):
            bind("127.0.0.1", port)


def test_without_options_it_listens_on_this_machine_only():
    options = ServerOptions()
    assert (options.host, options.is_local) == ("127.0.0.1", True)


AMBIGUOUS = {
    "a part behind a #": b"DELETE /api/memories?user_id=mira#&run_id=r1 HTTP/1.1\r\nHost: localhost\r\n",
    "a part of a path behind a #": b"DELETE /api/memories#/all?user_id=mira HTTP/1.1\r\nHost: localhost\r\n",
    "two hosts": b"GET /api/memories?user_id=mira HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n",
    "one host twice": b"GET /api/memories?user_id=mira HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n",
    "a host in the address alone": b"GET http://evil.example/api/memories?user_id=mira HTTP/1.1\r\n",
    "two origins": b"GET /health HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil\r\n",
    "two sites": b"GET /health HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n",
    "another host in the address": b"GET http://evil.example/api/memories HTTP/1.1\r\nHost: localhost\r\n",
    "another port in the address": b"GET http://localhost:81/health HTTP/1.1\r\nHost: localhost\r\n",
    "a user in the address": b"GET http://localhost@evil.example/health HTTP/1.1\r\nHost: localhost\r\n",
}


@pytest.mark.parametrize("head", AMBIGUOUS.values(), ids=AMBIGUOUS)
async def test_a_head_that_can_be_read_in_two_ways_is_refused_and_nothing_is_deleted(listen, head):
    server = await listen()
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "mira", "infer": False}
    await server.post("/api/memories", said | {"run_id": "r2"})
    async with connected(server.url) as (reader, writer):
        writer.write(head + b"\r\n")
        status, headers, body = await response(reader)
        assert (status, orjson.loads(body)["code"]) == (400, "invalid_http")
        assert (headers["connection"], await reader.read()) == ("close", b"")
    assert (await server.get("/api/memories?user_id=mira"))["total"] == 1


@pytest.mark.parametrize("target", ["http://localhost/health", "HTTP://LOCALHOST:80/health?", "/health?a=http://b/"])
async def test_the_address_of_a_proxy_and_a_host_that_is_the_same_are_one(listen, target):
    server = await listen()
    async with connected(server.url) as (reader, writer):
        writer.write(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % target.encode())
        assert (await response(reader))[0] == 200


async def test_a_chat_with_two_users_in_its_headers_is_refused(listen):
    server = await listen()
    body = orjson.dumps(hello())
    for second, expected in (("mira", 200), ("otto", 400)):
        async with connected(server.url) as (reader, writer):
            writer.write(request("POST", CHAT, body, "X-User-Id: mira", f"X-User-Id: {second}"))
            assert (await response(reader))[0] == expected
