"""The record of a run: what a workflow did for one request, node by node.

The values are filled in while the run goes on and written down when it ends; nothing but the run itself changes them.
Times are milliseconds since the run began.
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

# a side task of an app, a temporary chat, memory not switched on, a workflow that has no node of memory
MemorySkip = Literal["task", "temporary", "raw", "off", "workflow"]

MOST_TRACED_CHARACTERS = 64 * 1024  # of one prompt or output: more would be a second copy of the log


@dataclass(slots=True, kw_only=True)
class RecalledMemory:
    """A memory that was read; `id` is "" for what is none yet, such as a turn that waits to be looked into."""

    text: str
    id: str = ""


@dataclass(slots=True, kw_only=True)
class WrittenMemory:
    """Something that was written to be remembered, `count` of its kind.

    A `turn` is written down for facts to be derived from it behind the answer; `id` is that of its job.
    """

    kind: WrittenKind
    count: int = 1
    id: str = ""


@dataclass(slots=True, kw_only=True)
class FilledVariable:
    """Where a variable stands in a prompt: characters `start` to `end` of an entry of a list of messages.

    `message` is its index, 0 for a prompt that is one text. `name` is as the text named it.
    """

    name: str
    message: int
    start: int
    end: int


@dataclass(slots=True, kw_only=True)
class ModelCall:
    """How a node's model was asked, so that the same can be asked again; nothing in it is secret.

    `protocol` is the `provider` of the model. `options` are the members sent beside model and messages, None where
    `sampling` was written in the protocol's own way. A `model` of None was left out. `has_tools` tells that the model
    was offered tools, which are not kept, and `passed` names the client's own members that it got.
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
    """A message of a prompt; the role `note` tells what was left out.

    `images` is how many there were, since they are not kept, and `tool_calls` names the tools it called.
    """

    role: str
    content: str
    images: NotRequired[int]
    tool_calls: NotRequired[Sequence[str]]


@dataclass(slots=True, kw_only=True)
class NodeTrace:
    """One node. `tokens_counted` is True for tokens estimated here, since the model's server reported none.

    `prompt` is the text or the messages as they were sent, and `variables` what in it was filled in, as far as that
    is known exactly. `notes` tell what was decided on the way: a history cut to the budget, a category chosen, a lock
    met. `children` are the workflows the node ran. `is_responder` is true for the node that answered the client.
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
    written: list[WrittenMemory] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    children: list["WorkflowTrace"] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class WorkflowTrace:
    """One run of one workflow file; `folder` is where it was found, "" for the built-in one."""

    name: str
    folder: str = ""
    nodes: list[NodeTrace] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class RunTrace:
    """Everything done for one request. `workflows` are those run at the top: a categoriser, then the chosen one.

    `category` is what prompt routing decided, None where nothing was routed. `answered_ms` is when the client had its
    whole answer; nodes behind the responder go on after it. `asked` are the newest messages the client sent, and
    `dropped` the names of members of its request that the model did not get. `memory_skipped` is why memory took no
    part, None where it did. `message_uids` name question and answer of a kept conversation. Of a temporary chat
    figures alone are shown.
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
    asked: Sequence[TracedMessage] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    workflows: list[WorkflowTrace] = field(default_factory=list)

    def nodes(self) -> Iterator[NodeTrace]:
        """All nodes, each before those of the workflows it ran."""
        waiting = [node for workflow in reversed(self.workflows) for node in reversed(workflow.nodes)]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [inner for child in reversed(node.children) for inner in reversed(child.nodes)]


_NOT_KEPT = "What went wrong in a temporary chat is not kept."


def without_texts(run: RunTrace) -> RunTrace:
    """The run itself; of a temporary chat a copy with its figures, and nothing of what was said, read or answered."""
    if not run.is_temporary:
        return run
    workflows = [_without_texts(workflow) for workflow in run.workflows]
    return replace(run, asked=[], error=_NOT_KEPT if run.error else None, workflows=workflows)


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
        memories=[RecalledMemory(text="", id=memory.id) for memory in node.memories],
        notes=[],
        children=[_without_texts(child) for child in node.children],
    )
