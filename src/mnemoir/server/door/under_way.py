"""Chats under way: their limit, their cancellation by a disconnect or a request, and the streaming of their answers.

Each answer has an id, by which another request can end it, and may have a key, so that the same chat sent twice runs
once. A slow reader blocks `send`, which slows down the engine and, through it, the model.
"""

import asyncio
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import TracebackType
from typing import Any, Protocol

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.core.errors import Conflict, InvalidRequest, MnemoirError, NotFound, Overloaded
from mnemoir.core.events import Event
from mnemoir.core.scope import Principal
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.crowd import watch_end
from mnemoir.server.door.entry import Metrics
from mnemoir.server.door.errors import failure
from mnemoir.server.door.request import read_json
from mnemoir.server.door.shares import Shares

Headers = list[tuple[bytes, bytes]]
_LONGEST_KEY = 128


class Writer(Protocol):
    """Turns events into the bytes of one streamed answer (`wire`)."""

    def events(self, batch: Sequence[Event]) -> bytes:
        """The bytes of a batch; b"" when it has no event for the client."""

    def error(self, exc: MnemoirError) -> bytes:
        """The bytes that end a failed answer."""

    def heartbeat(self) -> bytes:
        """Bytes without content, which keep a silent connection open."""


class Departure:
    """`async with Departure(receive) as departure:` cancels its body when the client disconnects.

    The body is then left without an exception and `happened` is True. The request body must have been read before.
    `asked` is True when the client is still connected and another request asked for the end. Without `receive` the
    body goes on when the client disconnects, until somebody is watched. With the `scope` its connection tells its
    end, where it can.
    """

    def __init__(self, receive: Receive | None, scope: Scope | None = None) -> None:
        self._receive = receive
        self._scope = scope
        self._end_watch: Callable[[], object] | None = None
        self.happened = False
        self.asked = False

    def ask(self) -> None:
        """End the body because a request asked for that."""
        self.asked = True
        self.end()

    def end(self) -> None:
        """End the body as if the client had left."""
        if not self.happened:
            self.happened = True
            self._task.cancel()

    def watch(self, receive: Receive) -> None:
        """End the body when the client disconnects, or now if it has."""
        self._end_watch = None if self._scope is None else watch_end(self._scope, self.end)
        if self._end_watch is None:
            self._end_watch = asyncio.create_task(self._wait(receive), name="watch for the client leaving").cancel

    async def __aenter__(self) -> "Departure":
        task = asyncio.current_task()
        assert task is not None  # an `async with` runs in a task
        self._task = task
        if self._receive is not None:
            self.watch(self._receive)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._end_watch is not None:
            self._end_watch()
        # other code may have cancelled the task too, and then it stays cancelled
        return self.happened and self._task.uncancel() == 0 and kind is asyncio.CancelledError

    async def _wait(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.end()


class Outflow:
    """One streamed answer: one write a batch, and heartbeats while it is silent.

    `head` is called for the headers when the first bytes are sent, `heartbeat` for the bytes of a heartbeat.
    """

    def __init__(self, send: Send, *, head: Callable[[], Headers], heartbeat: Callable[[], bytes], every_s: float):
        self._send = send
        self._head = head
        self._heartbeat = heartbeat
        self._every_s = every_s
        self._loop = asyncio.get_running_loop()
        self._one_at_a_time = asyncio.Lock()
        self._beat: asyncio.Task[None] | None = None
        self.begun = False

    async def __aenter__(self) -> "Outflow":
        self._last = self._loop.time()
        self._timer = self._loop.call_later(self._every_s, self._on_timer)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._beat is not None:
            self._beat.cancel()

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Send `data`, after the head if it is the first. Returns when the connection has room again."""
        async with self._one_at_a_time:
            if not self.begun:
                self.begun = True
                await self._send({"type": "http.response.start", "status": 200, "headers": self._head()})
            await self._send({"type": "http.response.body", "body": data, "more_body": more})
            self._last = self._loop.time()

    def _on_timer(self) -> None:
        # one timer an answer, rescheduled only when it fires: a timer an event would cost more than the event
        silent_s = self._loop.time() - self._last
        if silent_s >= self._every_s and not self._one_at_a_time.locked():
            self._last = self._loop.time()
            self._beat = self._loop.create_task(self.write(self._heartbeat()), name="heartbeat")
            silent_s = 0.0
        self._timer = self._loop.call_later(max(self._every_s - silent_s, 0.001), self._on_timer)


class Places:
    """The limit on chats under way: a chat takes a place or is refused at once, since a queue only hides overload.

    Of several keys, none takes the places that are left to the others.
    """

    def __init__(self, shares: Shares, metrics: Metrics | None) -> None:
        self._shares = shares
        self._metrics = metrics

    @property
    def chat_count(self) -> int:
        """The number of chats under way."""
        return self._shares.held_count

    @contextmanager
    def taking(self, key: str) -> Iterator[None]:
        """Hold a place for a chat of this key while the body runs. Raises Overloaded."""
        if self.chat_count >= self._shares.most:
            raise Overloaded(f"All {self._shares.most} places for chats are taken. Try again in a moment.")
        if not self._shares.has_room(key):
            raise Overloaded("This key has taken its share of the places for chats. Try again in a moment.")
        self._shares.take(key)
        try:
            self._tell()
            yield
        finally:
            self._shares.give_back(key)
            self._tell()

    def _tell(self) -> None:
        if self._metrics is not None:
            self._metrics.active_chats(self.chat_count)


class UnderWay:
    """The answers under way; an ASGI application for `DELETE` on a chat route with the body `{"request_id": …}`."""

    def __init__(self, max_body_bytes: int) -> None:
        self._max_body_bytes = max_body_bytes
        self._answers: dict[str, tuple[Principal, Departure]] = {}
        self._keys: set[Hashable] = set()

    def alone(self, owner: Hashable, key: str | None) -> AbstractContextManager[None]:
        """Raises Conflict while a chat of that owner and key is under way, else runs the body. None is no key."""
        return nullcontext() if key is None else self._alone(owner, key)

    @contextmanager
    def _alone(self, owner: Hashable, key: str) -> Iterator[None]:
        if len(key) > _LONGEST_KEY:
            raise InvalidRequest(f"X-Idempotency-Key must have at most {_LONGEST_KEY} characters.")
        claim = (owner, key)
        if claim in self._keys:
            raise Conflict("The same request is being answered already; wait for that answer.")
        self._keys.add(claim)
        try:
            yield
        finally:
            self._keys.discard(claim)

    @contextmanager
    def answering(self, answer_id: str, principal: Principal, departure: Departure) -> Iterator[None]:
        """An answer that may be ended by its id until the context ends, by callers with the same rights."""
        self._answers[answer_id] = principal, departure
        try:
            yield
        finally:
            self._answers.pop(answer_id, None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer_id = _answer_id_in(await read_json(scope, receive, self._max_body_bytes))
            self._end(answer_id, principal_of(scope))
        except MnemoirError as exc:
            await failure(scope, exc)(scope, receive, send)
            return
        body = orjson.dumps({"status": "cancelled", "request_id": answer_id})
        await Response(body, media_type="application/json")(scope, receive, send)

    def _end(self, answer_id: str, caller: Principal) -> None:
        principal, departure = self._answers.get(answer_id, (None, None))
        if departure is None or principal is None or not caller.stands_for(principal):
            raise NotFound(f"No answer of the id {answer_id[:64]!r} is under way.")
        del self._answers[answer_id]
        departure.ask()


def _answer_id_in(body: Mapping[str, Any]) -> str:
    answer_id = body.get("request_id") if isinstance(body, dict) else None
    if not isinstance(answer_id, str) or not answer_id:
        raise InvalidRequest("The 'request_id' field is required.", field="request_id")
    return answer_id
