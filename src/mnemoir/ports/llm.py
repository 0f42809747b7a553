"""Chat models: a request in no protocol's words, and the answer as events or whole."""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from mnemoir.core.events import ModelEvent, Reply
from mnemoir.core.messages import ModelRequest


class ChatModel(Protocol):
    """A language model, near or far. Both methods raise ProviderError (or a subclass) and nothing else.

    A request without a `model` goes to the one the back-end was set up with. Only failures before the first
    byte are retried; cancelling the caller ends the call upstream.
    """

    @property
    def name(self) -> str:
        """The model's own name, for example `gpt-5-mini`."""

    @property
    def provider(self) -> str:
        """How it is reached: `openai-responses`, `openai-chat`, `ollama` or `offline`."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelEvent], None]:
        """The answer as it comes, all events of one network read together, never an empty batch.

        The last event is the one Finished; a broken answer ends with an error instead. Closing the generator early
        ends the call upstream.
        """

    async def ask(self, request: ModelRequest) -> Reply:
        """The whole answer, in one call upstream."""

    async def aclose(self) -> None:
        """Free what the back-end holds; calling it twice is harmless."""
