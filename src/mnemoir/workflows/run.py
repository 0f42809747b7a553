"""The state of a request and of the workflows that run for it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from mnemoir.core.discussions import Discussion
from mnemoir.core.events import Emit, Event, Finished, Refusal, Text
from mnemoir.core.messages import ChatRequest, Message
from mnemoir.core.runs import NodeTrace, RunTrace, WorkflowTrace
from mnemoir.wire.app_prompts import typed
from mnemoir.workflows.caller import Caller
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.workflow import WorkflowDefinition
from mnemoir.workflows.text.filling import fill
from mnemoir.workflows.text.places import Place, Places

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
