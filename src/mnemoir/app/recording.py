"""Chats that are kept: what a client sends is stored before a model is asked, and the answer before it is finished.

A client that sends its whole history again adds only what is new; where it says something else than is stored, a
branch begins. Trouble with the files never fails a chat: it is logged, and the chat goes on unrecorded.
"""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import structlog

from mnemoir.agent.memory import Reader
from mnemoir.agent.retrieval import Recalled, RetrievalLimits, framed, recalled_for
from mnemoir.conversations.attachments import Attachments
from mnemoir.conversations.messages import Message
from mnemoir.conversations.model_messages import from_model, read_call, to_model
from mnemoir.conversations.sessions import MessageNotFoundError, checked_session_id
from mnemoir.conversations.users import OwnConversations, UserConversations
from mnemoir.core import messages as core
from mnemoir.core.discussion_id import without_tags
from mnemoir.core.errors import InvalidRequest, MnemoirError
from mnemoir.core.events import Event
from mnemoir.core.gathering import Gathering
from mnemoir.core.messages import ChatRequest
from mnemoir.wire.session import History
from mnemoir.workflows.caller import Caller, RecordedTurn
from mnemoir.workflows.dispatch import Workflows
from mnemoir.workflows.run import last_user_message

_log = structlog.get_logger(__name__)

INCOMPLETE = "incomplete"
_INSTRUCTIONS = ("system", "developer", "systemMes")
_GRACE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingOptions:
    """Which chats are kept, and what models are shown of them.

    With `always` those without a session id are kept too. With `shows_stored` a model is shown the stored window in
    place of what the client sent, unless a request says otherwise. With `retrieval` it is also shown what was said in
    other conversations and bears on the question.
    """

    always: bool = False
    shows_stored: bool = False
    retrieval: RetrievalLimits | None = None


@dataclass(slots=True, kw_only=True)
class Recorded:
    """A chat as it is to be run. `turn` is what is stored of it, None for a chat that is not kept."""

    chat: ChatRequest
    caller: Caller
    turn: RecordedTurn | None = None
    gathering: Gathering = field(default_factory=Gathering)


class Recorder:
    """Stores chats and runs them."""

    def __init__(self, conversations: UserConversations, workflows: Workflows, options: RecordingOptions) -> None:
        self._conversations = conversations
        self._workflows = workflows
        self._options = options
        self._writing: set[asyncio.Task[None]] = set()

    async def begin(self, chat: ChatRequest, caller: Caller, shown: History | None = None) -> Recorded:
        """Store what is new of the client's history.

        With `shown` of "server", or of None where the options say so, the chat becomes one of the stored window.
        Raises InvalidRequest when a request asks for that and there can be none.
        """
        shows_stored = shown == "server" if shown else self._options.shows_stored
        history = [from_model(without_tags(one)) for one in chat.request.messages if one.role not in _INSTRUCTIONS]
        if not self._is_kept(chat, caller, history):
            if shown == "server":
                raise InvalidRequest(
                    'history is "server", and this chat belongs to no stored conversation. Send a session id, such '
                    "as the header X-Session-Id, and messages.",
                    field="history",
                )
            return Recorded(chat=chat, caller=caller)
        try:
            async with self._conversations.of(caller.scope) as own:
                recalled = await self._recalled(own, history)  # first, so that a question never finds itself
                recorded = await asyncio.to_thread(_begun, own, chat, caller, history, shows_stored=shows_stored)
                recorded.chat = _with_recalled(recorded.chat, recalled)
                return recorded
        except MnemoirError as exc:
            if shows_stored:
                raise
            _log.warning("a chat is not kept", run=caller.run_id, code=exc.code)
            return Recorded(chat=chat, caller=caller)

    async def run(self, recorded: Recorded) -> AsyncGenerator[Sequence[Event], None]:
        """The events of the workflow that answers. A complete answer is stored before its last batch is given out."""
        events = self._workflows.run(recorded.chat, recorded.caller)
        if recorded.turn is None:
            async with aclosing(events) as batches:
                async for batch in batches:
                    yield batch
            return
        gathering = recorded.gathering
        try:
            async with aclosing(events) as batches:
                async for batch in batches:
                    gathering.take(batch)
                    if gathering.is_finished:
                        await self._store(recorded)
                    yield batch
        finally:
            if not gathering.is_finished:
                self._store_later(recorded)

    async def aclose(self) -> None:
        """Let answers that were cut off be written."""
        if self._writing:
            await asyncio.wait(self._writing, timeout=_GRACE_S)

    async def _recalled(self, own: OwnConversations, history: Sequence[Message]) -> Sequence[Recalled]:
        """What bears on a question; nothing, with a warning, when it cannot be looked for."""
        limits, question = self._options.retrieval, history[-1]
        if limits is None or question.role != "user" or not question.text:
            return ()
        try:
            return await recalled_for(question.text, own.manager, Reader(), limits, history)
        except Exception as exc:  # noqa: BLE001  # a foreign embedder or vector store may raise anything
            _log.warning("nothing recalled of other conversations", error=type(exc).__name__)
            return ()

    def _is_kept(self, chat: ChatRequest, caller: Caller, history: Sequence[Message]) -> bool:
        """A prompt without roles is no conversation; what an app asks for itself is no part of one."""
        if caller.client_task or chat.unmarked_prompt is not None or not history:
            return False
        return caller.scope.conversation is not None or self._options.always

    def _store_later(self, recorded: Recorded) -> None:
        """For a request that is ending: nothing can be waited for any more."""
        task = asyncio.create_task(self._store(recorded), name="store a part of an answer")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _store(self, recorded: Recorded) -> None:
        reply, turn = recorded.gathering.so_far(), recorded.turn
        if turn is None or not (reply.text or reply.tool_calls):
            return
        calls = [read_call(call) for call in reply.tool_calls]
        answer = Message("assistant", reply.text or None, calls or None)
        reason = reply.reason if recorded.gathering.is_finished else INCOMPLETE
        try:
            async with self._conversations.of(recorded.caller.scope) as own:
                await asyncio.to_thread(_store_answer, own, turn, answer, recorded.caller.run_id, reason)
        except MnemoirError as exc:
            _log.warning("an answer is not kept", run=recorded.caller.run_id, code=exc.code)


