"""The adapter from a ChatModel of `ports.llm` to an agent's LLM."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from mnemoir.agent.llm import CompletionResponse, StreamingLLM, ToolSpec
from mnemoir.conversations.log.model_messages import read_call, to_model
from mnemoir.core import messages as core
from mnemoir.core.conversations import Message
from mnemoir.core.events import Gathering, Reply, Text
from mnemoir.ports.llm import ChatModel


class ChatModelLLM:
    """An LLM over a ChatModel. Raises ProviderError. Of files only images are sent: the port takes no others."""

    def __init__(self, model: ChatModel, sampling: core.Sampling | None = None) -> None:
        self._model = model
        self._sampling = sampling or core.Sampling()

    async def complete(self, *, messages: list[Message], tools: list[ToolSpec] | None) -> CompletionResponse:
        """The whole answer, in one upstream call."""
        return _response(await self._model.ask(self._request(messages, tools)))

    async def stream(
        self, *, messages: list[Message], tools: list[ToolSpec] | None
    ) -> AsyncGenerator[Text | CompletionResponse, None]:
        """Pieces of the text as they arrive, then the whole answer."""
        gathering = Gathering()
        async with aclosing(self._model.stream(self._request(messages, tools))) as batches:
            async for batch in batches:
                gathering.take(batch)
                for event in batch:
                    if isinstance(event, Text):
                        yield event
        yield _response(gathering.reply())

    def _request(self, messages: Sequence[Message], tools: Sequence[ToolSpec] | None) -> core.ModelRequest:
        return core.ModelRequest(messages=to_model(messages), sampling=self._sampling, tools=tools or ())


def _response(reply: Reply) -> CompletionResponse:
    calls = [read_call(call) for call in reply.tool_calls]
    return CompletionResponse(reply.text or None, calls or None, reply.reason, reply.usage)


_: type[StreamingLLM] = ChatModelLLM  # checked, never run
