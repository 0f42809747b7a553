"""Calls to model servers: retries, time and size limits, and translation of failures into ProviderErrors.

A call is retried only before any part of an answer has arrived: after a failed connection, or a temporary status
(408, 409, 429, 5xx). Unless the settings give a number of tries, a client's own request is not retried once it was
sent: clients retry themselves, and both retries would multiply. A redirect is never followed, because it would carry
the key along. Chat models and embedding models share this module; a dialect adds its path, body and parser.
"""

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, suppress
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import aiohttp
import orjson
from yarl import URL

from mnemoir.core import first_use
from mnemoir.core.clock import utc_now
from mnemoir.core.errors import (
    ProviderError,
    ProviderInvalidOutput,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
)
from mnemoir.providers.http import note_way
from mnemoir.providers.llm.border import provider_error_of, provider_errors, with_message
from mnemoir.providers.llm.encodings import Inflater
from mnemoir.providers.llm.endpoint import DEFAULT_TRIES, Endpoint
from mnemoir.providers.llm.waiting import Waits
from mnemoir.providers.prepared_posts import CommonResponse, PreparedPost
from mnemoir.wire import upstream

if TYPE_CHECKING:
    import stamina
else:
    stamina = first_use.module("stamina")

T = TypeVar("T")

LONGEST_WAIT_S = 20.0
LONGEST_WAIT_FOR_CLIENT_S = 2.0  # when a 429 asks for a longer wait, the client gets the 429
_MOST_ERROR_BYTES = 64 * 1024
_LAST_BYTES_S = 0.05  # how long a finished body may take to end, for its connection to be used again
_FAILED_TO_CONNECT = (aiohttp.ClientConnectionError, OSError)
_NEVER_CONNECTED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)


class _TryAgain(Exception):
    """A failure that may be retried. Stamina logs this exception, so it holds no message of the server."""

    def __init__(self, error: ProviderError, wait_s: float | None = None, *, was_sent: bool = True) -> None:
        super().__init__(error.code, error.status)
        self.error = error
        self.wait_s = wait_s
        self.was_sent = was_sent

    @property
    def is_for_client(self) -> bool:
        """True when the client shall retry its own request itself: it was sent, or the wait is long."""
        is_short = self.error.status == 429 and (self.wait_s or 0) <= LONGEST_WAIT_FOR_CLIENT_S
        return self.was_sent and not is_short


class Answer:
    """A response whose head has arrived and whose body is read in pieces.

    `waits` belongs to the call, and is closed with the answer. The connection is closed unless the body has ended.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        response: aiohttp.ClientResponse | CommonResponse,
        waits: Waits,
        first_by: float,
        end_by: float,
    ) -> None:
        self._endpoint = endpoint
        self._response = response
        self._waits = waits
        self._first_by = first_by
        self._end_by = end_by
        is_packed = response.headers.get("Content-Encoding", "").strip().lower() == "x-gzip"
        self._inflater = Inflater() if is_packed else None

    @property
    def media_type(self) -> str:
        """The content type as the server writes it; "" for none at all."""
        return self._response.headers.get("Content-Type", "")

    def close(self) -> None:
        """End the call."""
        self._waits.close()
        self._response.close()

    async def pieces(self, is_whole: Callable[[], bool] = lambda: False) -> AsyncGenerator[bytes, None]:
        """The body's pieces as they arrive, none empty. Raises ProviderTimeout; ProviderInvalidOutput if too big.

        Once the answer `is_whole`, a connection that breaks or falls silent is the end of it.
        """
        loop = asyncio.get_running_loop()
        content, limits = self._response.content, self._endpoint.timeouts
        size, next_by, patience_s = 0, self._first_by, limits.first_byte_s
        while not content.at_eof():  # no time limit once the whole body has arrived
            try:
                with self._waits.until(min(next_by, self._end_by)):
                    data = await content.readany()
            except TimeoutError as exc:
                if is_whole():
                    return
                raise self._too_late(patience_s, loop.time()) from exc
            except (aiohttp.ClientError, OSError):
                if is_whole():
                    return
                raise
            if not data:
                return
            for piece in (data,) if self._inflater is None else self._inflate(data):
                size += len(piece)
                self._check_size(size)
                yield piece
            patience_s = limits.between_bytes_s
            next_by = loop.time() + patience_s

    def _check_size(self, size: int) -> None:
        if size > self._endpoint.most_bytes:
            raise ProviderInvalidOutput(
                f"{self._endpoint.place} sent an answer of more than {self._endpoint.most_bytes} bytes."
            )

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        assert self._inflater is not None
        try:
            yield from self._inflater.feed(data)
        except zlib.error as exc:
            raise ProviderInvalidOutput(f"{self._endpoint.place} sent a compressed answer that is damaged.") from exc

    async def whole(
        self, most_bytes: int | None = None, is_whole: Callable[[bytes], bool] = lambda _: False
    ) -> bytes:
        """The whole body, or its first `most_bytes`. Raises as `pieces` does; one object is whole, too."""
        content = self._response.content
        if content.is_eof() and self._inflater is None:  # it has come with its head, as short answers do
            data = content.read_nowait()
            self._check_size(len(data))
            return data[:most_bytes]
        body = bytearray()
        async for data in self.pieces(partial(_has_all, body, is_whole)):
            body += data
            if most_bytes is not None and len(body) >= most_bytes:
                return bytes(body[:most_bytes])
        return bytes(body)

    async def settle(self) -> None:
        """Wait briefly for the body's end after its last event, so that the connection can be reused."""
        content, due = self._response.content, asyncio.get_running_loop().time() + _LAST_BYTES_S
        with suppress(TimeoutError, aiohttp.ClientError), self._waits.until(due):  # the connection is closed instead
            while not content.at_eof():
                await content.readany()

    def _too_late(self, patience_s: float, now: float) -> ProviderTimeout:
        place = self._endpoint.place
        if now >= self._end_by:
            return ProviderTimeout(f"{place} did not finish its answer in {self._endpoint.timeouts.total_s:g} s.")
        return ProviderTimeout(f"{place} sent nothing for {patience_s:g} s.")


