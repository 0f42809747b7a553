"""What the routes of runs answer, for their description: the very members of `core.runs` and of the run store."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mnemoir.core.runs import MemorySkip, RunStatus, WrittenKind

Event = Literal["ADD", "UPDATE", "DELETE"]
JobState = Literal["waiting", "running", "done", "failed", "gone"]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RunListed(_Answer):
    """A run in a list. Times are milliseconds since it began."""

    id: str
    started_at: str
    status: RunStatus
    user: str = Field(description="Of the config tree; empty without one")
    project: str
    user_id: str = Field(description="Whose memories take part")
    conversation: str | None
    model: str
    stream: bool
    workflow: str
    category: str | None
    first_token_ms: float | None
    duration_ms: float | None
    nodes: int
    memories: int
    input_tokens: int
    output_tokens: int
    tokens_counted: bool = Field(description="Whether tokens of a node are estimated, as its server reported none")
    error: str | None


class RunNodeMoved(_Answer):
    """A node of a run under way has begun, has said its first word, or has ended."""

    run_id: str
    number: int = Field(description="Its place in its workflow, from 1")
    title: str
    type: str
    state: Literal["running", "finished", "failed"]


class RunPage(_Answer):
    """A page of runs, newest first; `next` is the `before` of the page after it."""

    results: Sequence[RunListed]
    next: str | None


class RunMemory(_Answer):
    """A memory that was read; `id` is empty for what is none yet."""

    text: str
    id: str


class RunShort(_Answer):
    """A run in a line."""

    id: str
    status: RunStatus
    workflow: str
    conversation: str | None
    nodes: int
    memories: Sequence[RunMemory]
    first_token_ms: float | None
    duration_ms: float | None
    input_tokens: int
    output_tokens: int
    tokens_counted: bool
    error: str | None


class RunVariable(_Answer):
    """Characters `start` to `end` of a prompt, as Unicode code points, are the value of a variable."""

    name: str
    message: int
    start: int
    end: int


class RunWritten(_Answer):
    """What a node wrote to be remembered."""

    kind: WrittenKind
    count: int
    id: str


class RunSampling(_Answer):
    """How the model was to pick its words."""

    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    stop: Sequence[str]
    seed: int | None
    presence_penalty: float | None
    frequency_penalty: float | None


class RunCall(_Answer):
    """How a node's model was asked."""

    url: str
    protocol: str
    model: str | None
    needs_key: bool
    stream: bool
    sampling: RunSampling
    options: dict[str, Any] | None
    has_tools: bool
    passed: Sequence[str] = Field(description="names of the client's own members that the model got")


class RunPromptMessage(_Answer):
    """A message of a prompt; the role `note` tells what was left out."""

    role: str
    content: str
    images: int | None = Field(None, description="How many; they are not kept")
    tool_calls: Sequence[str] | None = Field(None, description="Names of the tools it called")


class RunNode(_Answer):
    """One node of a workflow. Times are milliseconds since the run began."""

    number: int
    title: str
    type: str
    started_ms: float
    endpoint: str | None
    preset: str | None
    model: str | None
    prompt: str | Sequence[RunPromptMessage] | None
    output: str | None
    input_tokens: int
    output_tokens: int
    tokens_counted: bool
    first_token_ms: float | None
    duration_ms: float | None
    error: str | None
    is_responder: bool
    call: RunCall | None
    variables: Sequence[RunVariable]
    memories: Sequence[RunMemory]
    written: Sequence[RunWritten]
    notes: Sequence[str]
    children: Sequence["RunWorkflow"]


class RunWorkflow(_Answer):
    """One run of a workflow file."""

    name: str
    folder: str
    nodes: Sequence[RunNode]


class RunScope(_Answer):
    """Whose memories and which conversation took part."""

    project: str
    user: str
    tenant: str
    agent: str | None
    app: str | None
    conversation: str | None
    node: str | None


class RunWhole(_Answer):
    """A run, node by node."""

    id: str
    scope: RunScope
    user: str
    model: str
    stream: bool
    status: RunStatus
    started_at: str
    first_token_ms: float | None
    answered_ms: float | None
    duration_ms: float | None
    category: str | None
    error: str | None
    memory_skipped: MemorySkip | None = Field(description="Why memory took no part; null where it did")
    is_temporary: bool = Field(description="Of a temporary chat only figures are kept")
    dropped: Sequence[str] = Field(description="names of members of the request that the model did not get")
    asked: Sequence[RunPromptMessage]
    workflows: Sequence[RunWorkflow]


class RunLearned(_Answer):
    """A memory that changed because of a run; `text` is how it reads now, null when it is gone."""

    id: str
    event: Event
    text: str | None


class RunRemembering(_Answer):
    """What was written in a run, and what became of it. `node` is its place among all nodes of the run."""

    node: int
    title: str
    kind: WrittenKind
    count: int
    state: JobState = Field(description="`done` for all that was written at once; `gone` when nobody knows any more")
    error: str | None
    learned: Sequence[RunLearned]


class RunMemories(_Answer):
    """What was read from memory in a run, and written to it, also behind the answer."""

    read: Sequence[RunMemory]
    written: Sequence[RunRemembering]


class RunCommand(_Answer):
    """A request as a command line; `left_out` tells what is not in it as it was sent."""

    url: str
    body: dict[str, Any]
    curl: str
    left_out: Sequence[str]
