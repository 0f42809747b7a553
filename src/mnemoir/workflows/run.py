"""The state of a request and of the workflows that run for it: who asked, and what was said."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

from mnemoir.core.discussions import Discussion
from mnemoir.core.events import Emit, Event, Finished, Refusal, Text
from mnemoir.core.ids import new_message_uid, new_run_id
from mnemoir.core.messages import ChatRequest, Message
from mnemoir.core.runs import MemorySkip, NodeTrace, RunTrace, WorkflowTrace
from mnemoir.core.scope import Scope
from mnemoir.wire.app_prompts import typed
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.workflow import WorkflowDefinition
from mnemoir.workflows.text.filling import fill
from mnemoir.workflows.text.places import Place, Places


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """What the `model` of a request means: the built-in workflow, or with a config tree a user of it.

    `name` is what the answer says of who answered. `folder` is the folder of shared workflows that is asked for, ""
    for the user's own workflow.
    """

    name: str
    user: UserTree | None = None
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """The turn of a stored conversation that is being answered; `message_id` is the newest message of it.

    `question_uid` names the user's newest message, None where there is none, and `answer_uid` the answer to come.
    """

    conversation_id: str
    message_id: int
    question_uid: str | None = None
    answer_uid: str = field(default_factory=new_message_uid)

    @property
    def message_uids(self) -> Sequence[str]:
        """Question and answer."""
        return [uid for uid in (self.question_uid, self.answer_uid) if uid is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The party behind one chat request.

    `client_task` names what an app asks for itself (a title, tags, follow-up questions), None for a person's turn:
    nothing is recalled for it and nothing of it kept. The same holds for a raw request (`ModelRequest.raw`), whose
    prompt reaches the model as it came. Nothing of a temporary chat outlives its answer, though it may recall.
    `credential` is the key it came with, to be sent on to memory.
    `answerer` is who answers, where that was looked up before: the files of a user are looked at once for a request.
    `recorded` is where the conversation is stored, None for one that is not. `run_id` names the run in its trace.
    """

    scope: Scope
    request_id: str
    memory: bool = False
    client_task: str | None = None
    is_temporary: bool = False
    is_raw: bool = False
    credential: str | None = field(default=None, repr=False)
    answerer: Answerer | None = None
    recorded: RecordedTurn | None = None
    run_id: str = field(default_factory=new_run_id)

    @property
    def recorded_scope(self) -> Scope:
        """The scope with the conversation it is stored as, also where the client named none."""
        return replace(self.scope, conversation=self.recorded.conversation_id) if self.recorded else self.scope

    @property
    def memory_skipped(self) -> MemorySkip | None:
        """Why memory takes no part, as far as the request tells; None where it asks for memory."""
        if self.client_task is not None:
            return "task"
        if self.is_temporary:
            return "temporary"
        if self.is_raw:
            return "raw"
        return None if self.memory else "off"

    @property
    def may_be_kept(self) -> bool:
        """Whether anything of what is said may be kept: a person's turn, in a chat that is not temporary."""
        return self._is_a_turn and not self.is_temporary

    @property
    def recalls(self) -> bool:
        """Memory was asked for, by a person's turn."""
        return self.memory and self._is_a_turn

    @property
    def learns(self) -> bool:
        """Memory was asked for, by a person's turn that may be kept."""
        return self.memory and self.may_be_kept

    @property
    def _is_a_turn(self) -> bool:
        """Whether it is a person's turn, which can be recalled for."""
        return self.client_task is None and not self.is_raw


MOST_KEPT_CHARACTERS = 256 * 1024  # of an answer: one without end must not fill the memory


async def _no_client(batch: Sequence[Event]) -> None:
    """Takes what is said where no client asked."""


@dataclass(slots=True, kw_only=True)
class Turn:
    """One request of a client, shared by all workflows that run for it.

    `messages` is the conversation as nodes read it: without discussion tags and blank messages, with the role names
    the user asked for. Nodes may insert into it, and all later ones see that. `user` is None without a config tree.
    `discussion` is the one of `discussion_id`, once it is known where that is kept.
    `times` are those of its messages, by hash, where a workflow shows them. `rest` is what is left to run when the
    client has its answer, innermost workflow first; a turn that `is_answered` needs the client no more.
    `answer` is the answer in its pieces, of one that `is_overlong` only its beginning. `on_node` is called for each
    node that begins, says its first word, or ends. `answering` are the traces of the nodes that answer the client,
    outermost first. Batches reach the client through `say` alone.
    """

    chat: ChatRequest
    caller: Caller
    messages: list[Message]
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
        """Send a batch to the client, all but its Finished: that is kept in `finished`."""
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
        """Seconds spent on handing batches to the client, the one under way included."""
        since = self._emitting_since
        return self._emitted_s if since is None else self._emitted_s + perf_counter() - since

    def note(self, batch: Sequence[Event]) -> None:
        """Keep what the nodes behind the responder will need of its answer, and when it began."""
        for event in batch:
            if type(event) is Text:  # exact type: this runs for every streamed piece
                if not self._said:
                    self._note_first_token()
                self._said += len(event.text)
                if self._said <= MOST_KEPT_CHARACTERS:
                    self.answer.append(event.text)
            elif type(event) is Refusal:
                self.is_refused = True
            elif type(event) is Finished:
                self.finished = event

    def _note_first_token(self) -> None:
        self.trace.first_token_ms = self.elapsed_ms()
        for node in self.answering:
            node.first_token_ms = self.trace.first_token_ms
            self.on_node(self.trace, node)

    @property
    def is_overlong(self) -> bool:
        """Whether more was answered than is kept."""
        return self._said > MOST_KEPT_CHARACTERS

    @property
    def user_text(self) -> str:
        """The last user message as typed, without the documents an app put around it; "" when there is none."""
        messages = self.chat.request.messages
        place = last_user_message(messages)
        return "" if place is None else typed(messages[place].text)

    def elapsed_ms(self) -> float:
        """Milliseconds since the request began."""
        return (perf_counter() - self.started) * 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """A text of a parent node for the prompt of a child's.

    It may name variables of both. It is filled once, in the child, with the parent's variables first, so that nothing
    that was put into it is ever read as a variable again. With `variables` of None it is filled already, and `places`
    are where its variables stand.
    """

    text: str
    variables: Mapping[str, object] | None
    places: Sequence[Place] = ()

    def filled(self, variables: Mapping[str, object], places: Places) -> str:
        """The text with the parent's variables in it, and where those have no such name the child's."""
        if self.variables is None:
            places += self.places
            return self.text
        return fill(self.text, _Layers(self.variables, variables), places=places)


class _Layers(Mapping[str, object]):
    """The variables of a parent before those of its child, each worked out only when it is asked for."""

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
    """Texts that replace those of the first node that has any; None replaces nothing."""

    system_prompt: Override | None = None
    prompt: Override | None = None


NO_OVERRIDES = Overrides()


@dataclass(slots=True, kw_only=True)
class Run:
    """One run of one workflow. `inputs` are its agent1Input and on, `outputs` the results of its nodes by number.

    A silent run answers another node and not the client. `categories` are the variables of a categoriser.
    `lock_database` is where it took a workflow lock, None when it took none.
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
    """What a workflow has left to run behind its responder; `nodes` are indexes, in order."""

    run: Run
    nodes: list[int]


def last_user_message(messages: Sequence[Message]) -> int | None:
    """The index of the last message of role user; None when there is none."""
    return next((i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "user"), None)
