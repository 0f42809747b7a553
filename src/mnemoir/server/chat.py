"""The chat routes: one implementation for all dialects, streamed or whole.

`wire` reads the request and writes the answer; the engine runs the workflow. This module does the work between: the
caller, a place among the chats under way, the headers, and cancellation when the client disconnects. A chat whose
client asks for that by a header goes on without it, if it is kept and streamed as server-sent events.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter, perf_counter_ns, time
from typing import Any
from urllib.parse import quote

import structlog
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.chats.recording import Recorded
from mnemoir.core.errors import Cancelled, MnemoirError
from mnemoir.core.events import Event, Gathering, MembersDropped, MemoriesRecalled, MemorySkipped, Reply, Usage
from mnemoir.core.messages import ChatRequest
from mnemoir.core.scope import acting
from mnemoir.core.zones import first_zone
from mnemoir.server.door.access import client_keys, principal_of
from mnemoir.server.door.budgets import degraded_by, note_stored, within_quotas
from mnemoir.server.door.errors import failure, internal_error, outward, stopping
from mnemoir.server.door.request import first_headers, header, query, read_model_json, visit_of
from mnemoir.server.door.scopes import chat_owner, is_temporary
from mnemoir.server.door.under_way import Departure, Headers, Outflow, Writer
from mnemoir.server.live_answers import LiveAnswer
from mnemoir.server.site import Site
from mnemoir.wire.agents.tasks import agent_task
from mnemoir.wire.app_prompts import TASK_HEADER, named_task, recognised_task
from mnemoir.wire.forwarding import bounded_names
from mnemoir.wire.session import (
    History,
    asks_to_store,
    parent_message,
    shown_history,
    time_zones_of_person,
    without_session,
)
from mnemoir.wire.upstream import too_deep
from mnemoir.workflows.run import Answerer, Caller

_TASK = TASK_HEADER.lower().encode()
_RESUME = b"x-mnemoir-resume"
_TITLE = b"x-mnemoir-title"
_TIMEZONE = b"x-timezone"
_EVENTS = b"text/event-stream"
_log = structlog.get_logger(__name__)
_JSON = (b"content-type", b"application/json")
_NO_BUFFERING = ((b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The functions of one protocol, and the media type of its streams.

    With `tells_durations` its whole answers hold their duration: `write_reply` takes `took_ns`.
    `with_functions` writes answers for clients of functions, where the protocol has these beside tools.
    """

    read: Callable[[Mapping[str, Any]], ChatRequest]
    write_reply: Callable[..., bytes]
    writer: Callable[[str, str, int, bool], Writer]
    stream_type: bytes
    id_prefix: str
    tells_durations: bool = False
    with_functions: "Dialect | None" = None

    def answering(self, chat: ChatRequest) -> "Dialect":
        """The dialect that the answer to this chat is written in."""
        return self.with_functions if chat.function_calls and self.with_functions is not None else self


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wishes:
    """What a client asks about the conversation that its chat is kept in."""

    shown: History | None
    store: bool
    parent_id: int | None
    titled: bool

    @property
    def need_room(self) -> bool:
        """Whether the chat can only be answered if it is kept."""
        return self.shown == "server" or self.parent_id is not None


@dataclass(slots=True, kw_only=True)
class _Turn:
    """One chat under way. `asked_model_at` is the time when the last step before the model's first word ended.

    `live` is its answer when it goes on without a reader.
    """

    recorded: Recorded
    dialect: Dialect
    answer_id: str
    model: str  # the name in the answer
    started: float
    asked_model_at: float = 0.0
    answered_at: float = 0.0
    recalled: int = 0
    has_no_memory: bool = False  # it could not be asked
    skipped: str = ""  # the reason why memory took no part, where the request does not show it
    dropped: Sequence[str] = ()
    live: LiveAnswer | None = None

    def headers(self) -> Headers:
        """The headers that only this server can fill in; the added time excludes the wait for the model."""
        now = perf_counter()
        added_s = max(0.0, self.asked_model_at - self.started) + max(0.0, now - (self.answered_at or now))
        headers = [
            (b"x-overhead-duration-ms", b"%.2f" % (added_s * 1e3)),
            (b"x-workflow-run-id", self.recorded.caller.run_id.encode()),
        ]
        if self.recorded.caller.memory:
            headers.append((b"x-memory-injected", b"%d" % self.recalled))
        if skipped := self.skipped or self.recorded.caller.memory_skip_reason:
            headers.append((b"x-memory-skipped", skipped.encode()))
        if degraded := degraded_by(self.recorded, has_no_memory=self.has_no_memory):
            headers.append((b"x-mnemoir-degraded", degraded))
        if self.dropped:
            headers.append((b"x-mnemoir-dropped", bounded_names(self.dropped).encode()))
        if self.recorded.turn is not None:
            headers.append((b"x-conversation-id", quote(self.recorded.turn.conversation_id, safe="").encode()))
        return headers

    def notice(self, batch: Sequence[Event]) -> None:
        """Take a batch without bytes for the client: a step before the model, or one after it."""
        if not self.answered_at:
            self.asked_model_at = perf_counter()
        for event in batch:
            if isinstance(event, MemoriesRecalled):
                self.recalled = event.count
                self.has_no_memory = self.has_no_memory or event.is_failed
            elif isinstance(event, MemorySkipped):
                self.skipped = event.reason
            elif isinstance(event, MembersDropped):
                self.dropped = event.names
                _log.info("members dropped", run=self.recorded.caller.run_id, names=bounded_names(event.names))