class Exchange:
    """Calls to one endpoint over a shared session, which this class does not close."""

    def __init__(self, endpoint: Endpoint, session: aiohttp.ClientSession) -> None:
        connect_s = endpoint.timeouts.connect_s
        self._endpoint = endpoint
        self._session = session
        self._posts: dict[str, PreparedPost] = {}  # by path
        self._timeout = aiohttp.ClientTimeout(total=None, connect=connect_s, sock_connect=connect_s)

    async def whole(
        self,
        path: str,
        body: object,
        read: Callable[[bytes, str], T],
        *,
        for_client: bool = False,
        is_whole: Callable[[bytes, str], bool] = lambda *_: False,
    ) -> T:
        """The whole body of the answer as `read` reads it, which gets its media type, too.

        A failure that `read` finds in the body may be retried too. A body whose connection breaks or falls silent is
        read where it is one object, or `is_whole`.
        """

        async def once(started: float) -> T:
            with closing(await self._begin(path, data, started)) as answer:
                given = await answer.whole(is_whole=lambda so_far: is_whole(so_far, answer.media_type))
            try:
                return read(given, answer.media_type)
            except ProviderError as exc:
                raise _again(exc, None) from exc

        with provider_errors(self._endpoint):
            data = _json_bytes(body)
            return await self._run_with_retries(once, for_client)

    @asynccontextmanager
    async def open_stream(self, path: str, body: object, *, for_client: bool = False) -> AsyncIterator[Answer]:
        """The answer once its head has arrived. Leaving the block closes the connection unless the body has ended."""
        with provider_errors(self._endpoint):
            data = _json_bytes(body)
            answer = await self._run_with_retries(lambda started: self._begin(path, data, started), for_client)
            with closing(answer):
                yield answer

    async def _run_with_retries(self, once: Callable[[float], Awaitable[T]], for_client: bool) -> T:
        started = asyncio.get_running_loop().time()
        try:
            return await once(started)  # outside stamina's loop, which costs as much as the rest of a call
        except _TryAgain as failed:
            wait_of = _wait_before_clients if for_client and self._endpoint.tries is None else _wait_of
            return await self._tried_again(once, started, failed, wait_of)

    async def _tried_again(
        self,
        once: Callable[[float], Awaitable[T]],
        started: float,
        first: _TryAgain,
        wait_of: Callable[[Exception], bool | float],
    ) -> T:
        attempts = stamina.retry_context(
            on=wait_of,
            attempts=self._endpoint.tries or DEFAULT_TRIES,
            timeout=None,
            wait_initial=self._endpoint.backoff_s,
            wait_jitter=self._endpoint.backoff_s,
            wait_max=LONGEST_WAIT_S,
        )
        try:
            async for attempt in attempts:
                with attempt:
                    if attempt.num == 1:
                        raise first
                    return await once(started)
        except _TryAgain as last:
            raise last.error from last.error.__cause__
        raise AssertionError("stamina ends with a result or an error")

    async def _begin(self, path: str, data: bytes, started: float) -> Answer:
        """Send the request once. Raises _TryAgain for a temporary failure, else a ProviderError."""
        loop, limits = asyncio.get_running_loop(), self._endpoint.timeouts
        first_by = loop.time() + limits.first_byte_s
        end_by = started + limits.total_s if limits.total_s is not None else float("inf")
        if self._session.closed:
            raise ProviderUnavailable(f"{self._endpoint.place} cannot be asked: Mnemoir is stopping.")
        waits = Waits()
        try:
            with waits.until(min(first_by, end_by)):
                response = await self._post(path, data)
        except BaseException as exc:
            waits.close()
            if not isinstance(exc, _FAILED_TO_CONNECT):
                raise
            if waits.has_ended:
                patience_s = limits.first_byte_s if first_by <= end_by else limits.total_s
                raise ProviderTimeout(f"{self._endpoint.place} gave no answer in {patience_s:g} s.") from exc
            raise self._connection_error(exc, started + limits.connect_s - loop.time()) from exc
        answer = Answer(self._endpoint, response, waits, first_by, end_by)
        if 200 <= response.status < 300:
            return answer
        with closing(answer):
            assert isinstance(response, aiohttp.ClientResponse)
            error = await self._error_of_answer(answer, response)
        raise _again(error, error.retry_after_s)

    async def _post(self, path: str, data: bytes) -> aiohttp.ClientResponse | CommonResponse:
        post = self._posts.get(path)
        if post is None:
            url, headers = self._endpoint.url(path), self._endpoint.headers()
            post = self._posts[path] = PreparedPost(self._session, url, headers, self._timeout)
        way = note_way()
        try:
            return await post.send(data)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            # A server that had closed the idle connection never saw the request. That cannot be told for sure, so the
            # request is sent once more only, and over a new connection.
            if way.is_new:
                raise
        await post.renew()
        return await post.send(data)

    def _connection_error(self, exc: BaseException, left_s: float) -> Exception:
        """The error of a failed connection: _TryAgain while connecting time is left, else final.

        A connection that was open and then broke may have delivered the request.
        """
        error = provider_error_of(exc, self._endpoint) or ProviderUnavailable(
            f"{self._endpoint.place} cannot be reached."
        )
        if left_s <= 0 or isinstance(exc, aiohttp.ClientSSLError):
            return error
        error.__cause__ = exc
        return _TryAgain(error, min(self._endpoint.backoff_s, left_s), was_sent=not isinstance(exc, _NEVER_CONNECTED))

    async def _error_of_answer(self, answer: Answer, response: aiohttp.ClientResponse) -> ProviderError:
        place = self._endpoint.place
        if 300 <= response.status < 400:
            return ProviderRefused(
                f"{place} answered with a redirect ({response.status}), which is not followed, because the key would "
                f"go along.{_destination_of(response)} Set the base URL to the address it redirects to.",
                status=response.status,
            )
        try:
            raw = await answer.whole(_MOST_ERROR_BYTES)
        except (ProviderError, aiohttp.ClientError):  # the status says enough
            raw = b""
        error = upstream.error_in_body(
            upstream.error_value(raw) or "no reason given",
            status=response.status,
            retry_after_s=_retry_after(response.headers.get("Retry-After")),
        )
        return with_message(error, self._endpoint, f"{place} answered {response.status}: {error.message}")


