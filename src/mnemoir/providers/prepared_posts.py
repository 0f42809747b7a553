"""POSTs to one address, whose head is equal but for the length, over the connections of an aiohttp session.

aiohttp opens the connections and keeps those that are free. In between, an answer of the form that nearly all have is
read here: 200, with a length or in chunks, not compressed, on a connection that stays open. A request of aiohttp
itself costs three times as much. Any other answer, and a connection that ends before one has begun, is left to
aiohttp, with every byte that came: it reads what is rare, and tells what is wrong with it.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Self, cast

import aiohttp
import httptools
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.helpers import TimerNoop
from multidict import CIMultiDict
from yarl import URL

from mnemoir.providers.http import LONGEST_FIELD, READ_BYTES, in_turns, note_way, request_class_of

_MOST_HEAD_BYTES = 8190  # longer ones are rare
_MOST_UNREAD_BYTES = 2 * READ_BYTES
_LENGTH = "Content-Length"


class PreparedPost:
    """The POSTs to one URL over a session that this class does not close."""

    def __init__(
        self, session: aiohttp.ClientSession, url: URL, headers: Mapping[str, str], timeout: aiohttp.ClientTimeout
    ) -> None:
        self._session = session
        self._url = url
        self._headers = headers
        self._timeout = timeout
        self._request = self._made_request()
        self._head = b"" if self._request is None or self._request.proxy else _head_of(self._request)

    async def send(self, body: bytes) -> "aiohttp.ClientResponse | CommonResponse":
        """The response once its head has come. Raises aiohttp's errors."""
        data = in_turns(body)
        if self._request is None or not self._head or not isinstance(data, bytes):
            return await self._session.post(
                self._url, data=data, headers=self._headers, allow_redirects=False, timeout=self._timeout
            )
        connection = await self._connect(self._request)
        response = CommonResponse(connection)
        try:
            response.ask(b"%b%d\r\n\r\n%b" % (self._head, len(data), data))
            if await response.has_common_head():
                return response
        except BaseException:
            response.close()
            raise
        try:
            return await self._rare_response(self._request, connection)
        except aiohttp.ServerDisconnectedError as exc:
            if not response.has_begun:
                raise
            raise aiohttp.ClientConnectionError("Server disconnected within the head of its answer") from exc

    async def renew(self) -> None:
        """Close the connections that are free, and open one. Raises aiohttp's errors.

        Where the server closed one of them, it has most likely closed all, as when it was restarted.
        """
        if self._request is None:
            return
        way = note_way()
        while not way.is_new:
            connection = await self._connect(self._request)
            if way.is_new:
                connection.release()
            else:
                connection.close()

    def _made_request(self) -> aiohttp.ClientRequest | None:
        """The request as aiohttp makes it; None for a session of another kind."""
        make = request_class_of(self._session)
        if make is None:
            return None
        headers = CIMultiDict({**self._session.headers, **self._headers})
        loop = asyncio.get_running_loop()
        return make("POST", self._url, headers=headers, loop=loop, session=self._session)

    async def _connect(self, request: aiohttp.ClientRequest) -> Connection:
        connector = self._session.connector
        assert connector is not None  # the session is open
        while True:
            try:
                connection = await connector.connect(request, traces=[], timeout=self._timeout)
            except TimeoutError as exc:
                raise aiohttp.ConnectionTimeoutError(f"Connection timeout to host {self._url}") from exc
            assert connection.protocol is not None
            if not connection.protocol.should_close:  # else bytes came before any request
                return connection
            connection.close()

    async def _rare_response(self, request: aiohttp.ClientRequest, connection: Connection) -> aiohttp.ClientResponse:
        response = aiohttp.ClientResponse(
            "POST",
            self._url,
            writer=None,
            continue100=None,
            timer=TimerNoop(),
            request_info=request.request_info,
            traces=[],
            loop=asyncio.get_running_loop(),
            session=self._session,
            stream_writer=cast(Any, SimpleNamespace(output_size=0)),
        )
        try:
            return await response.start(connection)
        except BaseException:
            response.close()
            raise