class ChatRoute:
    """An ASGI application for `POST` to a chat route of one dialect."""

    def __init__(self, site: Site, dialect: Dialect) -> None:
        self._site = site
        self._dialect = dialect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with ExitStack() as room:
                await self._answer(scope, receive, send, room)
        except MnemoirError as exc:
            await failure(scope, exc)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, room: ExitStack) -> None:
        body, notes = await read_model_json(scope, receive, self._site.options.max_body_bytes)
        chat = without_session(self._dialect.read(body), self._site.options.session_fields)
        chat = replace(chat, notes=notes) if notes else chat
        if chat.loading is not None:
            await self._load(chat, scope, receive, send)
            return
        workflows = self._site.parts.trees.workflows
        chat = workflows.answerable_chat(chat)
        answerer = workflows.answerer(chat)
        caller = self._caller(scope, body, chat, answerer)
        wishes = _Wishes(
            shown=shown_history(body),
            store=asks_to_store(body) is True,
            parent_id=parent_message(body),
            titled=header(scope, _TITLE) == "1",
        )
        if caller.memory and caller.zone is None:
            caller = replace(caller, zone=await self._site.zone_of_user(caller.scope))
        caller = await within_quotas(scope, self._site.parts.chats.quotas, caller, room, needs_room=wishes.need_room)
        answer_id = self._dialect.id_prefix + caller.run_id.removeprefix("run_")  # one random number for both
        visit_of(scope).run_id = caller.run_id
        self._site.clients.note(scope, model=answerer.name, memory=caller.memory)
        answer = self._stream if chat.stream else self._whole
        key = header(scope, b"x-idempotency-key")
        with (
            self._site.under_way.alone(caller.scope, key),
            self._site.places.taking(principal_of(scope).key),
            self._site.parts.chats.quotas.chatting(caller.scope),
        ):
            may_go_on, holding = self._may_go_on(scope, chat), self._site.live_answers.holding
            async with Departure(None if may_go_on else receive, scope) as departure:
                with (
                    self._site.under_way.answering(answer_id, principal_of(scope), departure),
                    holding(answer_id, caller, departure) if may_go_on else nullcontext() as live,
                ):
                    turn = await self._begin_turn(scope, chat, caller, wishes, answer_id, answerer.name, room)
                    if live is not None and not self._goes_on(turn, live):
                        departure.watch(receive)
                    turn.asked_model_at = perf_counter()
                    await answer(turn, departure, scope, receive, send)
        if departure.asked and not chat.stream:
            raise _cancellation_error()
        visit_of(scope).left = departure.happened

    async def _begin_turn(
        self,
        scope: Scope,
        chat: ChatRequest,
        caller: Caller,
        wishes: _Wishes,
        answer_id: str,
        model: str,
        room: ExitStack,
    ) -> _Turn:
        """The turn of a chat, after its new messages were stored."""
        recorded = await self._site.parts.chats.recorder.begin(
            chat,
            caller,
            shown=wishes.shown,
            store=wishes.store,
            parent_id=wishes.parent_id,
            titled=wishes.titled,
        )
        note_stored(self._site.parts.chats.quotas, recorded, room)
        return _Turn(
            recorded=recorded,
            dialect=self._dialect.answering(chat),
            answer_id=answer_id,
            model=model,
            started=visit_of(scope).started,
        )

    async def _load(self, chat: ChatRequest, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that only loads or unloads a model: whole, as an Ollama does, and without a run."""
        workflows, began_ns = self._site.parts.trees.workflows, perf_counter_ns()
        model = workflows.answerer(chat).name
        self._site.clients.note(scope, model=model, memory=False)
        with self._site.places.taking(principal_of(scope).key):
            async with Departure(receive, scope) as departure:
                reply, dropped = await workflows.load(chat)
                answer_id = self._dialect.id_prefix + visit_of(scope).request_id
                answer = Response(
                    self._write(self._dialect, reply, model, answer_id, began_ns), media_type="application/json"
                )
                if dropped:
                    answer.headers["x-mnemoir-dropped"] = bounded_names(dropped)
                await answer(scope, receive, send)
        visit_of(scope).left = departure.happened

    async def _whole(self, turn: _Turn, departure: Departure, scope: Scope, receive: Receive, send: Send) -> None:
        gathering, began_ns = Gathering(), perf_counter_ns()
        turns, key = self._site.turns, acting.get().principal.key

        async def gather(batch: Sequence[Event]) -> None:
            await turns.take(key)
            if gathering.take(batch):
                turn.answered_at = turn.answered_at or perf_counter()
            else:
                turn.notice(batch)

        await self._site.parts.chats.recorder.answer(turn.recorded, gather)
        reply = gathering.reply()
        self._count(reply.usage)
        data = self._write(turn.dialect, reply, turn.model, turn.answer_id, began_ns)
        head = [(b"content-length", b"%d" % len(data)), _JSON, *turn.headers()]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": data})

    async def _stream(self, turn: _Turn, departure: Departure, scope: Scope, receive: Receive, send: Send) -> None:
        writing = partial(
            turn.dialect.writer, turn.model, turn.answer_id, int(time()), turn.recorded.chat.include_usage
        )
        writer = writing()

        def head() -> Headers:
            return [(b"content-type", turn.dialect.stream_type), *_NO_BUFFERING, *turn.headers()]

        outflow: Outflow | LiveAnswer
        outflow = Outflow(send, head=head, heartbeat=writer.heartbeat, every_s=self._site.options.heartbeat_s)
        if turn.live is not None:
            outflow = writer = turn.live.begin(writing, outflow, receive)
        async with outflow as out:
            try:
                await self._pass_on(turn, writer, out)
            except asyncio.CancelledError:
                if departure.asked:  # the client is still connected and waits for the end
                    await self._site.parts.chats.recorder.settle(turn.recorded)
                    await out.write(writer.error(_cancellation_error()), more=False)
                if departure.happened or not out.begun:
                    raise
                await out.write(writer.error(stopping()), more=False)
                return
            except Exception as exc:
                # once the head is sent, an error can only be reported inside the stream
                if not out.begun:
                    raise
                if not isinstance(exc, MnemoirError):
                    await out.write(writer.error(internal_error()), more=False)
                    raise
                await out.write(writer.error(outward(exc)), more=False)
                return
            await out.write(b"", more=False)

    async def _pass_on(self, turn: _Turn, writer: Writer, out: Outflow | LiveAnswer) -> None:
        counts_tokens = self._site.metrics is not None
        turns, key = self._site.turns, acting.get().principal.key

        async def pass_on(batch: Sequence[Event]) -> None:
            await turns.take(key)
            try:
                data = writer.events(batch)
            except TypeError as exc:  # a member that came from the model's server and is passed on
                raise too_deep("a member") from exc
            if data:
                if not turn.answered_at:
                    turn.answered_at = perf_counter()
                await out.write(data)
            else:
                turn.notice(batch)
            if counts_tokens:
                self._count_in(batch)

        await self._site.parts.chats.recorder.answer(turn.recorded, pass_on)

    def _may_go_on(self, scope: Scope, chat: ChatRequest) -> bool:
        """True for a streamed chat whose client will take its answer up again, as long as it is kept."""
        return header(scope, _RESUME) == "1" and chat.stream and self._dialect.stream_type.startswith(_EVENTS)

    def _goes_on(self, turn: _Turn, live: LiveAnswer) -> bool:
        """Whether the answer goes on without a reader: the chat is kept."""
        recorded = turn.recorded
        if recorded.turn is None:
            self._site.live_answers.release(live)
            return False
        live.scope, live.question_id = recorded.caller.recorded_scope, recorded.turn.message_id
        turn.live = live
        return True

    def _caller(self, scope: Scope, body: Mapping[str, Any], chat: ChatRequest, answerer: Answerer) -> Caller:
        """The caller, from the body first, then the headers. Raises InvalidRequest for an invalid name."""
        options = self._site.options
        switched_on = query(scope, "memoryEnabled") == "true" or (header(scope, b"x-memory") or "").lower() == "on"
        return Caller(
            scope=chat_owner(scope, body, chat.user, options),
            request_id=visit_of(scope).request_id,
            memory=chat.memory or switched_on,
            client_task=named_task(header(scope, _TASK))
            or agent_task(chat.request, first_headers(scope))
            or recognised_task(chat.request.messages),
            is_temporary=is_temporary(scope, body),
            is_raw=chat.request.raw,
            answerer=answerer,
            credential=self._site.credential_for_memory(scope),
            client_keys=client_keys(scope),
            zone=first_zone([header(scope, _TIMEZONE), *time_zones_of_person(body)]),
        )

    def _write(self, dialect: Dialect, reply: Reply, model: str, reply_id: str, began_ns: int) -> bytes:
        took = {"took_ns": perf_counter_ns() - began_ns} if dialect.tells_durations else {}
        try:
            return dialect.write_reply(reply, model=model, reply_id=reply_id, created=int(time()), **took)
        except TypeError as exc:  # a member that came from the model's server and is passed on
            raise too_deep("a member") from exc

    def _count_in(self, batch: Sequence[Event]) -> None:
        for event in batch:
            if isinstance(event, Usage):
                self._count(event)

    def _count(self, usage: Usage) -> None:
        if self._site.metrics is not None:
            self._site.metrics.usage("chat", usage)


def _cancellation_error() -> Cancelled:
    return Cancelled("The request was cancelled.")
