"""Events of an answer: the one stream type of models, nodes and whole workflows.

A complete answer ends with exactly one Finished. A stream that ends without one was cut off, and its reader must not
present it as complete.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mnemoir.core.errors import ProviderUnavailable
from mnemoir.core.messages import Extra, Route, ToolCall
from mnemoir.core.runs import MemorySkip

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, as received."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of the model's reasoning; not part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A piece of the model's refusal to answer, in its own words, in place of an answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPart:
    """A piece of the tool call at `index`. The first piece has `id` and `name`; `arguments` come in pieces.

    A name may come in pieces too, all of them before the arguments.
    """

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""
    custom: bool = False
    extra: Extra | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """Members of an answer that Mnemoir does not read, passed on unchanged to a client of the same protocol.

    `answer` are members of the whole object, `choice` those beside the message or delta, `message` those inside it.
    In a stream, `choice` and `message` belong to the next event, and `answer` to all events until the next Passed.
    """

    route: Route
    answer: Mapping[str, Any] | None = None
    choice: Mapping[str, Any] | None = None
    message: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A further answer to the same request, or a piece of one in a stream: OpenAI's choice object, unchanged.

    No memories are derived from it.
    """

    choice: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call, as counted by its server; `extra` is that server's whole usage object."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    extra: Extra | None = None

    def __add__(self, other: "Usage") -> "Usage":
        """The sum of both counts. `extra` is kept only where the other usage is empty."""
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
    """A workflow node has begun."""

    node: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFinished:
    """A workflow node has ended; `error` is the reason of a failure, None after success."""

    node: str
    type: str
    duration_ms: float
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoriesRecalled:
    """The number of memories put into the prompt; `degraded` names search stages that failed, "" for none.

    `is_failed` tells that memory could not be asked at all, for the reason in `degraded`.
    """

    count: int
    degraded: str = ""
    is_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySkipped:
    """Memory was not used for the answer, or only partly; `reason` says why."""

    reason: MemorySkip


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersDropped:
    """Names of members of the client's request that were not sent to the model, as unsupported or not allowed."""

    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class Note:
    """What was odd about a model's answer. It is shown in the trace of the node and told to no client."""

    text: str


ModelEvent = Text | Thinking | Refusal | ToolCallPart | Passed | Alternative | Usage | Note | Finished
Event = ModelEvent | NodeStarted | NodeFinished | MemoriesRecalled | MemorySkipped | MembersDropped

Emit = Callable[[Sequence[Event]], Awaitable[None]]
"""Sends one batch of events to the client; returns when the client's connection can take more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A complete answer of a model, its pieces joined.

    `refusal` is the text a model gave in place of an answer. `alternatives` are further choices, unchanged. `notes`
    say what was odd about the answer.
    """

    text: str
    reason: FinishReason = "stop"
    tool_calls: Sequence[ToolCall] = ()
    thinking: str = ""
    refusal: str = ""
    usage: Usage = field(default_factory=Usage)
    passed: Passed | None = None
    alternatives: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()

    @property
    def words(self) -> str:
        """The text and the refusal, of which an answer nearly always has one."""
        return "\n\n".join(filter(None, (self.text, self.refusal)))


def as_events(reply: Reply) -> list[ModelEvent]:
    """The reply as one batch of the events that a stream of it would have had."""
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
    events += map(Note, reply.notes)
    return [*events, reply.usage, Finished(reason=reply.reason)]


class Gathering:
    """Collects batches of events and joins them into a Reply."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, list[ToolCallPart]] = {}
        self._passed: Passed | None = None
        self._alternatives: list[Mapping[str, Any]] = []
        self._notes: list[str] = []
        self._usage = Usage()
        self._finished: Finished | None = None

    def take(self, batch: Sequence[Event]) -> bool:
        """Add a batch. True when any of its events is part of the answer."""
        return sum(map(self._take, batch)) > 0  # not `any`: every event must be taken

    def reply(self) -> Reply:
        """The complete answer. Raises ProviderUnavailable when no Finished was taken."""
        if self._finished is None:
            raise ProviderUnavailable("The model's answer ended before it was complete. Ask again.")
        return self.so_far()

    @property
    def is_finished(self) -> bool:
        """True when the answer is complete."""
        return self._finished is not None

    def so_far(self) -> Reply:
        """The answer received so far, complete or not."""
        return Reply(
            text="".join(self._text),
            reason=self._finished.reason if self._finished else "stop",
            tool_calls=[_tool_call_from(index, pieces) for index, pieces in sorted(self._calls.items())],
            thinking="".join(self._thinking),
            refusal="".join(self._refusal),
            usage=self._usage,
            passed=self._passed,
            alternatives=tuple(self._alternatives),
            notes=tuple(self._notes),
        )

    def _take(self, event: Event) -> bool:
        match event:
            case Text():
                self._text.append(event.text)
            case Thinking():
                self._thinking.append(event.text)
            case Refusal():
                self._refusal.append(event.text)
            case ToolCallPart():
                self._calls.setdefault(event.index, []).append(event)
            case Usage():
                self._usage = self._usage + event
            case Finished():
                self._finished = event
            case Passed():
                self._passed = event  # a whole answer has one; of a stream only the newest is kept
            case Alternative():
                self._alternatives.append(event.choice)
            case Note():
                self._notes.append(event.text)
                return False
            case _:
                return False
        return True


def _tool_call_from(index: int, pieces: Sequence[ToolCallPart]) -> ToolCall:
    return ToolCall(
        id=next((piece.id for piece in pieces if piece.id), f"call_{index}"),
        name="".join(piece.name for piece in pieces if piece.name),
        arguments="".join(piece.arguments for piece in pieces),
        custom=any(piece.custom for piece in pieces),
        extra=next((piece.extra for piece in pieces if piece.extra), None),
    )
