"""The common base of all chat models behind HTTP; a dialect adds its paths and its functions of `wire`."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol

import aiohttp
import structlog

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.core.events import ModelEvent, Reply, as_events
from mnemoir.core.messages import ModelRequest
from mnemoir.ports.llm import Address, LastCalls
from mnemoir.providers.llm.border import provider_errors
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.exchange import Exchange
from mnemoir.wire import upstream

_log = structlog.get_logger(__name__)
_NO_LIMIT = nullcontext()


class EventReader(Protocol):
    """The interface of the StreamReaders of `wire`."""

    finished: bool
    passed_over: int  # unreadable events that a tolerant reader skipped

    def feed(self, data: bytes) -> list[ModelEvent]:
        """The events that `data` completes."""

    def end(self) -> list[ModelEvent]:
        """The remaining events at the end of the stream. Raises ProviderUnavailable for an incomplete answer."""


class RequestWriter(Protocol):
    """The signature of the `write_request` functions of `wire`."""

    def __call__(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        """The JSON body of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A chat protocol: its path below the base URL, the media type of its streams, and its functions of `wire`.

    `stream_path` is the path of streamed calls, None when it is `path` too. With `takes_whole` a JSON object in
    place of a stream is accepted as a whole answer.
    """

    provider: str
    path: str
    stream_path: str | None = None
    media_type: str
    write_request: RequestWriter
    read_reply: Callable[[Mapping[str, Any]], Reply]
    new_reader: Callable[[], EventReader]
    takes_whole: bool = False


class RemoteModel:
    """A ChatModel over HTTP, over a shared session, which this class does not close.

    A call holds `call_limit`, the limit on concurrent calls, until its answer has ended or its caller has left.
    """

    dialect: Dialect
    raw_dialect: Dialect | None = None  # for raw requests; None when the server has no such route

    def __init__(
        self,
        endpoint: Endpoint,
        session: aiohttp.ClientSession,
        call_limit: AbstractAsyncContextManager[object] = _NO_LIMIT,
    ) -> None:
        self._endpoint = endpoint
        self._call_limit = call_limit
        self._exchange = Exchange(endpoint, session)
        self._addresses: dict[bool, Address] = {}
        self.last_calls = LastCalls()

    @property
    def name(self) -> str:
        """The model of requests that name none."""
        return self._endpoint.model

    @property
    def provider(self) -> str:
        """The name of the protocol."""
        return self.dialect.provider

    def address(self, *, stream: bool) -> Address:
        """See the port."""
        found = self._addresses.get(stream)
        if found is None:
            path = self.dialect.stream_path if stream and self.dialect.stream_path else self.dialect.path
            url, needs_key = self._endpoint.shown_url(path), bool(self._endpoint.api_key)
            found = self._addresses[stream] = Address(url=url, needs_key=needs_key)
        return found

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelEvent], None]:
        """The answer's events as they arrive. Close the iterator (`contextlib.aclosing`) to end the upstream call."""
        dialect, body = self._dialect_and_body(request, stream=True)
        path = dialect.stream_path or dialect.path
        with self.last_calls.noting():  # outside the loop, so that it costs nothing per event
            async with (
                self._call_limit,
                self._exchange.open_stream(path, body, for_client=request.for_client) as answer,
            ):
                if dialect.takes_whole and answer.media_type == "application/json":
                    yield as_events(dialect.read_reply(upstream.decode(await answer.whole())))
                    return
                self._check_media_type(answer.media_type, dialect)
                reader = dialect.new_reader()
                async with aclosing(answer.pieces()) as pieces:
                    async for data in pieces:
                        events = reader.feed(data)
                        if events:
                            yield events
                        if reader.finished:
                            await answer.settle()
                            break
                events = reader.end()
                if events:
                    yield events
                if reader.passed_over:
                    _log.warning("events passed over", server=self._endpoint.place, events=reader.passed_over)

    async def ask(self, request: ModelRequest) -> Reply:
        """The whole answer, in one upstream call."""
        dialect, body = self._dialect_and_body(request, stream=False)
        with self.last_calls.noting():
            async with self._call_limit:
                return await self._exchange.whole(
                    dialect.path, body, dialect.read_reply, for_client=request.for_client
                )

    async def aclose(self) -> None:
        """Does nothing: the session is shared and its owner closes it."""

    def _dialect_and_body(self, request: ModelRequest, *, stream: bool) -> tuple[Dialect, dict[str, Any]]:
        """The dialect of a request, and its JSON body."""
        dialect = self.raw_dialect if request.raw and self.raw_dialect is not None else self.dialect
        named = replace(request, model=self._endpoint.model) if request.model == "" else request
        with provider_errors(self._endpoint):
            body = dialect.write_request(named, stream=stream)
        if self._endpoint.stores_by_default and dialect.provider == "openai-chat":
            body.setdefault("store", False)
        return dialect, body

    def _check_media_type(self, media_type: str, dialect: Dialect) -> None:
        """Raise ProviderInvalidOutput for HTML, which a proxy or a wrong port sends, and for JSON in place of events.

        Other types pass, because not all servers send the correct one.
        """
        whole_json = media_type == "application/json" and dialect.media_type == "text/event-stream"
        if media_type == "text/html" or whole_json:
            raise ProviderInvalidOutput(
                f"{self._endpoint.place} answered with {media_type} where a stream was asked for. "
                "Check that the base URL points at the model's API."
            )
