"""Chat models over OpenAI's Responses API, the protocol to use for OpenAI's own server.

The API has no stop texts, so this module applies them.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from mnemoir.core.errors import ProviderError
from mnemoir.core.events import ModelEvent, Reply
from mnemoir.core.messages import ModelRequest
from mnemoir.ports.llm import ChatModel
from mnemoir.providers.llm.remote_model import Dialect, RemoteModel
from mnemoir.wire import openai_responses
from mnemoir.wire.stop_texts import StopTexts, cut


class OpenAIResponses(RemoteModel):
    """OpenAI's own models."""

    dialect = Dialect(
        provider="openai-responses",
        path="/responses",
        write_request=openai_responses.write_request,
        reader=openai_responses.AnswerReader,
    )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelEvent], None]:
        """See the port. The call ends at the first stop text; then no usage event follows."""
        stops = StopTexts(request.sampling.stop)
        async with aclosing(super().stream(request)) as batches:
            try:
                async for batch in batches:
                    events = stops.events(batch) if request.sampling.stop else batch
                    if events:
                        yield events
                    if stops.met:
                        return
            except ProviderError:
                if held := stops.release():
                    yield held
                raise

    async def ask(self, request: ModelRequest) -> Reply:
        """See the port."""
        return cut(await super().ask(request), request.sampling.stop)


_: type[ChatModel] = OpenAIResponses  # checked, never run