def _destination_of(response: aiohttp.ClientResponse) -> str:
    """Where a redirect leads, without what may be a secret: user, password and query; "" where it does not say."""
    try:
        destination = response.url.join(URL(response.headers["Location"]))
        return f" It leads to {destination.with_user(None).with_query(None).with_fragment(None)}."
    except (KeyError, ValueError):
        return ""


def _again(error: ProviderError, wait_s: float | None) -> Exception:
    """_TryAgain for a temporary error, else the error itself."""
    return _TryAgain(error, wait_s) if upstream.is_passing(error) else error


def _wait_of(exc: Exception) -> bool | float:
    """Stamina's wait in seconds: the server's, or True for stamina's own backoff; False for no retry."""
    if not isinstance(exc, _TryAgain):
        return False
    return True if exc.wait_s is None else min(LONGEST_WAIT_S, exc.wait_s)


def _wait_before_clients(exc: Exception) -> bool | float:
    """The same for a client's own request: False when the client shall retry itself."""
    return False if isinstance(exc, _TryAgain) and exc.is_for_client else _wait_of(exc)


def _retry_after(value: str | None) -> float | None:
    """Seconds of a `Retry-After` header, which is a number or a date; None when there is none or it is invalid."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - utc_now()).total_seconds())
    except (ValueError, TypeError):
        return None


def _has_all(body: bytearray, is_whole: Callable[[bytes], bool]) -> bool:
    return _is_one_object(body) or is_whole(bytes(body))


def _is_one_object(body: bytes | bytearray) -> bool:
    """True for one JSON object, behind which nothing of an answer can be missing."""
    try:
        return isinstance(orjson.loads(body), dict)
    except orjson.JSONDecodeError:
        return False


def _json_bytes(body: object) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError as exc:
        raise ProviderRefused(f"The request cannot be written as JSON: {exc}") from exc
