"""The state of a request: its caller, its turn, and the workflow runs for it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

from mnemoir.conversations.open_questions import OpenQuestion
from mnemoir.core.discussions import ClientKeys, Discussion
from mnemoir.core.events import Emit, Event, Finished, Note, Refusal, Text
from mnemoir.core.ids import new_message_uid, new_run_id
from mnemoir.core.messages import ChatRequest, Message, role_at, text_at
from mnemoir.core.runs import MemorySkip, NodeTrace, RunTrace, WorkflowTrace
from mnemoir.core.scope import Scope
from mnemoir.core.usage import OF_MEMORY, Stored
from mnemoir.ports.recalled import KeptRecall
from mnemoir.wire.agents.frames import feedback_in
from mnemoir.wire.app_prompts import typed_text
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.workflow import WorkflowDefinition
from mnemoir.workflows.text.fields import TextPosition, TextPositions
from mnemoir.workflows.text.filling import fill


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """The meaning of the `model` of a request: the built-in workflow, or a user of the config tree.

    `name` is the model name in the answer. `folder` is the requested folder of shared workflows, "" for the user's
    own workflow. `workflow` answers in place of what the user's settings choose, if given.
    """

    name: str
    user: UserTree | None = None
    folder: str = ""
    workflow: WorkflowDefinition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """The turn of a stored conversation that is being answered; `message_id` is its newest message.

    `question_uid` is the uid of the user's newest message, None without one; `answer_uid` is that of the answer to
    come. `open` collects what is put behind `message_id` until the answer is stored. `recalled` is what was recalled
    for its questions, None where that is not kept.
    """

    conversation_id: str
    message_id: int
    question_uid: str | None = None
    answer_uid: str = field(default_factory=new_message_uid)
    open: OpenQuestion = field(default_factory=OpenQuestion, compare=False, repr=False)
    recalled: KeptRecall | None = field(default=None, compare=False, repr=False)

    @property
    def message_uids(self) -> Sequence[str]:
        """The uids of question and answer."""
        return [uid for uid in (self.question_uid, self.answer_uid) if uid is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller of one chat request.

    `client_task` names a task of the app itself (a title, tags, follow-up questions); it is None for a person's turn.
    For a task no memory is recalled and nothing is stored; the same holds for a raw request (`ModelRequest.raw`),
    whose prompt is sent to the model unchanged. A temporary chat may recall memories, but nothing of it is stored.
    `used_up` are the quotas that leave no room: nothing is learned, or kept, that they are about. `is_uncounted` is
    True where that could not be counted.
    `credential` is the request's key, which is sent on to the memory service. `client_keys` are its keys for the
    format's own encryption of discussions. `answerer` is given if it was looked up
    before, so that a request reads the user's files only once. `zone` is the name of the person's time zone.
    `recorded` is the turn of the stored conversation, None for a conversation that is not stored. `run_id` is the id
    of the run and its trace.
    """

    scope: Scope
    request_id: str
    memory: bool = False
    client_task: str | None = None
    is_temporary: bool = False
    is_raw: bool = False
    used_up: Sequence[Stored] = ()
    is_uncounted: bool = False
    credential: str | None = field(default=None, repr=False)
    client_keys: ClientKeys | None = None
    answerer: Answerer | None = None
    zone: str | None = None
    recorded: RecordedTurn | None = None
    run_id: str = field(default_factory=new_run_id)

    @property
    def recorded_scope(self) -> Scope:
        """The scope with the id of the stored conversation, also when the client sent none."""
        return replace(self.scope, conversation=self.recorded.conversation_id) if self.recorded else self.scope

    @property
    def memory_skip_reason(self) -> MemorySkip | None:
        """The reason in the request why memory is not used; None when the request asks for memory."""
        if self.client_task is not None:
            return "task"
        if self.is_temporary:
            return "temporary"
        if self.is_raw:
            return "raw"
        return None if self.memory else "off"

    @property
    def may_be_kept(self) -> bool:
        """True when messages may be stored: for a person's turn in a chat that is not temporary."""
        return self._is_a_turn and not self.is_temporary

    @property
    def is_recorded(self) -> bool:
        """True when messages are stored, if they may be: there is room for them."""
        return self.may_be_kept and all(what in OF_MEMORY for what in self.used_up)

    @property
    def recalls(self) -> bool:
        """True when memories are recalled: for a person's turn that asks for memory."""
        return self.memory and self._is_a_turn

    @property
    def learns(self) -> bool:
        """True when memories are derived: for a person's turn that asks for memory and may be stored."""
        return self.memory and self.may_be_kept and not any(what in OF_MEMORY for what in self.used_up)

    @property
    def _is_a_turn(self) -> bool:
        """True for a person's turn, False for a task of an app and a raw request."""
        return self.client_task is None and not self.is_raw


