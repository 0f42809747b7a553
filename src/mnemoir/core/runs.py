"""The trace of a run: the work of a workflow for one request, node by node.

Only the run itself changes these values; they are filled in while it goes on and stored when it ends. Times are
milliseconds since the run began.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # before Python 3.12 pydantic takes no other

from mnemoir.core.clock import now_text
from mnemoir.core.messages import Sampling
from mnemoir.core.scope import Scope

RunStatus = Literal["running", "finished", "failed", "cancelled"]
WrittenKind = Literal["turn", "chunk_summary", "chunk_records", "rolling_summary", "node_memory"]

# a side task of an app, a temporary chat, memory not switched on, a workflow without a memory node
MemorySkip = Literal["task", "temporary", "raw", "off", "workflow"]

MOST_QUESTION_CHARACTERS = 120
MOST_TRACED_CHARACTERS = 64 * 1024  # of one prompt or output: more would make traces a second copy of the chat log


@dataclass(slots=True, kw_only=True)
class RecalledMemory:
    """A memory read by a node; `id` is "" for text not stored as a memory, such as a turn waiting for extraction.

    One that `fits` has something in common with the question by itself; others were given along.
    """

    text: str
    id: str = ""
    fits: bool = True


@dataclass(slots=True, kw_only=True)
class WrittenMemory:
    """Memories that a node wrote: `count` of one kind.

    A `turn` is a turn queued for the extraction of facts after the answer; `id` is the id of its job.
    """

    kind: WrittenKind
    count: int = 1
    id: str = ""


@dataclass(slots=True, kw_only=True)
class FilledVariable:
    """The position of a variable's value in a prompt: characters `start` to `end` of the message at index `message`.

    `message` is 0 for a prompt that is one text. `name` is spelled as in the node's text.
    """

    name: str
    message: int
    start: int
    end: int


@dataclass(slots=True, kw_only=True)
class ModelCall:
    """The parameters of a node's model call, from which the same request can be repeated. It holds no secrets.

    `protocol` is the `provider` of the model. `options` are the members sent beside model and messages; they are None
    when `sampling` was sent in the protocol's own form. With a `model` of None no name was sent. `has_tools` is True
    when tools were sent, which are not stored; `passed` names the client's own members that were sent.
    """

    url: str
    protocol: str
    model: str | None = None
    needs_key: bool = False
    stream: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    options: Mapping[str, Any] | None = None
    has_tools: bool = False
    passed: list[str] = field(default_factory=list)


class TracedMessage(TypedDict):
    """A message of a prompt; an entry of role `note` describes what was left out.

    `images` is the number of pictures, which are not stored; `tool_calls` are the names of the tools called.
    """

    role: str
    content: str
    images: NotRequired[int]
    tool_calls: NotRequired[Sequence[str]]


@dataclass(slots=True, kw_only=True)
class NodeTrace:
    """The trace of one node. `tokens_counted` is True for token counts estimated here, as the server reported none.

    `prompt` is the text or the messages as sent; `variables` are the filled-in variables whose position in it is
    known exactly. `memories` are those recalled for the newest question, `standing` those in front of former ones.
    `notes` record decisions: a history cut to the budget, a category chosen, a lock held by another run. `children`
    are the workflows the node ran. `is_responder` is True for the node that answered the client.
    """

    number: int
    title: str
    type: str
    started_ms: float
    endpoint: str | None = None
    preset: str | None = None
    model: str | None = None
    prompt: str | Sequence[TracedMessage] | None = None
    output: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    tokens_counted: bool = False
    first_token_ms: float | None = None
    duration_ms: float | None = None
    error: str | None = None
    is_responder: bool = False
    call: ModelCall | None = None
    variables: list[FilledVariable] = field(default_factory=list)
    memories: list[RecalledMemory] = field(default_factory=list)
    standing: list[RecalledMemory] = field(default_factory=list)
    written: list[WrittenMemory] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    children: list["WorkflowTrace"] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class WorkflowTrace:
    """The trace of one workflow. `folder` is the folder of its file, "" for the built-in workflow."""

    name: str
    folder: str = ""
    nodes: list[NodeTrace] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class RunTrace:
    """The trace of one request. `workflows` are the top-level ones: a categoriser, then the chosen workflow.

    `category` is the decision of prompt routing, None without routing. `answered_ms` is the time at which the client
    had its whole answer; nodes behind the responder run on after it. `question` is the beginning of the user's last
    message in one line, of at most MOST_QUESTION_CHARACTERS, "" without one. `asked` are the newest messages the
    client sent; `dropped` names members of its request that were not sent to the model. `memory_skipped` is the
    reason why memory was not used, None when it was. `message_uids` are the uids of question and answer in a stored
    conversation.
    Traces of temporary chats are shown without texts.
    """

    id: str
    scope: Scope
    user: str = ""  # of the config tree; "" without one
    model: str = ""  # as the client named it
    stream: bool = False
    status: RunStatus = "running"
    started_at: str = field(default_factory=now_text)
    first_token_ms: float | None = None
    answered_ms: float | None = None
    duration_ms: float | None = None
    category: str | None = None
    error: str | None = None
    memory_skipped: MemorySkip | None = None
    is_temporary: bool = False
    message_uids: Sequence[str] = field(default_factory=list)
    question: str = ""
    asked: Sequence[TracedMessage] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    workflows: list[WorkflowTrace] = field(default_factory=list)

    def nodes(self) -> Iterator[NodeTrace]:
        """All nodes, each before the nodes of the workflows it ran."""
        waiting = [node for workflow in reversed(self.workflows) for node in reversed(workflow.nodes)]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [inner for child in reversed(node.children) for inner in reversed(child.nodes)]


_NOT_KEPT = "What went wrong in a temporary chat is not kept."


def without_texts(run: RunTrace) -> RunTrace:
    """The run itself; for a temporary chat, a copy with its numbers but without prompts, memories and answers."""
    if not run.is_temporary:
        return run
    workflows = [_without_texts(workflow) for workflow in run.workflows]
    return replace(run, question="", asked=[], error=_NOT_KEPT if run.error else None, workflows=workflows)


def _without_texts(workflow: WorkflowTrace) -> WorkflowTrace:
    return replace(workflow, nodes=[_figures_of(node) for node in workflow.nodes])


def _figures_of(node: NodeTrace) -> NodeTrace:
    return replace(
        node,
        prompt=None,
        output=None,
        error=_NOT_KEPT if node.error else None,
        call=None,
        variables=[],
        memories=[replace(memory, text="") for memory in node.memories],
        standing=[replace(memory, text="") for memory in node.standing],
        notes=[],
        children=[_without_texts(child) for child in node.children],
    )
