"""Embedding models behind HTTP: OpenAI's protocol, and Ollama's.

What comes back is looked at before anyone stores it: every vector finite, not zero, of the one length this model has
shown so far, and brought to unit length. A client's own request is another matter: it goes on as it was sent.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
import numpy as np

from mnemoir.core.embeddings import EmbeddingReply, EmbeddingRequest
from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.core.messages import Route
from mnemoir.ports.embedding import Embedding, EmbeddingModel, FloatArray, Passage
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.exchange import Exchange
from mnemoir.wire import ollama_embed, openai_embeddings

MOST_TEXTS = 64  # a call; more are sent in turn


class RemoteEmbeddings(ABC):
    """What both do alike; a dialect adds its calls. `reads_tokens` tells whether texts may be sent as tokens."""

    _prefix: str
    route: Route
    reads_tokens = False

    def __init__(self, endpoint: Endpoint, session: aiohttp.ClientSession) -> None:
        self._endpoint = endpoint
        self._exchange = Exchange(endpoint, session)
        self._dimension: int | None = None

    @property
    def name(self) -> str:
        """For example `openai:text-embedding-3-small`."""
        return f"{self._prefix}:{self._endpoint.model}"

    @property
    def dimension(self) -> int | None:
        """Learned from the first answer."""
        return self._dimension

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """One embedding per passage; these models give no token vectors and look at no context."""
        texts = [passage.text for passage in passages]
        embeddings: list[Embedding] = []
        for start in range(0, len(texts), MOST_TEXTS):
            vectors = self._checked(await self._call(texts[start : start + MOST_TEXTS]))
            embeddings += [Embedding(vector=vector) for vector in vectors]
        return embeddings

    @abstractmethod
    async def answer(self, request: EmbeddingRequest) -> EmbeddingReply:
        """What the model's server answers a client, in one call, with members and vectors as they came.

        Whatever length these vectors have, those of memories keep theirs. Raises ProviderError.
        """

    async def warm(self) -> None:  # noqa: B027 - the same for both dialects: nothing
        """Nothing is loaded here."""

    async def aclose(self) -> None:  # noqa: B027 - the same for both dialects: nothing
        """Nothing is held here: the session is shared."""

    @abstractmethod
    async def _call(self, texts: Sequence[str]) -> FloatArray:
        """One vector per text, in one call."""

    def _checked(self, vectors: FloatArray) -> FloatArray:
        width = vectors.shape[1]
        if self._dimension not in (None, width):
            raise self._unusable(f"vectors of {width} numbers, where it gave {self._dimension} before")
        if not np.isfinite(vectors).all():
            raise self._unusable("a vector with a value that is not a finite number")
        exact = vectors.astype(np.float64)  # the square of a large float32 is beyond float32
        lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
        if not lengths.all():
            raise self._unusable("a zero vector")
        self._dimension = width
        unit: FloatArray = (exact / lengths).astype(np.float32)
        return unit

    def _unusable(self, what: str) -> ProviderInvalidOutput:
        return ProviderInvalidOutput(f"{self._endpoint.place}: the embedding model {self.name} answered with {what}.")


class OpenAIEmbeddings(RemoteEmbeddings):
    """Any server with OpenAI's embeddings protocol."""

    _prefix = "openai"
    route = openai_embeddings.ROUTE
    reads_tokens = True

    async def _call(self, texts: Sequence[str]) -> FloatArray:
        def read(body: Mapping[str, Any]) -> FloatArray:
            return openai_embeddings.read_reply(body, count=len(texts))

        body = openai_embeddings.write_request([text or " " for text in texts], model=self._endpoint.model)
        return await self._exchange.whole("/embeddings", body, read)  # OpenAI refuses an empty text

    async def answer(self, request: EmbeddingRequest) -> EmbeddingReply:
        """See RemoteEmbeddings."""

        def read(body: Mapping[str, Any]) -> EmbeddingReply:
            return openai_embeddings.read_client_reply(body, count=request.count)

        body = openai_embeddings.write_client_request(request, model=self._endpoint.model)
        return await self._exchange.whole("/embeddings", body, read)


class OllamaEmbeddings(RemoteEmbeddings):
    """A model in an Ollama."""

    _prefix = "ollama"
    route = ollama_embed.ROUTE

    async def _call(self, texts: Sequence[str]) -> FloatArray:
        def read(body: Mapping[str, Any]) -> FloatArray:
            return ollama_embed.read_reply(body, count=len(texts))

        body = ollama_embed.write_request([text or " " for text in texts], model=self._endpoint.model)
        return await self._exchange.whole("/api/embed", body, read)

    async def answer(self, request: EmbeddingRequest) -> EmbeddingReply:
        """See RemoteEmbeddings."""

        def read(body: Mapping[str, Any]) -> EmbeddingReply:
            return ollama_embed.read_client_reply(body, count=request.count)

        body = ollama_embed.write_client_request(request, model=self._endpoint.model)
        return await self._exchange.whole("/api/embed", body, read)


_: tuple[type[EmbeddingModel], ...] = (OpenAIEmbeddings, OllamaEmbeddings)  # checked, never run
