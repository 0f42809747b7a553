"""Chat models over OpenAI's chat completions, a protocol of nearly every other model server too."""

from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

from mnemoir.core.events import Alternative, Finished, ModelEvent, Reply
from mnemoir.core.messages import ModelRequest
from mnemoir.ports.llm import ChatModel
from mnemoir.providers.llm.remote_model import Dialect, RemoteModel
from mnemoir.wire import openai_chat, openai_completions
from mnemoir.wire.openai_completions import check_answered, count_prompts


class OpenAIChat(RemoteModel):
    """A chat model of any server with OpenAI's chat protocol."""

    dialect = Dialect(
        provider="openai-chat",
        path="/chat/completions",
        write_request=openai_chat.write_request,
        reader=openai_chat.AnswerReader,
    )
    raw_dialect = Dialect(
        provider="openai-completions",
        path="/completions",
        write_request=openai_completions.write_request,
        reader=openai_completions.AnswerReader,
    )

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelEvent], None]:
        """See the port. An answer to several prompts ends with an error where it leaves one out."""
        events = super().stream(request)
        return self._events_of_prompts(request, events) if request.raw and count_prompts(request) > 1 else events

    def ask(self, request: ModelRequest) -> Coroutine[Any, Any, Reply]:
        """See the port. Raises ProviderInvalidOutput for an answer that leaves one of several prompts out."""
        answering = super().ask(request)  # no coroutine around it for every chat
        return self._reply_to_prompts(request, answering) if request.raw and count_prompts(request) > 1 else answering

    async def _reply_to_prompts(self, request: ModelRequest, answering: Coroutine[Any, Any, Reply]) -> Reply:
        reply = await answering
        with self._errors():
            check_answered(request, 1 + len(reply.alternatives))
        return reply

    async def _events_of_prompts(
        self, request: ModelRequest, events: AsyncGenerator[Sequence[ModelEvent], None]
    ) -> AsyncGenerator[Sequence[ModelEvent], None]:
        answered: set[object] = set()
        async with aclosing(events) as batches:
            async for batch in batches:
                answered |= {event.choice.get("index") for event in batch if isinstance(event, Alternative)}
                if not any(isinstance(event, Finished) for event in batch):
                    yield batch
                    continue
                yield [event for event in batch if not isinstance(event, Finished)]
                with self._errors():
                    check_answered(request, 1 + len(answered))
                yield [event for event in batch if isinstance(event, Finished)]


_: type[ChatModel] = OpenAIChat  # checked, never run
