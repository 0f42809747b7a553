"""Events of an agent's run. Pieces of the reply are `Text` of `core.events`."""

from dataclasses import dataclass, field

from mnemoir.core.conversations import ToolCall
from mnemoir.core.events import Text, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRecalled:
    """The prompt contains `count` messages of past conversations before the question."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A tool call of the model, before it is run or refused."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """The result of a tool call, as the model gets it."""

    call: ToolCall
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The final answer, the last event of a run.

    `steps` counts model calls; `usage` sums all of them, estimated where a server did not count. `degraded` names the
    parts that failed: "history", "storing", "retrieval", "tools".
    """

    text: str
    finish_reason: str = "stop"
    steps: int = 1
    usage: Usage = field(default_factory=Usage)
    degraded: tuple[str, ...] = ()


AgentEvent = Text | ContextRecalled | ToolStarted | ToolFinished | Answered
