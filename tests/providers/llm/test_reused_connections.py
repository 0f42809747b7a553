"""Connections to model servers that are closed while nobody uses them, or break behind an answer; compression."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress

import aiohttp
import pytest

from mnemoir.core.errors import ProviderError, ProviderInvalidOutput, ProviderUnavailable
from mnemoir.core.events import Finished, ModelEvent, Text
from mnemoir.core.messages import ModelRequest, text_message
from mnemoir.providers.llm.endpoint import Endpoint, Timeouts
from mnemoir.providers.llm.openai_chat import OpenAIChat
from mnemoir.providers.llm.remote_model import RemoteModel
from tests.wire.answer_kit import DONE, END, HI, as_json, chunk, sse, whole

REQUEST = ModelRequest(messages=(text_message("user", "Hello?"),), for_client=True)
WHOLE = as_json(whole({"content": "Hi"}))


def head(*lines: str) -> bytes:
    return "\r\n".join(("HTTP/1.1 200 OK", *lines, "", "")).encode()


def sized(body: bytes, *lines: str) -> bytes:
    return head("Content-Type: application/json", f"Content-Length: {len(body)}", *lines) + body


class RawServer:
    """Answers each request by what `answer` gives for the numbers of its connection and of the request on it.

    A connection is closed behind an answer of None, and behind one that `closes`.
    """

    def __init__(self, answer: Callable[[int, int], bytes | None], *, closes: bool = False) -> None:
        self.asked: list[int] = []  # requests on each connection
        self._answer = answer
        self._closes = closes

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = len(self.asked)
        self.asked.append(0)
        with_body = asyncio.IncompleteReadError, ConnectionError
        try:
            while True:
                told = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(told.split(b"content-length:")[1].split(b"\r\n")[0]))
                self.asked[connection] += 1
                answer = self._answer(connection, self.asked[connection])
                writer.write(answer or b"")
                await writer.drain()
                if answer is None or self._closes:
                    break
        except with_body:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def model_on(
    session: aiohttp.ClientSession, server: RawServer, kind: type[RemoteModel] = OpenAIChat, **limits: float
) -> AsyncIterator[RemoteModel]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    timeouts = Timeouts(**{"first_byte_s": 20, "between_bytes_s": 20, **limits})
    path = "/v1" if kind is OpenAIChat else ""
    endpoint = Endpoint(base_url=f"http://127.0.0.1:{port}{path}", model="m", timeouts=timeouts, backoff_s=0, tries=1)
    try:
        yield kind(endpoint, session)
    finally:
        listening.close()


async def streamed(model: RemoteModel) -> Sequence[ModelEvent]:
    return [event async for batch in model.stream(REQUEST) for event in batch]


def text_of(events: Sequence[ModelEvent]) -> str:
    assert isinstance(events[-1], Finished)
    return "".join(event.text for event in events if isinstance(event, Text))


async def test_a_kept_connection_that_was_closed_without_a_byte_is_no_failure(session: aiohttp.ClientSession) -> None:
    def answer(connection: int, request: int) -> bytes | None:
        return sized(WHOLE) if request == 1 else None

    server = RawServer(answer)
    async with model_on(session, server) as model:
        for _ in range(3):
            assert (await model.ask(REQUEST)).text == "Hi"
        assert text_of(await streamed(model)) == "Hi"
    assert server.asked == [2, 2, 2, 1]
    assert model.last_calls.failed_at is None


async def test_several_kept_connections_that_were_closed_are_left_for_a_new_one(
    session: aiohttp.ClientSession,
) -> None:
    both = asyncio.Barrier(2)

    class Meeting(RawServer):
        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if len(self.asked) < 2:
                self.asked.append(0)
                await reader.readuntil(b"}")
                await both.wait()
                writer.write(sized(WHOLE))
                await reader.readuntil(b"\r\n\r\n")
                writer.close()
            else:
                await super().serve(reader, writer)

    server = Meeting(lambda connection, request: sized(WHOLE))
    async with model_on(session, server) as model:
        await asyncio.gather(model.ask(REQUEST), model.ask(REQUEST))
        assert (await model.ask(REQUEST)).text == "Hi"
    assert server.asked == [0, 0, 1]


async def test_a_new_connection_that_is_closed_without_a_byte_is_a_failure(session: aiohttp.ClientSession) -> None:
    server = RawServer(lambda connection, request: None)
    async with model_on(session, server) as model:
        with pytest.raises(ProviderUnavailable, match="closed the connection without an answer"):
            await model.ask(REQUEST)
    assert server.asked == [1]


@pytest.mark.parametrize("kept", [1, 5])
async def test_a_request_that_closes_its_connection_is_sent_twice_at_most(
    session: aiohttp.ClientSession, kept: int
) -> None:
    all_there = asyncio.Barrier(kept)

    class Dying(RawServer):
        """Answers the first request of each of the first connections, once all are there, and closes at any other."""

        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            number = len(self.asked)
            self.asked.append(0)
            with suppress(asyncio.IncompleteReadError), closing(writer):
                while True:
                    await reader.readuntil(b"}]")
                    self.asked[number] += 1
                    if number >= kept or self.asked[number] > 1:
                        return
                    await all_there.wait()
                    writer.write(sized(WHOLE))

    server = Dying(lambda connection, request: None)
    async with model_on(session, server) as model:
        await asyncio.gather(*(model.ask(REQUEST) for _ in range(kept)))
        with pytest.raises(ProviderUnavailable, match="closed the connection without an answer"):
            await model.ask(REQUEST)
    assert sorted(server.asked) == [1] * kept + [2]


async def test_a_request_whose_answer_had_begun_is_not_sent_again(session: aiohttp.ClientSession) -> None:
    class Breaking(RawServer):
        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.asked.append(0)
            with closing(writer):
                for answer in (sized(WHOLE), head()[:12]):
                    await reader.readuntil(b"}]")
                    self.asked[-1] += 1
                    writer.write(answer)

    server = Breaking(lambda connection, request: None)
    async with model_on(session, server) as model:
        assert (await model.ask(REQUEST)).text == "Hi"
        with pytest.raises(ProviderUnavailable):
            await model.ask(REQUEST)
    assert server.asked == [2]


CHUNKED = head("Content-Type: text/event-stream", "Transfer-Encoding: chunked")


def in_chunks(*frames: object) -> bytes:
    body = sse(*frames)
    return CHUNKED + f"{len(body):x}\r\n".encode() + body + b"\r\n"


TORN = {
    "no end of the chunks": in_chunks(HI, END),
    "a part of a chunk": in_chunks(HI, END) + b"40\r\ndata: {",
    "no bytes of a length": head("Content-Type: text/event-stream", "Content-Length: 9999") + sse(HI, END),
}


@pytest.mark.parametrize("name", TORN)
async def test_a_body_that_is_torn_behind_the_reason_of_the_end_is_whole(
    session: aiohttp.ClientSession, name: str
) -> None:
    async with model_on(session, RawServer(lambda connection, request: TORN[name], closes=True)) as model:
        assert text_of(await streamed(model)) == "Hi "
        assert (await model.ask(REQUEST)).text == "Hi "  # of a server that streams whatever is asked for


@pytest.mark.parametrize(
    "frames", [[HI], [chunk({"content": "H"}, "stop"), chunk({"content": "i"}, "stop")]], ids=["none", "in each"]
)
async def test_a_body_that_is_torn_without_a_reason_of_its_end_is_not(
    session: aiohttp.ClientSession, frames: list[object]
) -> None:
    async with model_on(session, RawServer(lambda *_: in_chunks(*frames), closes=True)) as model:
        with pytest.raises(ProviderError):
            await streamed(model)
        with pytest.raises(ProviderError):
            await model.ask(REQUEST)


@pytest.mark.real_time
async def test_silence_behind_the_reason_of_the_end_is_its_end(session: aiohttp.ClientSession) -> None:
    async with model_on(session, RawServer(lambda *_: in_chunks(HI, END)), between_bytes_s=0.1) as model:
        assert text_of(await streamed(model)) == "Hi "


async def test_one_object_in_a_torn_body_is_whole_and_half_of_one_is_not(session: aiohttp.ClientSession) -> None:
    for body in (WHOLE, WHOLE[:-1]):
        torn = head("Content-Type: application/json", "Content-Length: 9999") + body
        async with model_on(session, RawServer(lambda *_, torn=torn: torn, closes=True)) as model:
            if body == WHOLE:
                assert (await model.ask(REQUEST)).text == "Hi"
                assert text_of(await streamed(model)) == "Hi"
            else:
                with pytest.raises(ProviderUnavailable, match="broke off"):
                    await model.ask(REQUEST)
                with pytest.raises(ProviderUnavailable, match="broke off"):
                    await streamed(model)


@pytest.mark.parametrize("body", [WHOLE, sse(HI, END, DONE)], ids=["whole", "stream"])
@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "X-GZIP", "deflate"])
async def test_a_compressed_answer_is_read(session: aiohttp.ClientSession, encoding: str, body: bytes) -> None:
    packed = zlib.compress(body) if encoding == "deflate" else gzip.compress(body)
    answer = sized(packed, f"Content-Encoding: {encoding}")
    async with model_on(session, RawServer(lambda *_: answer)) as model:
        assert (await model.ask(REQUEST)).text.strip() == "Hi"
        assert text_of(await streamed(model)).strip() == "Hi"


@pytest.mark.parametrize("encoding", ["br", "zstd"])
async def test_a_compression_that_is_not_read_is_told_by_name(session: aiohttp.ClientSession, encoding: str) -> None:
    answer = sized(b"\x0b\x02\x80", f"Content-Encoding: {encoding}")
    async with model_on(session, RawServer(lambda *_: answer)) as model:
        with pytest.raises(ProviderInvalidOutput, match=rf"compressed its answer as '{encoding}'"):
            await model.ask(REQUEST)


async def test_a_damaged_compression_is_told(session: aiohttp.ClientSession) -> None:
    answer = sized(b"no gzip", "Content-Encoding: x-gzip")
    async with model_on(session, RawServer(lambda *_: answer)) as model:
        with pytest.raises(ProviderInvalidOutput, match="compressed"):
            await model.ask(REQUEST)
