"""The common base of all chat models behind HTTP; a dialect adds its paths and its functions of `wire`."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    aclosing,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import aiohttp
import structlog

from mnemoir.core.errors import ProviderError, ProviderRefused
from mnemoir.core.events import ModelEvent, Reply
from mnemoir.core.messages import ModelRequest
from mnemoir.ports.llm import Address, LastCalls
from mnemoir.providers.llm.border import provider_errors
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.exchange import Exchange
from mnemoir.providers.llm.refused_members import RefusedMembers, left_out
from mnemoir.wire.answers.answer_reader import AnswerReader

_log = structlog.get_logger(__name__)
_NO_LIMIT = nullcontext()

T = TypeVar("T")


class RequestWriter(Protocol):
    """The signature of the `write_request` functions of `wire`."""

    def __call__(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        """The JSON body of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A chat protocol: its path below the base URL, and its functions of `wire`.

    `stream_path` is the path of streamed calls, None when it is `path` too. `reader` is the one reader of its
    answers, whole or streamed.
    """

    provider: str
    path: str
    stream_path: str | None = None
    write_request: RequestWriter
    reader: type[AnswerReader]


class RemoteModel:
    """A ChatModel over HTTP, over a shared session, which this class does not close.

    A call holds `call_limit`, the limit on concurrent calls, until its answer has ended or its caller has left.
    """

    dialect: Dialect
    raw_dialect: Dialect | None = None  # for raw requests; None when the server has no such route
    loading_dialect: Dialect | None = None  # for requests without messages; None when they are like any other

    def __init__(
        self,
        endpoint: Endpoint,
        session: aiohttp.ClientSession,
        call_limit: AbstractAsyncContextManager[object] = _NO_LIMIT,
    ) -> None:
        self._endpoint = endpoint
        self._call_limit = call_limit
        self._exchange = Exchange(endpoint, session)
        self._refused = RefusedMembers(session, endpoint.base_url)
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
        dialect, request, body = self._dialect_and_body(request, stream=True)
        with self.last_calls.noting():  # outside the loop, so that it costs nothing per event
            async with self._call_limit, AsyncExitStack() as opened:
                answer, asked = await self._ask_server(
                    body,
                    request,
                    lambda body: opened.enter_async_context(
                        self._exchange.open_stream(
                            dialect.stream_path or dialect.path, body, for_client=request.for_client
                        )
                    ),
                )
                if asked is not body:
                    yield [left_out(body, asked)]
                reader = dialect.reader(answer.media_type)
                async with aclosing(answer.pieces(lambda: reader.is_whole)) as pieces:
                    async for data in pieces:
                        events = reader.feed(data)
                        if events:
                            yield events
                            reader.check()
                        if reader.finished:
                            await answer.settle()
                            break
                events = reader.end()
                if events:
                    yield events
                    reader.check()

    async def ask(self, request: ModelRequest) -> Reply:
        """The whole answer, in one upstream call."""
        dialect, request, body = self._dialect_and_body(request, stream=False)

        def is_whole(data: bytes, media_type: str) -> bool:
            reader = dialect.reader(media_type)
            with suppress(ProviderError):
                reader.feed(data)
            return reader.is_whole

        with self.last_calls.noting():
            async with self._call_limit:
                reply, asked = await self._ask_server(
                    body,
                    request,
                    lambda body: self._exchange.whole(
                        dialect.path, body, dialect.reader.read_body, for_client=request.for_client, is_whole=is_whole
                    ),
                )
        return reply if asked is body else replace(reply, notes=(left_out(body, asked).text, *reply.notes))

    async def _ask_server(
        self, body: dict[str, Any], request: ModelRequest, ask: Callable[[dict[str, Any]], Awaitable[T]]
    ) -> tuple[T, dict[str, Any]]:
        """What `ask` gives, and the body that it was asked with: `body` itself, or one with fewer members.

        Members of ours that the server is known to refuse are left out; it is asked again without those that it
        refuses now.
        """
        body = self._refused.trim(body, request)
        while True:  # each time with fewer of them, as many servers name only the first that they do not know
            try:
                return await ask(body), body
            except ProviderRefused as exc:
                again = self._refused.body_after(exc, body, request)
                if again is None:
                    raise
            _log.info("members refused", server=self._endpoint.place, names=sorted(body.keys() - again.keys()))
            body = again

    def _errors(self) -> AbstractContextManager[None]:
        """Raise errors of answers with the name of this server."""
        return provider_errors(self._endpoint)

    async def aclose(self) -> None:
        """Does nothing: the session is shared and its owner closes it."""

    def _dialect_and_body(
        self, request: ModelRequest, *, stream: bool
    ) -> tuple[Dialect, ModelRequest, dict[str, Any]]:
        """The dialect of a request, the request with its model, and its JSON body."""
        dialect = self.dialect
        if request.raw:
            dialect = self.raw_dialect or dialect
        elif not request.messages:
            dialect = self.loading_dialect or dialect
        named = replace(request, model=self._endpoint.model) if request.model == "" else request
        with provider_errors(self._endpoint):
            body = dialect.write_request(named, stream=stream)
        if dialect.provider == "openai-chat" and self._endpoint.stores_by_default:
            body.setdefault("store", False)
        return dialect, named, body
