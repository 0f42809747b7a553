"""The one stream: what a model, a node or a whole workflow says, as it says it.

A complete answer ends with exactly one Finished. A stream that ends without one was cut, and whoever reads it
must not present it as complete.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from mnemoir.core.messages import ToolCall
from mnemoir.core.runs import MemorySkip

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, as it came."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of the model's reasoning; not part of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPart:
    """A piece of the call at `index`. `id` and `name` come with the first piece, `arguments` piecewise."""

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call, as its server counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """The counts of both calls together."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The answer is complete."""

    reason: FinishReason = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStarted:
    """A workflow node begins."""

    node: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFinished:
    """A workflow node is done; `error` says why it failed, None that it did not."""

    node: str
    type: str
    duration_ms: float
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoriesRecalled:
    """How many memories went into the prompt; `degraded` names what was missing, "" when nothing was."""

    count: int
    degraded: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySkipped:
    """Memory takes no part in the answer, or only a part of it, and why."""

    reason: MemorySkip


ModelEvent = Text | Thinking | ToolCallPart | Usage | Finished
Event = ModelEvent | NodeStarted | NodeFinished | MemoriesRecalled | MemorySkipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole, complete answer of a model; `tool_calls` pieces are joined."""

    text: str
    reason: FinishReason = "stop"
    tool_calls: Sequence[ToolCall] = ()
    thinking: str = ""
    usage: Usage = field(default_factory=Usage)


def as_events(reply: Reply) -> list[ModelEvent]:
    """A whole reply as the one batch a stream would have come to."""
    thinking = [Thinking(reply.thinking)] if reply.thinking else []
    text = [Text(reply.text)] if reply.text else []
    calls = [
        ToolCallPart(index=index, id=call.id, name=call.name, arguments=call.arguments)
        for index, call in enumerate(reply.tool_calls)
    ]
    return [*thinking, *text, *calls, reply.usage, Finished(reason=reply.reason)]