def _with_recalled(chat: ChatRequest, recalled: Sequence[Recalled]) -> ChatRequest:
    """The chat with what was recalled in front of its last message."""
    messages = list(chat.request.messages)
    place = last_user_message(messages)
    if not recalled or place is None:
        return chat
    pictures = [part for part in messages[place].parts if not isinstance(part, core.TextPart)]
    text = core.TextPart(text=framed(recalled, messages[place].text))
    messages[place] = replace(messages[place], parts=(text, *pictures))
    return replace(chat, request=replace(chat.request, messages=messages))


def _begun(
    own: OwnConversations, chat: ChatRequest, caller: Caller, history: Sequence[Message], *, shows_stored: bool
) -> Recorded:
    manager = own.manager
    system = [one for one in chat.request.messages if one.role in _INSTRUCTIONS]
    session_id = caller.scope.conversation or manager.find_session(history) or str(uuid.uuid4())
    attachments = Attachments(own.node_parts.objects)
    history = [attachments.put_away(message, checked_session_id(session_id)) for message in history]
    resumed = manager.resume_history(session_id, history, system_prompt="\n\n".join(one.text for one in system))
    newest = resumed.ids[-1]
    stored = manager.get_message(session_id, newest)
    turn = RecordedTurn(
        conversation_id=session_id, message_id=newest, turn_id=(stored.turn_id if stored else None) or str(newest)
    )
    if shows_stored:
        new = history[len(history) - max(1, len(resumed.added)) :]
        shown = _shown(own, session_id, system, new)
        chat = replace(chat, request=replace(chat.request, messages=shown))
    return Recorded(chat=chat, caller=replace(caller, recorded=turn), turn=turn)


def _shown(
    own: OwnConversations, session_id: str, system: Sequence[core.Message], new: Sequence[Message]
) -> list[core.Message]:
    """The caller's system messages or else the stored prompt, and the window; new messages are never cut away."""
    if not system:
        record = own.manager.get_session(session_id)
        prompt = record.system_prompt if record else ""
        system = [core.text_message("system", prompt)] if prompt else []
    window = own.manager.load_history(session_id)
    if not _ends_with(window, new):
        window = list(new)
    return [*system, *to_model(Attachments(own.node_parts.objects).bring_back(window))]


def _ends_with(window: Sequence[Message], new: Sequence[Message]) -> bool:
    return [(one.role, one.text) for one in window[-len(new) :]] == [(one.role, one.text) for one in new]


def _store_answer(own: OwnConversations, turn: RecordedTurn, answer: Message, run_id: str, reason: str) -> None:
    try:
        own.manager.append_messages(
            turn.conversation_id, [answer], parent_id=turn.message_id, run_id=run_id, finish_reason=reason
        )
    except MessageNotFoundError:
        _log.info("the conversation of an answer was deleted meanwhile", run=run_id)
