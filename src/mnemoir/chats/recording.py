"""Records chats: a client's messages are stored before a model is asked, and the answer before it is finished.

Of a history that a client sends again only the new messages are added; where it differs from the stored one, a branch
begins. File errors never fail a chat, unless it is to be answered from the stored history: they are logged, and the
chat goes on unrecorded.
"""

import asyncio
import uuid
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial

import structlog

from mnemoir.agent.memory import Reader
from mnemoir.agent.retrieval import RecalledMessage, RetrievalLimits, recalled_for
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.quotas import asked_for
from mnemoir.chats.remembering import Turns
from mnemoir.chats.stored_turns import (
    INCOMPLETE,
    INSTRUCTIONS,
    Place,
    StoredQuestion,
    UnknownParent,
    conversation_messages,
    kept_messages,
    shown_history,
    store_answer,
    store_question,
    tag_session,
    window_for_model,
    with_recalled_messages,
)
from mnemoir.chats.titles import Titles
from mnemoir.conversations.users import OwnConversations
from mnemoir.core import messages as core
from mnemoir.core.conversations import Message, checked_session_id
from mnemoir.core.errors import InvalidRequest, MnemoirError, StorageUnavailable, places_of
from mnemoir.core.events import Emit, Event, Gathering
from mnemoir.core.messages import ChatRequest
from mnemoir.ports.recalled import KeptRecall
from mnemoir.ports.run_store import RunStore
from mnemoir.privacy.handling import Handled, PersonalData
from mnemoir.storage.user_pool import in_thread
from mnemoir.wire.app_prompts import typed_text
from mnemoir.wire.session import History
from mnemoir.workflows.dispatch import Workflows
from mnemoir.workflows.run import Caller, RecordedTurn

_log = structlog.get_logger(__name__)

_GRACE_S = 5.0
_WINDOWS_AT_ONCE = 32
_UNNAMED = ""  # in place of the id of a conversation that is still to be found


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingOptions:
    """Options for which chats are recorded and what models see of them.

    With `named` chats with a session id are recorded, with `always` all of them. With `shows_stored` a model sees the
    stored window instead of the client's messages, unless a request says otherwise. With `retrieval` it also sees
    earlier messages of this conversation or another that are relevant to the question.
    """

    named: bool = True
    always: bool = False
    shows_stored: bool = False
    retrieval: RetrievalLimits | None = None


@dataclass(slots=True, kw_only=True)
class Recorded:
    """A chat ready to run. `turn` is its stored turn, None for a chat that is not recorded.

    `added` are the ids of the messages stored for it, which are embedded after the answer. `titled` asks for a title
    of a conversation that begins with it. `handled` is what was done with its personal data. `is_lost` is True for
    one that was to be stored and could not be. `storing` is the task that stores its answer, once there is one.
    """

    chat: ChatRequest
    caller: Caller
    handled: Handled
    turn: RecordedTurn | None = None
    titled: bool = False
    added: list[int] = field(default_factory=list)
    is_lost: bool = False
    storing: asyncio.Task[None] | None = None


