"""Any chat model behind `ports.llm` as an agent's LLM."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from mnemoir.agent.llm import CompletionResponse, StreamingLLM, ToolSpec
from mnemoir.conversations.messages import MediaPart, Message, TextPart, ToolCall, calls_of
from mnemoir.core import messages as core
from mnemoir.core.events import Finished, ModelEvent, Text, ToolCallPart, Usage
from mnemoir.ports.llm import ChatModel

# The name under which a tool gets what stands in place of a JSON object: no signature has it, so the model is told.
UNREADABLE = "unreadable_arguments"


class ChatModelLLM:
    """An LLM over a ChatModel. Raises ProviderError. Of files only pictures are sent: the port takes no others."""

    def __init__(self, model: ChatModel, sampling: core.Sampling | None = None) -> None:
        self._model = model
        self._sampling = sampling or core.Sampling()

    async def complete(self, *, messages: list[Message], tools: list[ToolSpec] | None) -> CompletionResponse:
        """The whole answer, in one call upstream."""
        reply = await self._model.ask(self._request(messages, tools))
        calls = [_read_call(call.id, call.name, call.arguments) for call in reply.tool_calls]
        return CompletionResponse(reply.text or None, calls or None, reply.reason, reply.usage)

    async def stream(
        self, *, messages: list[Message], tools: list[ToolSpec] | None
    ) -> AsyncGenerator[Text | CompletionResponse, None]:
        """Pieces of the text as they come, then the whole answer."""
        gathered = _Gathered()
        async with aclosing(self._model.stream(self._request(messages, tools))) as batches:
            async for batch in batches:
                for event in batch:
                    gathered.add(event)
                    if isinstance(event, Text):
                        yield event
        yield gathered.response()

    def _request(self, messages: Sequence[Message], tools: Sequence[ToolSpec] | None) -> core.ModelRequest:
        return core.ModelRequest(messages=list(_written(messages)), sampling=self._sampling, tools=tools or ())


@dataclass(slots=True)
class _Gathered:
    """A streamed answer put together."""

    texts: list[str] = field(default_factory=list)
    calls: dict[int, ToolCallPart] = field(default_factory=dict)
    usage: Usage | None = None
    reason: str = "stop"

    def add(self, event: ModelEvent) -> None:
        match event:
            case Text(text):
                self.texts.append(text)
            case ToolCallPart():
                self.calls[event.index] = self._joined(event)
            case Usage():
                self.usage = event
            case Finished():
                self.reason = event.reason

    def response(self) -> CompletionResponse:
        calls = [
            _read_call(call.id or f"call_{at}", call.name or "", call.arguments)
            for at, call in sorted(self.calls.items())
        ]
        return CompletionResponse("".join(self.texts) or None, calls or None, self.reason, self.usage)

    def _joined(self, part: ToolCallPart) -> ToolCallPart:
        before = self.calls.get(part.index)
        if before is None:
            return part
        arguments = before.arguments + part.arguments
        return replace(before, id=before.id or part.id, name=before.name or part.name, arguments=arguments)


def _read_call(call_id: str, name: str, arguments: str) -> ToolCall:
    """A call as the agent reads it. Broken JSON is not mended: half a command could be another command."""
    try:
        value: Any = orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        value = None
    return ToolCall(call_id, name, value if isinstance(value, dict) else {UNREADABLE: arguments})


def _written(messages: Sequence[Message]) -> Iterator[core.Message]:
    """The messages for the port; one of which nothing can be sent is left out."""
    for message in messages:
        parts = tuple(_parts(message))
        if parts or calls_of(message) or not isinstance(message.content, list):
            yield core.Message(
                role=message.role,
                parts=parts,
                name=message.name if message.role == "tool" else None,
                tool_calls=[_write_call(call) for call in calls_of(message)],
                tool_call_id=message.tool_call_id,
            )


def _parts(message: Message) -> Iterator[core.Part]:
    if not isinstance(message.content, list):
        if message.content:
            yield core.TextPart(text=message.content)
        return
    for part in message.content:
        if isinstance(part, TextPart):
            yield core.TextPart(text=part.data)
        elif isinstance(part, MediaPart) and part.type == "image":
            yield core.ImagePart(url=part.data, detail=part.detail)


def _write_call(call: ToolCall) -> core.ToolCall:
    arguments = orjson.dumps(dict(call.arguments), default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    return core.ToolCall(id=call.id, name=call.name, arguments=arguments)


_: type[StreamingLLM] = ChatModelLLM  # checked, never run