MOST_KEPT_CHARACTERS = 256 * 1024  # of an answer: an endless one must not exhaust the memory


async def _no_client(batch: Sequence[Event]) -> None:
    """The `emit` of requests without a client: discards the events."""


@dataclass(slots=True, kw_only=True)
class Turn:
    """One request of a client, shared by all workflow runs for it.

    `messages` is the conversation as nodes read it: without discussion tags and blank messages, with role names if
    the user's settings add them. Nodes may set others, which all later nodes see. `user` is None without a
    config tree. `discussion` belongs to `discussion_id`, and is set when its paths are known. `times` are the
    times of its messages by hash, if a workflow shows them. `rest` are the nodes left to run when the client has its
    answer, innermost workflow first; a turn that `is_answered` does not need the client any more. `answer` is the
    answer in pieces; if `is_overlong`, only its beginning. `on_node` is called for each node that begins, sends its
    first token, or ends. `answering` are the traces of the nodes that answer the client, outermost first. Events are
    sent to the client only through `say`.
    """

    chat: ChatRequest
    caller: Caller
    messages: Sequence[Message]
    trace: RunTrace
    emit: Emit = field(default=_no_client)
    user: UserTree | None = None
    discussion_id: str | None = None
    discussion: Discussion | None = None
    times: Mapping[str, str] = field(default_factory=dict)
    time_context: str = ""
    rest: list["Rest"] = field(default_factory=list)
    on_node: Callable[[RunTrace, NodeTrace], None] = field(default=lambda run, node: None)
    started: float = field(default_factory=perf_counter)
    nodes_run: int = 0
    runs_begun: int = 0
    answer: list[str] = field(default_factory=list)
    answering: list[NodeTrace] = field(default_factory=list)
    finished: Finished | None = None
    is_answered: bool = False
    is_refused: bool = False
    _said: int = 0
    _emitted_s: float = 0.0
    _emitting_since: float | None = None

    async def say(self, batch: Sequence[Event]) -> None:
        """Send a batch to the client, except for a Finished, which is stored in `finished`."""
        self.note(batch)
        if self.finished is not None:
            batch = [event for event in batch if not isinstance(event, Finished)]
            if not batch:
                return
        self._emitting_since = perf_counter()
        try:
            await self.emit(batch)
        finally:
            self._emitted_s += perf_counter() - self._emitting_since
            self._emitting_since = None

    @property
    def emitted_s(self) -> float:
        """Seconds spent on sending batches to the client, including the current one."""
        since = self._emitting_since
        return self._emitted_s if since is None else self._emitted_s + perf_counter() - since

    def note(self, batch: Sequence[Event]) -> None:
        """Store the parts of the answer that nodes behind the responder need, and the time of the first token."""
        for event in batch:
            if type(event) is Text:  # exact type: this runs for every streamed piece
                if not self._said:
                    self._note_first_token()
                if self._said < MOST_KEPT_CHARACTERS:
                    self.answer.append(event.text[: MOST_KEPT_CHARACTERS - self._said])
                self._said += len(event.text)
            elif type(event) is Refusal:
                self.is_refused = True
            elif type(event) is Finished:
                self.finished = event
            elif type(event) is Note:
                for node in self.answering[-1:]:
                    node.notes.append(event.text)

    def _note_first_token(self) -> None:
        self.trace.first_token_ms = self.elapsed_ms()
        for node in self.answering:
            node.first_token_ms = self.trace.first_token_ms
            self.on_node(self.trace, node)

    @property
    def is_overlong(self) -> bool:
        """True when the answer is longer than the part stored in `answer`."""
        return self._said > MOST_KEPT_CHARACTERS

    @property
    def user_text(self) -> str:
        """What the person said last, as typed, without the documents an app put around it; "" for nothing.

        That is the last user message, or what the person answered since to a tool of an agent.
        """
        messages = self.chat.request.messages
        place = last_user_message(messages)
        if place is None:
            return ""
        said = _last_feedback(messages[place + 1 :]) if place + 1 < len(messages) else ""
        return said or typed_text(text_at(messages, place))

    def elapsed_ms(self) -> float:
        """Milliseconds since the request began."""
        return (perf_counter() - self.started) * 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """A text of a parent node that replaces a prompt of its child workflow.

    It may name variables of both. It is filled once, in the child, with the parent's variables taking precedence, so
    that filled-in text is never read as a variable again. With `variables` None it is already filled, and `places`
    are the positions of its variables.
    """

    text: str
    variables: Mapping[str, object] | None
    places: Sequence[TextPosition] = ()

    def filled_text(self, variables: Mapping[str, object], places: TextPositions) -> str:
        """The text filled with the parent's variables, and with the child's for names the parent does not have.

        The positions of variables are appended to `places`.
        """
        if self.variables is None:
            places += self.places
            return self.text
        return fill(self.text, _Layers(self.variables, variables), places=places)


