"""What an agent does, as it does it. Pieces of the reply are `Text` of `core.events`."""

from dataclasses import dataclass, field

from mnemoir.core.conversation_messages import ToolCall
from mnemoir.core.events import Text, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRecalled:
    """So many messages of past conversations stand in front of the question."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A call of the model is about to be run, or refused."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """What the model is told of its call."""

    call: ToolCall
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The final answer, the last event of a run.

    `steps` counts calls of the model; `usage` is of all of them, estimated where a server did not count. `degraded`
    names what did not work: "history", "storing", "retrieval", "tools".
    """

    text: str
    finish_reason: str = "stop"
    steps: int = 1
    usage: Usage = field(default_factory=Usage)
    degraded: tuple[str, ...] = ()


AgentEvent = Text | ContextRecalled | ToolStarted | ToolFinished | Answered