class CommonResponse(asyncio.Protocol):
    """A response of the common form, as far as it is used; while it comes it is the protocol of its connection.

    It is its own `content`, with the methods of aiohttp's `StreamReader` that are used.
    """

    status = 200
    has_begun = False  # before aiohttp had the connection again

    def __init__(self, connection: Connection) -> None:
        """It takes the connection over with `ask`."""
        handler, transport = connection.protocol, connection.transport
        assert handler is not None
        assert transport is not None
        self.headers: CIMultiDict[str] = CIMultiDict()
        self._connection = connection
        self._handler: ResponseHandler = handler
        self._transport: asyncio.Transport = transport
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        self._fields: list[tuple[str, str]] = []
        self._head_bytes = 0
        self._begun: list[bytes] | None = []  # what came of the head, until that is known to be common
        self._is_common: bool | None = None  # None until the head has come
        self._pieces: deque[bytes] = deque()
        self._unread = 0
        self._is_paused = self._has_ended = False
        self._failure: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def ask(self, request: bytes) -> None:
        """Send the request, whose answer comes here."""
        self._transport.set_protocol(self)
        self._transport.write(request)

    @property
    def content(self) -> Self:
        """The body."""
        return self

    async def has_common_head(self) -> bool:
        """Whether the head is of the common form, once it has come; where it is not, aiohttp has the connection."""
        while self._is_common is None:
            await self._wait()
        return self._is_common

    def close(self) -> None:
        """Close the connection, unless the body has come to its end."""
        if not self._has_ended:
            self._parser = None
            self._connection.close()

    # --- the body

    def is_eof(self) -> bool:
        """Whether the whole body has come."""
        return self._has_ended

    def at_eof(self) -> bool:
        """Whether the whole body was read."""
        return self._has_ended and not self._pieces

    def read_nowait(self) -> bytes:
        """What has come and was not read."""
        return self._take(self._unread)

    async def readany(self) -> bytes:
        """The next of what has come, once there is any, at most READ_BYTES: all of it is worked on at once.

        b"" at the end. Raises aiohttp's ClientPayloadError.
        """
        while not self._pieces and not self._has_ended:
            if self._failure is not None:
                raise self._failure
            await self._wait()
        return self._take(READ_BYTES)

    def _take(self, most: int) -> bytes:
        if self._unread <= most:
            pieces, self._pieces, self._unread = self._pieces, deque(), 0
            if self._is_paused:
                self._resume()
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self._unread -= most
        taken: list[bytes] = []
        while most:
            piece = self._pieces.popleft()
            if len(piece) > most:
                self._pieces.appendleft(piece[most:])
                piece = piece[:most]
            taken.append(piece)
            most -= len(piece)
        return b"".join(taken)

    async def _wait(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # --- the connection's side

    def data_received(self, data: bytes) -> None:
        if self._parser is None:  # it was closed
            return
        fault: Exception | None = None
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as exc:
            fault = exc
        if self._begun is not None:
            self._begun.append(data)
            if self._is_common is None and fault is None and sum(map(len, self._begun)) <= READ_BYTES:
                return
            if not self._is_common:
                self._leave()
                return
            self._begun = None
        if self._has_ended:
            self._give_back(may_be_kept=fault is None)
        elif fault is not None:
            self._fail(f"Response payload is not completed: {fault!r}")
            self._transport.close()
        elif self._unread > _MOST_UNREAD_BYTES and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._begun is not None and self._parser is not None:
            self._leave()
        else:
            self._fail("Response payload is not completed: the connection was closed")
        self._handler.connection_lost(exc)

    def pause_writing(self) -> None:
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        self._handler.resume_writing()

    def _leave(self) -> None:
        """Leave the connection to aiohttp, with what has come."""
        begun, self._begun, self._parser, self._is_common = self._begun or (), None, None, False
        self.has_begun = bool(begun)
        self._transport.set_protocol(self._handler)
        self._handler.set_response_params(
            read_until_eof=True,
            read_bufsize=READ_BYTES,
            max_line_size=LONGEST_FIELD,
            max_field_size=LONGEST_FIELD,
        )
        for data in begun:
            self._handler.data_received(data)
        self._wake()

    def _give_back(self, *, may_be_kept: bool) -> None:
        self._parser = None
        if self._is_paused:
            self._resume()
        if not may_be_kept:
            self._handler.force_close()
        self._transport.set_protocol(self._handler)
        self._connection.release()

    def _resume(self) -> None:
        self._is_paused = False
        self._transport.resume_reading()

    def _fail(self, message: str) -> None:
        self._parser = None
        self._failure = self._failure or aiohttp.ClientPayloadError(message)
        self._wake()

    # --- the parser's side

    def on_message_begin(self) -> None:
        if self._has_ended:
            raise ValueError("a second answer")  # the parser makes an error of it

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value)
        self._fields.append((name.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape")))

    def on_headers_complete(self) -> None:
        if self._is_common is not None:
            return
        assert self._parser is not None
        self.headers = CIMultiDict(self._fields)
        self._is_common = (
            self._parser.get_status_code() == self.status
            and self._parser.get_http_version() == "1.1"
            and self._parser.should_keep_alive()
            and ("Content-Length" in self.headers) != ("Transfer-Encoding" in self.headers)
            and self.headers.get("Transfer-Encoding", "chunked").lower() == "chunked"
            and "Content-Encoding" not in self.headers
            and "Upgrade" not in self.headers
            and self._head_bytes < _MOST_HEAD_BYTES
        )

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)
        self._unread += len(body)

    def on_message_complete(self) -> None:
        self._has_ended = True


def _head_of(request: aiohttp.ClientRequest) -> bytes:
    """The head up to the number of its length, which comes last."""
    lines = [f"POST {request.url.raw_path_qs} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in request.headers.items() if name != _LENGTH]
    return "\r\n".join([*lines, f"{_LENGTH}: "]).encode()
