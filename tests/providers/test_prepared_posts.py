"""Answers of every form over kept connections: those read here, and those that are left to the HTTP client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import pytest
from yarl import URL

from mnemoir.providers.http import READ_BYTES, new_session
from mnemoir.providers.prepared_posts import CommonResponse, PreparedPost

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
SIZED = HEAD + b"Content-Length: 2\r\n\r\nHi"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nH\r\n1\r\ni\r\n0\r\n\r\n"
COMMON = {"sized": SIZED, "in chunks": CHUNKED, "with trailers": CHUNKED[:-2] + b"X-Sum: 1\r\n\r\n"}
RARE = {
    "a refusal": SIZED.replace(b"200 OK", b"429 Too Many Requests"),
    "to its end": HEAD + b"\r\nHi",
    "on its way": b"HTTP/1.1 102 Processing\r\n\r\n" + SIZED,
    "of HTTP/1.0": SIZED.replace(b"1.1", b"1.0"),
    "for one time": SIZED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
    "many fields": SIZED.replace(
        b"\r\n\r\n", b"".join(b"\r\nX-%d: %s" % (n, b"y" * 4000) for n in range(4)) + b"\r\n\r\n"
    ),
}


class PlayedServer:
    """Answers each request by the bytes of `answers` in turn, each piece in a write of its own."""

    def __init__(self, *answers: bytes, pieces: int = 1, closes: bool = False) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.connections = 0
        self.url = URL()
        self._pieces = pieces
        self._closes = closes

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                body = await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
                self.requests.append(head + body)
                answer = self.answers.pop(0)
                step = -(-len(answer) // self._pieces)
                for begin in range(0, len(answer), step):
                    writer.write(answer[begin : begin + step])
                    await writer.drain()
                    await asyncio.sleep(0)
                if self._closes or (b"Content-Length" not in answer and b"chunked" not in answer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with new_session() as opened:
        yield opened


@asynccontextmanager
async def asked(server: PlayedServer, session: aiohttp.ClientSession) -> AsyncIterator[PreparedPost]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = URL(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1/chat?one=1")
    headers = {"Content-Type": "application/json"}
    try:
        yield PreparedPost(session, server.url, headers, aiohttp.ClientTimeout(total=None))
    finally:
        listening.close()


async def held_up(response: aiohttp.ClientResponse | CommonResponse) -> None:
    """Return when nothing more is taken from the connection."""
    transport = cast(Any, response)._transport
    while transport.is_reading():  # noqa: ASYNC110  # no event tells it
        await asyncio.sleep(0)


async def text_of(response: aiohttp.ClientResponse | CommonResponse) -> bytes:
    body = b""
    while not response.content.at_eof():
        body += await response.content.readany()
    return body


@pytest.mark.parametrize("pieces", [1, 7, 200])
@pytest.mark.parametrize("form", COMMON)
async def test_answers_of_a_common_form_come_over_one_connection(session, form, pieces):
    server = PlayedServer(*[COMMON[form]] * 3, pieces=pieces)
    async with asked(server, session) as post:
        for _ in range(3):
            response = await post.send(b"{}")
            assert isinstance(response, CommonResponse)
            assert response.headers["content-type"] == "text/plain"
            assert await text_of(response) == b"Hi"
        assert server.connections == 1


@pytest.mark.parametrize("pieces", [1, 7, 200])
@pytest.mark.parametrize("form", RARE)
async def test_an_answer_of_another_form_is_left_to_the_http_client(session, form, pieces):
    server = PlayedServer(RARE[form], SIZED, pieces=pieces)
    async with asked(server, session) as post:
        response = await post.send(b"{}")
        assert isinstance(response, aiohttp.ClientResponse)
        assert await text_of(response) == b"Hi"
        assert await text_of(await post.send(b"{}")) == b"Hi"


async def test_a_request_has_the_head_that_the_http_client_gives_it(session):
    server = PlayedServer(SIZED, SIZED)
    async with asked(server, session) as post:
        await text_of(await post.send(b"{}"))
        async with session.post(server.url, data=b"{}", headers={"Content-Type": "application/json"}) as response:
            await response.read()
        ours, theirs = (sorted(request.split(b"\r\n")) for request in server.requests)
        assert ours == theirs


@pytest.mark.parametrize("torn", [SIZED.replace(b": 2", b": 9"), CHUNKED[:-5]], ids=["sized", "in chunks"])
async def test_an_answer_that_breaks_off_gives_what_came_and_fails(session, torn):
    server = PlayedServer(torn, SIZED, closes=True)
    async with asked(server, session) as post:
        response = await post.send(b"{}")
        assert await response.content.readany() in (b"H", b"Hi")
        with pytest.raises(aiohttp.ClientPayloadError):
            await text_of(response)
        response.close()
        assert await text_of(await post.send(b"{}")) == b"Hi"


async def test_a_reader_that_does_not_read_holds_the_server_up(session):
    size = 64 * READ_BYTES
    server = PlayedServer(HEAD + b"Content-Length: %d\r\n\r\n" % size + bytes(size), pieces=64)
    async with asked(server, session) as post:
        response = await post.send(b"{}")
        await held_up(response)
        first = response.content.read_nowait()
        assert len(first) < size / 4
        assert len(first + await text_of(response)) == size


@pytest.mark.parametrize("pieces", [1, 50])
async def test_a_large_answer_is_whole_and_can_be_read_a_little_at_a_time(session, pieces):
    body = bytes(range(256)) * (READ_BYTES // 100)
    sized = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    async with asked(PlayedServer(sized, sized, pieces=pieces), session) as post:
        response = await post.send(b"{}")
        read = []
        while not response.content.at_eof():
            read.append(await response.content.readany())
        assert b"".join(read) == body
        assert max(map(len, read)) <= READ_BYTES
        response = await post.send(b"{}")
        first = await response.content.readany()
        while not response.content.is_eof():
            first += await response.content.readany()
        assert first + response.content.read_nowait() == body


@pytest.mark.parametrize("pieces", [1, 7])
async def test_what_cannot_be_read_behind_an_answer_takes_nothing_from_it(session, pieces):
    server = PlayedServer(SIZED + b"no answer at all", SIZED, pieces=pieces)
    async with asked(server, session) as post:
        assert await text_of(await post.send(b"{}")) == b"Hi"
        assert await text_of(await post.send(b"{}")) == b"Hi"


async def test_a_field_of_a_head_may_be_long(session):
    long = SIZED.replace(b"\r\n\r\n", b"\r\nContent-Security-Policy: " + b"x" * 20_000 + b"\r\n\r\n")
    async with asked(PlayedServer(long), session) as post:
        response = await post.send(b"{}")
        assert await text_of(response) == b"Hi"
        assert len(response.headers["Content-Security-Policy"]) == 20_000
