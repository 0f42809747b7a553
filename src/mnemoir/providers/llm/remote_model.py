"""What every model behind HTTP does alike; a dialect adds its path and its functions of `wire`."""

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
    """A StreamReader of `wire`."""

    finished: bool
    passed_over: int  # events that could not be read, where the reader does not take them for an error

    def feed(self, data: bytes) -> list[ModelEvent]:
        """The events that `data` completes."""

    def end(self) -> list[ModelEvent]:
        """What was held back; raises ProviderUnavailable for an answer cut short."""


class RequestWriter(Protocol):
    """A `write_request` of `wire`."""

    def __call__(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        """The body to send."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What a protocol adds: its path behind the base URL, its media type when streamed, its side of `wire`.

    `stream_path` is where streams are asked for, None where that is `path` too. With `takes_whole` a JSON object in
    place of a stream is a whole answer.
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
    """A ChatModel over HTTP, over a session that belongs to its caller.

    A call takes one of `places` until its answer has ended, or its caller has left.
    """

    dialect: Dialect
    raw_dialect: Dialect | None = None  # of raw requests, where its server takes any

    def __init__(
        self,
        endpoint: Endpoint,
        session: aiohttp.ClientSession,
        places: AbstractAsyncContextManager[object] = _NO_LIMIT,
    ) -> None:
        self._endpoint = endpoint
        self._places = places
        self._exchange = Exchange(endpoint, session)
        self._addresses: dict[bool, Address] = {}
        self.last_calls = LastCalls()

    @property
    def name(self) -> str:
        """The model asked when a request names none."""
        return self._endpoint.model

    @property
    def provider(self) -> str:
        """The protocol spoken."""
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
        """The answer as it comes. Close the iterator (`contextlib.aclosing`) to end the call upstream at once."""
        dialect, body = self._spoken(request, stream=True)
        path = dialect.stream_path or dialect.path
        with self.last_calls.noting():  # no cost per event: the loop is inside
            async with self._places, self._exchange.streamed(path, body, for_client=request.for_client) as answer:
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
        """The whole answer, in one call upstream."""
        dialect, body = self._spoken(request, stream=False)
        with self.last_calls.noting():
            async with self._places:
                return await self._exchange.whole(
                    dialect.path, body, dialect.read_reply, for_client=request.for_client
                )

    async def aclose(self) -> None:
        """Nothing is held here: the session is shared."""

    def _spoken(self, request: ModelRequest, *, stream: bool) -> tuple[Dialect, dict[str, Any]]:
        """The protocol of a request, and its body."""
        dialect = self.raw_dialect if request.raw and self.raw_dialect is not None else self.dialect
        named = replace(request, model=self._endpoint.model) if request.model == "" else request
        with provider_errors(self._endpoint):
            body = dialect.write_request(named, stream=stream)
        if self._endpoint.stores_by_default and dialect.provider == "openai-chat":
            body.setdefault("store", False)
        return dialect, body

    def _check_media_type(self, media_type: str, dialect: Dialect) -> None:
        """HTML comes from a proxy or a wrong port. Other types pass: not all servers name the right one."""
        whole_json = media_type == "application/json" and dialect.media_type == "text/event-stream"
        if media_type == "text/html" or whole_json:
            raise ProviderInvalidOutput(
                f"{self._endpoint.place} answered with {media_type} where a stream was asked for. "
                "Check that the base URL points at the model's API."
            )
