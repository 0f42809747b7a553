"""Standard: ask the model and give its answer."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from mnemoir.core.events import Event, Finished, Reply, Text, Thinking, ToolCallPart
from mnemoir.core.messages import ModelRequest
from mnemoir.ports.llm import ChatModel
from mnemoir.workflows.run import Run


class Standard:
    """Sends the run's request to the model: streamed when the client streams, whole when it does not."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def applies(self, run: Run) -> bool:
        """Always."""
        return True

    def run(self, run: Run) -> AsyncGenerator[Sequence[Event], None]:
        """The model's events as they come, or all of a whole answer in one batch."""
        # the client's model name chose this workflow; which model answers is the workflow's business
        request = replace(run.request, model="")
        return self._model.stream(request) if run.chat.stream else self._whole(request)

    async def _whole(self, request: ModelRequest) -> AsyncGenerator[Sequence[Event], None]:
        yield as_events(await self._model.ask(request))


def as_events(reply: Reply) -> list[Event]:
    """A whole reply as the one batch a stream would have come to."""
    thinking = [Thinking(reply.thinking)] if reply.thinking else []
    text = [Text(reply.text)] if reply.text else []
    calls = [
        ToolCallPart(index=index, id=call.id, name=call.name, arguments=call.arguments)
        for index, call in enumerate(reply.tool_calls)
    ]
    return [*thinking, *text, *calls, reply.usage, Finished(reason=reply.reason)]