class Recorder:
    """Stores chats and runs them."""

    def __init__(
        self,
        conversations: Conversations,
        workflows: Workflows,
        turns: Turns,
        runs: RunStore,
        options: RecordingOptions,
        titles: Titles,
        personal_data: PersonalData,
    ) -> None:
        self._conversations = conversations
        self._workflows = workflows
        self._turns = turns
        self._runs = runs
        self._options = options
        self._titles = titles
        self._personal_data = personal_data
        self._writing: set[asyncio.Task[None]] = set()
        # own threads: building a window may wait for a summary and must not block the shared thread pool
        self._windows = ThreadPoolExecutor(_WINDOWS_AT_ONCE, thread_name_prefix="window")

    async def begin(
        self,
        chat: ChatRequest,
        caller: Caller,
        *,
        shown: History | None = None,
        store: bool = False,
        parent_id: int | None = None,
        titled: bool = False,
    ) -> Recorded:
        """Store the new messages of the client's history, with `store` also without a session id.

        With `shown` of "server", or None when the options say so, the chat's messages become the stored window. With
        `parent_id` the new messages are appended to that message; with `titled` a new conversation gets a title.
        Raises InvalidRequest when a request asks for a window or a parent and the chat is not recorded, and, for a
        window, file errors; PersonalDataRefused where personal data is blocked.
        """
        is_kept = self._is_kept(chat, caller, always=store or self._options.always)
        handled = await self._personal_data.chat(chat, caller.scope, is_kept=is_kept, learns=caller.learns)
        chat = handled.chat
        shows_stored = shown == "server" if shown else self._options.shows_stored
        if not is_kept:
            _refuse_without_conversation(caller, shown, parent_id)
            return Recorded(chat=chat, caller=caller, handled=handled)
        place = Place(
            parent_id=parent_id,
            sends_new_only=shown == "server",
            shows_stored=shows_stored,
            names_all=self._workflows.serves_tree and not shows_stored,  # discussions of trees use the uids
            recalls=caller.recalls and not self._workflows.serves_tree,
        )
        try:
            return replace(await self._begin_turn(handled, caller, place), titled=titled)
        except Exception as exc:
            if shows_stored or isinstance(exc, UnknownParent):
                raise
            _tell("a chat is not kept", exc, caller.run_id)
            return Recorded(chat=chat, caller=caller, handled=handled, is_lost=True)

    async def answer(self, recorded: Recorded, emit: Emit) -> None:
        """Answer the chat by its workflow. A complete answer is stored before its last batch is emitted.

        Of one that fails what came is stored before the error is raised; when the client left, it is stored later.
        """
        turn = recorded.turn
        emit = self._personal_data.restoring(recorded.handled, emit)
        if turn is None:
            await self._workflows.answer(recorded.chat, recorded.caller, emit)
            return
        gathering = Gathering()
        self._turns.wait_for_answer(recorded.caller)

        async def keep(batch: Sequence[Event]) -> None:
            gathering.take(batch)
            if gathering.is_finished:  # stored even if the client disconnects just now
                recorded.storing = self._beginning(self._store(recorded, turn, gathering))
                await asyncio.shield(recorded.storing)
                if recorded.titled:
                    self._titles.begin(recorded.chat, recorded.caller, turn)
            await emit(batch)

        try:
            await self._workflows.answer(recorded.chat, recorded.caller, keep)
        except Exception:
            recorded.storing = recorded.storing or self._beginning(self._store(recorded, turn, gathering))
            await self.settle(recorded)
            raise
        finally:  # the request may be cancelled: nothing can be awaited any more
            recorded.storing = recorded.storing or self._beginning(self._store(recorded, turn, gathering))
            self._beginning(self._embed(recorded, recorded.storing))

    async def settle(self, recorded: Recorded) -> None:
        """Wait until what came of an answer is stored, for a client that is told why there is no more of it."""
        if recorded.storing is not None:
            await asyncio.shield(recorded.storing)

    async def aclose(self) -> None:
        """Wait until interrupted answers are stored."""
        self._windows.shutdown(wait=False, cancel_futures=True)
        if self._writing:
            await asyncio.wait(self._writing, timeout=_GRACE_S)

    async def _begin_turn(self, handled: Handled, caller: Caller, place: Place) -> Recorded:
        chat = handled.chat
        sent = chat.request.messages
        async with self._conversations.of(caller.scope) as own:
            kept, history = await in_thread(_history_of, sent)
            recalled = await self._recalled_messages(own, history)  # first, so that a question never finds itself
            prompt = "\n\n".join(one.text for one in sent if one.role in INSTRUCTIONS)
            stored = await self._store_messages(own, caller, history, prompt, place)
            if place.shows_stored:
                asked_for.set(caller.scope)  # for a summary
                show = partial(copy_context().run, _stored_window, own, stored, sent)
                shown = await asyncio.get_running_loop().run_in_executor(self._windows, show)
                chat = replace(chat, request=replace(chat.request, messages=shown))
                _note_question(stored.turn.recalled, shown)
            elif stored.uids:
                chat = replace(chat, request=replace(chat.request, messages=_with_uids(sent, kept, stored.uids)))
        turn = stored.turn
        caller = replace(caller, recorded=turn)
        await self._personal_data.said_in(handled, caller.recorded_scope)
        if handled.action == "tag" and handled.kinds:
            async with self._conversations.of(caller.scope) as own:
                await in_thread(tag_session, own, turn.conversation_id, handled.kinds)
        return Recorded(
            chat=with_recalled_messages(chat, recalled),
            caller=caller,
            handled=handled,
            turn=turn,
            added=list(stored.added),
        )

    async def _store_messages(
        self, own: OwnConversations, caller: Caller, history: Sequence[Message], prompt: str, place: Place
    ) -> StoredQuestion:
        """Store the new messages in the named conversation, or in the one that the history belongs to.

        Of equal histories sent concurrently without a session id, only the first begins a conversation.
        """
        store = partial(store_question, own, history=history, prompt=prompt, place=place)
        named = caller.scope.conversation
        if named is not None:
            async with self._conversations.deciding(caller.scope, named):
                return await in_thread(store, checked_session_id(named))
        async with self._conversations.deciding(caller.scope, _UNNAMED):
            found = await in_thread(own.manager.find_session, history) or str(uuid.uuid4())
            async with self._conversations.deciding(caller.scope, found):
                return await in_thread(store, found)

    async def _recalled_messages(
        self, own: OwnConversations, history: Sequence[Message]
    ) -> Sequence[RecalledMessage]:
        """Earlier messages relevant to the question; [] with a warning when the search fails."""
        limits, question = self._options.retrieval, history[-1]
        if limits is None or question.role != "user" or not question.text:
            return ()
        try:
            return await recalled_for(question.text, own.manager, Reader(), limits, history)
        except Exception as exc:  # noqa: BLE001  # a foreign embedder or vector store may raise anything
            _log.warning("nothing recalled of other conversations", error=type(exc).__name__)
            return ()

    def _is_kept(self, chat: ChatRequest, caller: Caller, *, always: bool) -> bool:
        """False for prompts without roles, side tasks of apps and temporary chats."""
        if not caller.is_recorded or chat.unmarked_prompt is not None:
            return False
        if INSTRUCTIONS.issuperset(core.roles_of(chat.request.messages)):
            return False
        return always or (self._options.named and caller.scope.conversation is not None)

    def _beginning(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="store an answer")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        return task

    async def _embed(self, recorded: Recorded, storing: asyncio.Task[None]) -> None:
        """Embed the stored messages of a chat after its answer."""
        await asyncio.wait([storing])
        try:
            async with self._conversations.of(recorded.caller.scope) as own:
                await in_thread(own.manager.embed, recorded.added)
        except Exception as exc:  # noqa: BLE001  # the next opening of the files finds messages without a vector
            _tell("messages of a chat are not embedded", exc, recorded.caller.run_id)

    async def _store(self, recorded: Recorded, turn: RecordedTurn, gathering: Gathering) -> None:
        """Append the answer to its question, unless the conversation was deleted before."""
        caller = recorded.caller
        try:
            if await self._turns.behind(caller, partial(self._is_stored, recorded, turn, gathering)):
                return
            _log.info("the conversation of an answer was deleted meanwhile", run=caller.run_id)
            await self._runs.forget(caller.recorded_scope)
        except Exception as exc:  # noqa: BLE001  # the answer itself is the client's all the same
            _tell("a turn is not remembered", exc, caller.run_id)

    async def _is_stored(self, recorded: Recorded, turn: RecordedTurn, gathering: Gathering) -> bool:
        """Store the answer; False when the conversation is gone, True also after a logged failure."""
        caller = recorded.caller
        try:
            async with self._conversations.of(caller.scope) as own:
                reply = await self._personal_data.answer(recorded.handled, gathering.so_far(), caller.recorded_scope)
                finish = reply.reason if gathering.is_finished else INCOMPLETE
                ids = await in_thread(store_answer, own, turn, reply, caller.run_id, finish)
        except Exception as exc:  # noqa: BLE001  # the client has its answer; the turn is learned from all the same
            _tell("an answer is not kept", exc, caller.run_id)
            return True
        recorded.added += ids or ()
        return ids is not None


