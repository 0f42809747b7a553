"""Dispatch of chat requests: the user, the workflow that answers, and the nodes that run on behind the answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import structlog

from mnemoir.core.errors import InvalidRequest, MnemoirError, NotSupported, SettingsError
from mnemoir.core.events import Emit, Finished, MemorySkipped, Reply
from mnemoir.core.messages import ChatRequest
from mnemoir.core.runs import MOST_QUESTION_CHARACTERS, RunTrace
from mnemoir.core.scope import acting
from mnemoir.core.text import beginning
from mnemoir.ports.run_store import RunWatcher
from mnemoir.wire.app_prompts import asks_for_tools
from mnemoir.wire.forwarding import plain
from mnemoir.workflows.abilities import Abilities
from mnemoir.workflows.client_calls import ClientCalls
from mnemoir.workflows.config.routing import category_variables, chosen_category
from mnemoir.workflows.config.tree import ConfigTree, UserTree
from mnemoir.workflows.config.workflow import WorkflowDefinition
from mnemoir.workflows.conversation import conversation_of
from mnemoir.workflows.engine import Engine
from mnemoir.workflows.loading import answered_here
from mnemoir.workflows.remembering import can_remember
from mnemoir.workflows.run import Answerer, Caller, Turn
from mnemoir.workflows.tracing import traced_messages

OWN_MODEL = "mnemoir"
DEFAULT_ROUTE = "_DefaultWorkflow"  # the workflow of messages without a category
_MOST_ASKED = 32 * 1024  # traced characters of the client's messages: nearly all stand in the prompts again
_GRACE_S = 5.0  # time for nodes behind the responder to finish when the server stops

_log = structlog.get_logger(__name__)


class Workflows:
    """Runs the workflow of each request: the built-in one, or with a config tree a workflow of the requested user.

    With several users, the `model` of a request names the user; `user:folder` names a folder of shared workflows too.
    """

    def __init__(
        self,
        engine: Engine,
        runs: RunWatcher,
        default: WorkflowDefinition,
        tree: ConfigTree | None = None,
        users: Sequence[str] = (),
        *,
        grace_s: float = _GRACE_S,
    ) -> None:
        self._engine = engine
        self._runs = runs
        self._default = default
        self._tree = tree
        self.serves_tree = tree is not None  # whether workflows come from a config tree, or are the built-in one
        self._users = tuple(users)
        self._grace_s = grace_s
        self._background: set[asyncio.Task[None]] = set()

    @property
    def users(self) -> Sequence[str]:
        """The served users of the tree that the caller of now may call; none without a tree."""
        caller = acting.get().principal
        return [name for name in self._users if caller.may_call(name)]

    def model_names(self) -> list[str]:
        """The model names for menus of clients, without the bare name of a user who only shares folders."""
        if self._tree is None:
            return [OWN_MODEL]
        users = [self._tree.user(name) for name in self.users]
        shared = [name for user in users if user.settings.shares_workflows for name in _shared_names(user)]
        return [*(user.name for user in users if not user.settings.only_shares), *sorted(shared)]

    def answerer(self, chat: ChatRequest) -> Answerer:
        """The answerer of the chat. Raises InvalidRequest for a user that is not served."""
        asked = chat.request.model
        if self._tree is None:
            return Answerer(name=asked or OWN_MODEL)
        name, wanted = self._user_and_folder(asked or "")
        user = self._tree.glance(name)
        folder = _folder(user, wanted)
        return Answerer(name=f"{name}:{folder}" if folder else name, user=user, folder=folder)

    def abilities(self, model: str) -> Abilities | None:
        """The abilities of a model in `model_names`; None without a tree, or if no workflow answers.

        With prompt routing, they are those of the workflow for messages without a category.
        """
        if self._tree is None:
            return None
        try:
            name, wanted = self._user_and_folder(model)
            user = self._tree.glance(name)
            workflow = self._fixed_workflow(user, _folder(user, wanted)) or user.workflow(DEFAULT_ROUTE)
            return self._engine.abilities(user, workflow)
        except (SettingsError, InvalidRequest):
            return None

    def answerable_chat(self, chat: ChatRequest) -> ChatRequest:
        """The chat in a form that can be answered: a raw request that cannot be passed on becomes a plain one.

        Raises NotSupported for several prompts or several answers if they cannot be passed on.
        """
        request = chat.request
        if request.raw and (self._tree is not None or not self._engine.takes_raw(request)):
            request = plain(request)
            chat = replace(chat, request=request)
        if request.choices > 1 and (self._tree is not None or not self._engine.gives_choices(request)):
            raise NotSupported(
                f"n must be 1, it is {request.choices}: several answers are given only where the built-in workflow "
                "asks a model by OpenAI's chat protocol.",
                field="n",
            )
        return chat

    async def load(self, chat: ChatRequest) -> tuple[Reply, Sequence[str]]:
        """The answer to a request to load or unload a model, and the names of its members that are not sent.

        No workflow runs, and nothing is recorded. Endpoints of a tree are not asked. Raises ProviderError.
        """
        reply, dropped = await self._engine.load(chat) if self._tree is None else answered_here(chat)
        return reply, chat.client_spellings(dropped)

    async def answer(self, chat: ChatRequest, caller: Caller, emit: Emit) -> None:
        """Answer a chat: `emit` gets the events, batch by batch; a complete answer ends with Finished.

        Cancelling the call ends the model call and all nodes; once Finished is emitted, the nodes behind the
        responder continue. Raises MnemoirError, and any exception of `emit`.
        """
        calls = ClientCalls(chat, emit)
        turn, answerer = self._turn(chat, caller, calls.emit)
        if (
            turn.user is not None
            and turn.user.settings.intercepts_tool_choice
            and asks_for_tools(chat.request.messages)
        ):
            await emit([Finished(reason="tool_calls")])
            return
        turn.trace.question = beginning(turn.user_text, MOST_QUESTION_CHARACTERS)
        self._runs.note_begin(turn.trace)
        try:
            await self._engine.place(turn)
            workflow = await self._workflow_for(turn, answerer)
            if turn.trace.memory_skipped is None and not can_remember(workflow, turn.user):
                turn.trace.memory_skipped = "workflow"
                await turn.say([MemorySkipped(reason="workflow")])
            await self._engine.answer(turn, workflow)
            calls.check()
        except (Exception, asyncio.CancelledError) as exc:
            await self._break_off(turn, exc)
            raise
        self._go_on(turn)  # before the client receives the end of the answer: it may disconnect at once
        await emit([turn.finished or Finished()])

    async def aclose(self) -> None:
        """Wait a few seconds for nodes behind answers, then cancel them; no further model is asked."""
        self._engine.stop()
        if not self._background:
            return
        _, late = await asyncio.wait(self._background, timeout=self._grace_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _turn(self, chat: ChatRequest, caller: Caller, emit: Emit) -> tuple[Turn, Answerer]:
        trace = RunTrace(
            id=caller.run_id,
            scope=caller.recorded_scope,
            model=chat.request.model or "",
            stream=chat.stream,
            memory_skipped=caller.memory_skip_reason,
            is_temporary=caller.is_temporary,
            message_uids=caller.recorded.message_uids if caller.recorded else [],
            asked=traced_messages(chat.request.messages, _MOST_ASKED),
        )
        told = self._runs.note_node
        answerer = caller.answerer or self.answerer(chat)
        user = answerer.user
        if user is None:
            sent = chat.request.messages
            return Turn(chat=chat, caller=caller, messages=sent, trace=trace, emit=emit, on_node=told), answerer
        trace.user = user.name
        messages, discussion = conversation_of(chat, user.settings, session=caller.scope.conversation)
        if not caller.may_be_kept:  # a task of an app is not part of the discussion it is about
            discussion = None
        turn = Turn(
            chat=chat,
            caller=caller,
            messages=messages,
            trace=trace,
            emit=emit,
            user=user,
            discussion_id=discussion,
            on_node=told,
        )
        return turn, answerer

    def _user_and_folder(self, model: str) -> tuple[str, str]:
        """The user of a model name, and the possible name of a shared folder, "" for none."""
        name, users = model.removesuffix(":latest"), self.users
        if not users:
            raise InvalidRequest("This caller may call none of the users served here.", field="model")
        if len(users) == 1:
            [user] = users
            return user, "" if name == user else name.partition(":")[2] or name
        named, _, folder = name.partition(":")
        found = next((user for user in users if user.lower() == named.lower()), None)
        if found is None:
            raise InvalidRequest(
                f"model must name one of the users served here: {', '.join(users)}. It is {model[:80]!r}.",
                field="model",
            )
        return found, folder

    async def _workflow_for(self, turn: Turn, answerer: Answerer) -> WorkflowDefinition:
        user = turn.user
        if user is None:
            return self._default
        return (
            answerer.workflow
            or self._fixed_workflow(user, answerer.folder)
            or await self._workflow_by_category(turn, user)
        )

    def _fixed_workflow(self, user: UserTree, folder: str) -> WorkflowDefinition | None:
        """The workflow that the folder or the user's file sets; None when a category chooses it."""
        settings = user.settings
        if folder:
            return user.workflow(DEFAULT_ROUTE, f"{settings.shared_folder}/{folder}")
        return user.workflow(settings.custom_workflow) if settings.always_custom_workflow else None

    async def _workflow_by_category(self, turn: Turn, user: UserTree) -> WorkflowDefinition:
        settings = user.settings
        table = user.routing(settings.routing)
        categoriser = user.workflow(settings.categorization_workflow)
        for _ in range(max(1, settings.categorization_attempts)):
            answer = await self._engine.decide(turn, categoriser, category_variables(table))
            category = chosen_category(answer, table)
            if category is not None:
                turn.trace.category = category
                return user.workflow(table.root[category].workflow)
        turn.trace.category = ""
        return user.workflow(DEFAULT_ROUTE)

    async def _break_off(self, turn: Turn, exc: BaseException) -> None:
        left = isinstance(exc, asyncio.CancelledError)
        if left and turn.is_answered:
            self._go_on(turn)
            return
        turn.trace.status = "cancelled" if left else "failed"
        if not left:
            turn.trace.error = exc.message if isinstance(exc, MnemoirError) else type(exc).__name__
        try:
            await self._engine.let_go(turn)
        finally:
            self._end(turn)

    def _go_on(self, turn: Turn) -> None:
        turn.trace.answered_ms = turn.elapsed_ms()
        if not self._engine.has_rest(turn):
            self._finish(turn)
            return
        task = asyncio.create_task(self._rest(turn), name="nodes behind the answer")
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _rest(self, turn: Turn) -> None:
        try:
            await self._engine.run_rest(turn)
        except asyncio.CancelledError:
            turn.trace.status = "cancelled"
            raise
        except MnemoirError as exc:
            turn.trace.status, turn.trace.error = "failed", exc.message
            _log.warning("node behind the answer failed", run=turn.trace.id, code=exc.code)
            _log.debug("node behind the answer failed", error=exc.message)  # debug only: it may quote messages
        except Exception:  # noqa: BLE001 - no caller awaits this task, so its fault must be logged here
            turn.trace.status = "failed"
            _log.exception("fault behind the answer", run=turn.trace.id)
        finally:
            self._finish(turn)

    def _finish(self, turn: Turn) -> None:
        if turn.trace.status == "running":
            turn.trace.status = "finished"
        self._end(turn)

    def _end(self, turn: Turn) -> None:
        turn.trace.duration_ms = turn.elapsed_ms()
        self._runs.note_end(turn.trace)


def _folder(user: UserTree, wanted: str) -> str:
    """The requested folder of shared workflows; "" for the user's own workflow.

    Raises InvalidRequest when that is requested and the user has none of their own.
    """
    if wanted and user.has_shared_folder(wanted):
        return wanted
    if user.settings.only_shares:
        names = ", ".join(_shared_names(user)) or f"the folders you add to Workflows/{user.settings.shared_folder}"
        raise InvalidRequest(f"{user.name} has shared workflows only: choose one of {names}.", field="model")
    return ""


def _shared_names(user: UserTree) -> list[str]:
    """The model names of the user's shared workflows. A folder that begins with _ is hidden from menus."""
    return [f"{user.name}:{folder}" for folder in user.shared_folders() if not folder.startswith("_")]
