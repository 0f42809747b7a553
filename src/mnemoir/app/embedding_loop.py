"""The server's embedding model for threads: conversations embed in their own, and the model lives in one loop."""

import asyncio
from collections.abc import Sequence

from mnemoir.conversations.embedding import ModelEmbeddingClient
from mnemoir.ports.embedding import Embedding, EmbeddingModel, Passage


class ServerEmbedding(ModelEmbeddingClient):
    """Asks the model in the loop that was running when this was made, whichever loop the caller has."""

    def __init__(self, model: EmbeddingModel) -> None:
        super().__init__(model)
        self._loop = asyncio.get_running_loop()

    async def passages(self, passages: Sequence[Passage]) -> list[Embedding]:
        """Raises ProviderError."""
        if not passages:
            return []
        if asyncio.get_running_loop() is self._loop:
            return await self.model.embed(passages)
        asked = asyncio.run_coroutine_threadsafe(self._embed(passages), self._loop)
        return await asyncio.wrap_future(asked)

    async def _embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        return await self.model.embed(passages)