class _Layers(Mapping[str, object]):
    """Several mappings as one: the first with a name gives its value. Values are computed only when read."""

    def __init__(self, *layers: Mapping[str, object]) -> None:
        self._layers = layers

    def __getitem__(self, name: str) -> object:
        for layer in self._layers:
            try:
                return layer[name]
            except KeyError:
                continue
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for layer in self._layers for name in layer))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """Texts that replace those of the first node with a prompt in a child workflow; None replaces nothing."""

    system_prompt: Override | None = None
    prompt: Override | None = None


NO_OVERRIDES = Overrides()


@dataclass(slots=True, kw_only=True)
class Run:
    """One run of one workflow. `inputs` are agent1Input and following, `outputs` the outputs of its nodes by number.

    A silent run gives its output to another node, not to the client. `categories` are the variables of a categoriser.
    `lock_database` is the database of the workflow lock that the run holds, None without one.
    """

    id: str
    turn: Turn
    workflow: WorkflowDefinition
    trace: WorkflowTrace
    depth: int = 1
    is_silent: bool = False
    inputs: Sequence[object] = ()
    outputs: dict[int, object] = field(default_factory=dict)
    categories: Mapping[str, object] = field(default_factory=dict)
    overrides: Overrides = NO_OVERRIDES
    lock_database: Path | None = None


@dataclass(slots=True, kw_only=True)
class Rest:
    """The nodes of a run left to run behind its responder; `nodes` are their indexes, in order."""

    run: Run
    nodes: list[int]


def _last_feedback(messages: Sequence[Message]) -> str:
    """The person's last words in results of an agent's tools; "" for none."""
    tools = {call.id: call.name for message in messages for call in message.tool_calls}
    results = (one for one in reversed(messages) if one.role == "tool")
    return next(
        (said for one in results if (said := feedback_in(one.text, tools.get(one.tool_call_id or "", "")))), ""
    )


def last_user_message(messages: Sequence[Message]) -> int | None:
    """The index of the last message of role user; None without one."""
    for place in range(len(messages) - 1, -1, -1):
        if role_at(messages, place) == "user":
            return place
    return None
