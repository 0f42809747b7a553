"""Answers that go on without a reader, for clients that take them up again, such as the web UI after a reload.

A chat is one only if its client asks for that and its conversation is kept; see `ChatRoute`. The answer's events are
numbered from 1, and each is the bytes of one batch, closed by its number as a server-sent id. Any number of readers
follow them, the request that asked is the first. A reader that knows the event it read last goes on behind it;
another one begins with all that came so far, as one event.

The newest events are held, `MOST_BYTES` at most. The model waits where the reader that is furthest ahead, or was when
it left, has not read them; a reader that falls out of what is held is ended, and can begin anew.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from types import TracebackType

from starlette.types import Receive

from mnemoir.core.errors import MnemoirError
from mnemoir.core.events import Event, Gathering, as_events
from mnemoir.core.scope import Scope as Owner
from mnemoir.server.door.options import MIB
from mnemoir.server.door.under_way import Departure, Outflow, Writer
from mnemoir.workflows.run import Caller

MOST_BYTES = 4 * MIB
MOST_WITHOUT_READER = 4  # of one user
_AT_ONCE = 64  # events in one write to a reader that is behind


class LiveAnswer:
    """One answer under way: its newest events, and what all of them came to.

    It is the `Writer` and the `Outflow` of its chat in one: `events` is followed by `write`, in an `async with`.
    `scope` names the conversation. `on_readers` is called when the number of readers has changed.
    """

    def __init__(self, id: str, run_id: str, scope: Owner, on_readers: Callable[[], None]) -> None:
        self.id = id
        self.run_id = run_id
        self.scope = scope
        self.question_id: int | None = None
        self.is_unread = False  # its last reader has left
        self.has_ended = False
        self.last = 0  # the number of the newest event
        self._on_readers = on_readers
        self._readers = 0
        self._events: list[bytes] = []
        self._bytes = 0
        self._sent = 0  # the number of the newest event that any reader has been sent
        self._gathered = Gathering()
        self._batch: Sequence[Event] = ()
        self._moved = asyncio.Event()

    def begin(self, writing: Callable[[], Writer], outflow: Outflow, receive: Receive) -> "LiveAnswer":
        """Prepare for events, written by writers of that kind; `outflow` and `receive` are the first reader's."""
        self._writing = writing
        self._writer = writing()
        self._outflow = outflow
        self._receive = receive
        return self

    # --- the engine's side

    @property
    def begun(self) -> bool:
        """True when an error can only be an event: the first reader has been sent the head, or has left."""
        return self._outflow.begun or self._reading.done()

    async def __aenter__(self) -> "LiveAnswer":
        self._reading = asyncio.create_task(self._first_reader(), name="first reader of an answer")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reading.cancel()
        await asyncio.wait({self._reading})

    def events(self, batch: Sequence[Event]) -> bytes:
        """The bytes of a batch; b"" when it has no event for the client."""
        self._batch = batch
        return self._writer.events(batch)

    def error(self, exc: MnemoirError) -> bytes:
        """The bytes that end a failed answer."""
        return self._writer.error(exc)

    def heartbeat(self) -> bytes:
        """Bytes without content, which keep a silent connection open."""
        return self._writer.heartbeat()

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Add an event. Returns when there was room for it and, at the end, when the first reader has read it."""
        event = b"%bid: %d\n\n" % (data, self.last + 1) if data else b""
        while more and not self._has_room(len(event)):
            await self._moved.wait()
        if event:
            self._gathered.take(self._batch)
            self._batch = ()
            self._events.append(event)
            self._bytes += len(event)
            self.last += 1
        self.has_ended = not more
        self._move()
        if self.has_ended:
            await self._reading

    def end(self) -> None:
        """No event follows: readers are ended when they have read those that are there."""
        self.has_ended = True
        self._on_readers()
        self._move()

    # --- the readers' side

    def place(self, number: int) -> int:
        """The event that a reader goes on behind, who read `number` last; 0 when it must begin anew."""
        return number if self._last_dropped_event <= number <= self.last else 0

    async def read(self, after: int) -> AsyncGenerator[bytes, None]:
        """The events behind that number, or with 0 all that came so far and the events behind it, to the end.

        Asking for more says that the bytes were sent. Ends early for a reader that fell out of what is held.
        """
        self._count_readers(1)
        try:
            if not after and self.last:
                after = self.last
                yield self._so_far()
                self._note_sent(after)
            while after >= self._last_dropped_event:
                if after < self.last:
                    begin = after - self._last_dropped_event
                    events = self._events[begin : begin + _AT_ONCE]
                    yield b"".join(events)
                    after += len(events)
                    self._note_sent(after)
                elif self.has_ended:
                    return
                else:
                    await self._moved.wait()
        finally:
            self._count_readers(-1)

    async def _first_reader(self) -> None:
        async with Departure(self._receive), self._outflow as out:
            async with aclosing(self.read(0)) as events:
                async for data in events:
                    await out.write(data)
            await out.write(b"", more=False)

    def _count_readers(self, change: int) -> None:
        self._readers += change
        self.is_unread = not self._readers
        self._on_readers()

    @property
    def _last_dropped_event(self) -> int:
        """The number of the newest event that is not held any more."""
        return self.last - len(self._events)

    def _so_far(self) -> bytes:
        """All that came so far as one event, written as the model would have said it at once."""
        events = as_events(self._gathered.so_far())
        if not self._gathered.is_finished:
            events = events[:-2]  # the usage, which still grows, and the end
        return b"%bid: %d\n\n" % (self._writing().events(events), self.last)

    def _note_sent(self, number: int) -> None:
        self._sent = max(self._sent, number)
        self._move()

    def _has_room(self, size: int) -> bool:
        """True where an event of that size may be added; events that were read make room, half of it at once."""
        if self._bytes + size <= MOST_BYTES:
            return True
        read = max(0, self._sent - self._last_dropped_event)
        count = 0
        while count < read and self._bytes > MOST_BYTES // 2:
            self._bytes -= len(self._events[count])
            count += 1
        del self._events[:count]
        return self._bytes + size <= MOST_BYTES or not self._events

    def _move(self) -> None:
        """Wake readers and writer."""
        self._moved.set()
        self._moved = asyncio.Event()


class LiveAnswers:
    """The answers that go on without a reader: for `resume_s` seconds, and at most four of a user at once."""

    def __init__(self, resume_s: float) -> None:
        self._resume_s = resume_s
        self._under_way: dict[str, tuple[LiveAnswer, Departure]] = {}  # oldest first

    @contextmanager
    def holding(self, id: str, caller: Caller, departure: Departure) -> Iterator[LiveAnswer]:
        """An answer that readers find until the context ends; `departure` ends its chat."""
        timer: asyncio.TimerHandle | None = None

        def on_readers() -> None:
            nonlocal timer
            if timer is not None:
                timer.cancel()
            if id in self._under_way and answer.is_unread:
                timer = asyncio.get_running_loop().call_later(self._resume_s, departure.end)
                self._end_oldest(caller.scope.owner)

        answer = LiveAnswer(id, caller.run_id, caller.scope, on_readers)
        self._under_way[id] = answer, departure
        try:
            yield answer
        finally:
            self.release(answer)

    def release(self, answer: LiveAnswer) -> None:
        """End the search for an answer by readers: it has ended, or does not go on without one."""
        self._under_way.pop(answer.id, None)
        answer.end()

    def of(self, scope: Owner) -> list[LiveAnswer]:
        """The answers under way in the scope's conversation, oldest first."""
        answers = (answer for answer, _ in self._under_way.values())
        return [answer for answer in answers if answer.scope == scope and not answer.has_ended]

    def stop(self, answer: LiveAnswer) -> None:
        """End an answer; its readers get the error that it was cancelled."""
        self._under_way[answer.id][1].ask()

    def stop_all(self, scope: Owner) -> None:
        """End all answers under way in the scope's conversation or, where it names none, of its user."""
        for answer, departure in list(self._under_way.values()):
            if scope in (answer.scope, answer.scope.owner):
                departure.ask()

    def _end_oldest(self, owner: Owner) -> None:
        unread = [
            departure
            for answer, departure in self._under_way.values()
            if answer.scope.owner == owner and answer.is_unread and not departure.happened
        ]
        for departure in unread[:-MOST_WITHOUT_READER]:
            departure.end()
