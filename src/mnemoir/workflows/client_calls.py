"""The tool calls that a client's protocol can take: only one of them, or only ones whose arguments are an object."""

from collections.abc import Sequence

from mnemoir.core.events import Emit, Event, Gathering, ToolCallPart
from mnemoir.core.messages import ChatRequest
from mnemoir.wire.ollama_tool_calls import write_answered_calls
from mnemoir.wire.openai_chat_answers import without_further_calls


class ClientCalls:
    """Emits an answer to the client of `chat`, and checks it before it is complete and recorded as such."""

    def __init__(self, chat: ChatRequest, emit: Emit) -> None:
        self._takes_one, self._takes_objects = chat.function_calls, chat.object_arguments
        self._emit = emit
        self._calls = Gathering()

    @property
    def emit(self) -> Emit:
        """The `emit` of the answer; the given one for clients that take any calls."""
        return self._emit_calls if self._takes_one or self._takes_objects else self._emit

    def check(self) -> None:
        """Raise ProviderInvalidOutput for a call that the client cannot get. Call it at the end of the answer."""
        if self._takes_objects:
            write_answered_calls(self._calls.so_far().tool_calls)

    async def _emit_calls(self, batch: Sequence[Event]) -> None:
        if self._takes_one:
            batch = without_further_calls(batch)
        self._calls.take([event for event in batch if isinstance(event, ToolCallPart)])
        await self._emit(batch)