def _history_of(sent: Sequence[core.Message]) -> tuple[Sequence[core.Message], Sequence[Message]]:
    """The messages of a request that conversations hold, as they were sent and as they are stored."""
    kept = kept_messages(sent)
    return kept, conversation_messages(kept)


def _with_uids(
    sent: Sequence[core.Message], kept: Sequence[core.Message], uids: Sequence[str | None]
) -> list[core.Message]:
    """The messages with the uids of their stored versions; `uids` are of the newest of those that were kept."""
    named = {id(one): uid for one, uid in zip(reversed(kept), reversed(uids), strict=False)}
    return [one if (uid := named.get(id(one))) is None else replace(one, uid=uid) for one in sent]


def _note_question(recalled: KeptRecall | None, shown: Sequence[core.Message]) -> None:
    """Note the newest question of the window, which may stand in front of the messages that were sent."""
    if recalled is not None:
        asked = (one.uid for one in reversed(shown) if one.role == "user" and typed_text(one.text))
        recalled.question = next(asked, None)


def _stored_window(own: OwnConversations, stored: StoredQuestion, sent: Sequence[core.Message]) -> list[core.Message]:
    """The stored window that replaces the client's messages. Blocks; a strategy may ask a model for a summary."""
    history = stored.shown or shown_history(own.log, own.manager, stored.turn, stored.new)
    return window_for_model(own, history, sent)


def _refuse_without_conversation(caller: Caller, shown: History | None, parent_id: int | None) -> None:
    """Raise InvalidRequest for a chat that is not recorded but asks for the stored window or a parent."""
    if shown == "server":
        raise InvalidRequest(
            'history is "server", and this chat belongs to no stored conversation. Send a session id, such '
            "as the header X-Session-Id, and messages.",
            field="history",
        )
    if parent_id is not None and caller.client_task is None:
        raise InvalidRequest(
            "parent_id names a message of a stored conversation, and this chat belongs to none. Send a session id, "
            "such as the header X-Session-Id, and messages.",
            field="parent_id",
        )


def _tell(event: str, exc: Exception, run_id: str) -> None:
    """Log an internal error with its place; its text only at debug level, since it may quote a user."""
    if isinstance(exc, MnemoirError):
        cause = {"cause": exc.message} if isinstance(exc, StorageUnavailable) else {}
        _log.warning(event, run=run_id, code=exc.code, **cause)
        return
    _log.error(event, run=run_id, error=type(exc).__name__, where=places_of(exc))
    _log.debug(event, run=run_id, cause=str(exc))
