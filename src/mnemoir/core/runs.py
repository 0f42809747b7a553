"""The record of a run: what a workflow did for one request, node by node.

The values are filled in while the run goes on and written down when it ends; nothing but the run itself changes them.
Times are milliseconds since the run began.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.scope import Scope

RunStatus = Literal["running", "finished", "failed", "cancelled"]

MOST_TRACED_CHARACTERS = 64 * 1024  # of one prompt or output: more would be a second copy of the log


@dataclass(slots=True, kw_only=True)
class NodeTrace:
    """One node. `tokens_counted` is True for tokens estimated here, since the model's server reported none.

    `prompt` is the text or the messages as they were sent. `notes` tell what was decided on the way: a history cut to
    the budget, a category chosen, a lock met. `children` are the workflows the node ran.
    """

    number: int
    title: str
    type: str
    started_ms: float
    endpoint: str | None = None
    preset: str | None = None
    model: str | None = None
    prompt: str | Sequence[Mapping[str, Any]] | None = None
    output: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    tokens_counted: bool = False
    first_token_ms: float | None = None
    duration_ms: float | None = None
    error: str | None = None
    memories: list[str] = field(default_factory=list)
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
    whole answer; nodes behind the responder go on after it.
    """

    id: str
    scope: Scope
    user: str = ""  # of the config tree; "" without one
    model: str = ""  # as the client named it
    stream: bool = False
    status: RunStatus = "running"
    started_at: str = field(default_factory=lambda: to_text(utc_now()))
    first_token_ms: float | None = None
    answered_ms: float | None = None
    duration_ms: float | None = None
    category: str | None = None
    error: str | None = None
    workflows: list[WorkflowTrace] = field(default_factory=list)
