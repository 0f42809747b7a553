"""The one stream: what a model, a node or a whole workflow says, as it says it.

A complete answer ends with exactly one Finished. A stream that ends without one was cut, and whoever reads it
must not present it as complete.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mnemoir.core.messages import Extra, Route, ToolCall
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


@dataclass(frozen=True, slots=True)
class Refusal:
    """A piece of the model's refusal to answer, in its own words; it stands where an answer would."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPart:
    """A piece of the call at `index`. `id` and `name` come with the first piece, `arguments` piecewise."""

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""
    custom: bool = False
    extra: Extra | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """Members of an answer that Mnemoir does not read, as they came, for a client of the same protocol.

    `answer` are those of the whole object, `choice` those beside the message or delta, `message` those inside it. In
    a stream they belong to the event right behind this one, and `answer` to all that follow until another one comes.
    """

    route: Route
    answer: Mapping[str, Any] | None = None
    choice: Mapping[str, Any] | None = None
    message: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A further answer to the same request, or a piece of it in a stream: OpenAI's choice object, as it came.

    Nothing is remembered of it.
    """

    choice: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call, as its server counted them; `extra` is its usage object, with all its details."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    extra: Extra | None = None

    def __add__(self, other: "Usage") -> "Usage":
        """The counts of both calls together. Details are those of the one call that has any."""
        if other == _NO_USAGE:
            return self
        if self == _NO_USAGE:
            return other
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


_NO_USAGE = Usage()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersDropped:
    """Names of members of the client's request that the model asked has no place for, or is not to get."""

    names: Sequence[str]


ModelEvent = Text | Thinking | Refusal | ToolCallPart | Passed | Alternative | Usage | Finished
Event = ModelEvent | NodeStarted | NodeFinished | MemoriesRecalled | MemorySkipped | MembersDropped

Emit = Callable[[Sequence[Event]], Awaitable[None]]
"""Takes one batch of events on its way to the client; returns when the client's connection has room for more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole, complete answer of a model; `tool_calls` pieces are joined.

    A `refusal` is what the model said in place of an answer. `alternatives` are further choices, as they came.
    """

    text: str
    reason: FinishReason = "stop"
    tool_calls: Sequence[ToolCall] = ()
    thinking: str = ""
    refusal: str = ""
    usage: Usage = field(default_factory=Usage)
    passed: Passed | None = None
    alternatives: Sequence[Mapping[str, Any]] = ()

    @property
    def words(self) -> str:
        """What a person reads: the text, or the refusal in its place."""
        return self.text or self.refusal


def as_events(reply: Reply) -> list[ModelEvent]:
    """A whole reply as the one batch a stream would have come to."""
    events: list[ModelEvent] = [Thinking(reply.thinking)] if reply.thinking else []
    if reply.passed is not None:
        events.append(reply.passed)
    if reply.text:
        events.append(Text(reply.text))
    if reply.refusal:
        events.append(Refusal(reply.refusal))
    events += [
        ToolCallPart(
            index=index, id=call.id, name=call.name, arguments=call.arguments, custom=call.custom, extra=call.extra
        )
        for index, call in enumerate(reply.tool_calls)
    ]
    events += [Alternative(choice=choice) for choice in reply.alternatives]
    return [*events, reply.usage, Finished(reason=reply.reason)]
