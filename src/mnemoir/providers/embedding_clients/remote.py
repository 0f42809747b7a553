"""Embedding clients behind HTTP: Ollama's, OpenAI's and Cohere's protocols.

A call opens connections and closes them, so a client belongs to no event loop and has nothing to be closed. What
passes by itself (429, 5xx, no connection) is tried again, as long after as the server asks for.
"""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mnemoir.conversations.embedding import EmbeddingClient, usable_model_name
from mnemoir.core.errors import ProviderInvalidOutput, ProviderNotConfigured
from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint, Timeouts
from mnemoir.providers.llm.exchange import Exchange
from mnemoir.wire import openai_embeddings, upstream
from mnemoir.wire.embedding_request import Vectors, read_vectors

Format = Literal["openai", "cohere"]
_Purpose = Literal["search_document", "search_query"]

OLLAMA_HOST = "http://localhost:11434"
TIMEOUT_S = 30.0
_AT_ONCE = 4  # requests of one text each
_DIMENSIONS = {
    "all-minilm": 384,
    "mxbai-embed-large": 1024,
    "nomic-embed-text": 768,
    "text-embedding-3-large": 3072,
    "text-embedding-3-small": 1536,
    "text-embedding-ada-002": 1536,
}


class _RemoteClient(ABC):
    """What all do alike; a protocol adds `_call`."""

    def __init__(self, endpoint: Endpoint, *, most_texts: int) -> None:
        """Raises SettingsError for a blank name of a model."""
        usable_model_name(endpoint.model, type(self).__name__)
        self._endpoint = endpoint
        self._most_texts = max(1, most_texts)
        self._dimension = _DIMENSIONS.get(endpoint.model.removesuffix(":latest"))

    @property
    def model_name(self) -> str:
        """As the server knows it."""
        return self._endpoint.model

    @property
    def dimension(self) -> int:
        """Known at once for the usual models; ProviderNotConfigured for others until the first embedding."""
        if self._dimension is None:
            raise ProviderNotConfigured(f"The dimension of {self.model_name} is known after its first embedding.")
        return self._dimension

    async def embed(self, texts: list[str]) -> list[list[float]]:
        """For texts that are to be found. Raises ProviderError."""
        return await self._embedded(texts, "search_document")

    async def embed_single(self, text: str) -> list[float]:
        """For a question. Raises ProviderError."""
        [vector] = await self._embedded([text], "search_query")
        return vector

    async def _embedded(self, texts: Sequence[str], purpose: _Purpose) -> list[list[float]]:
        said = [text if text.strip() else "." for text in texts]  # an empty text is refused by most
        batches = [said[start : start + self._most_texts] for start in range(0, len(said), self._most_texts)]
        vectors: list[list[float]] = []
        async with new_session() as session:
            exchange = Exchange(self._endpoint, session)
            for start in range(0, len(batches), _AT_ONCE):
                calls = [self._call(exchange, batch, purpose) for batch in batches[start : start + _AT_ONCE]]
                for found in await asyncio.gather(*calls):
                    vectors += self._checked(found)
        return vectors

    @abstractmethod
    async def _call(self, exchange: Exchange, texts: Sequence[str], purpose: _Purpose) -> Vectors:
        """One vector per text, in one call."""

    def _checked(self, vectors: Vectors) -> list[list[float]]:
        width = int(vectors.shape[1])
        if self._dimension not in (None, width):
            raise ProviderInvalidOutput(
                f"{self._endpoint.place}: the embedding model {self.model_name} answered with vectors of {width} "
                f"numbers, where {self._dimension} were expected."
            )
        self._dimension = width
        rows: list[list[float]] = vectors.tolist()
        return rows


class OllamaEmbedding(_RemoteClient):
    """A model in an Ollama, over `/api/embeddings`: one request a text."""

    def __init__(self, model: str = "nomic-embed-text", host: str = OLLAMA_HOST, timeout: float = TIMEOUT_S) -> None:
        """`timeout` in seconds, for a request with all its tries. Raises SettingsError for a host that is no URL."""
        endpoint = Endpoint(base_url=host.rstrip("/"), model=model, timeouts=_timeouts(timeout))
        super().__init__(endpoint, most_texts=1)

    async def _call(self, exchange: Exchange, texts: Sequence[str], purpose: _Purpose) -> Vectors:
        def read(body: Mapping[str, Any]) -> Vectors:
            return read_vectors([upstream.member(body, "embedding")], 1)

        return await exchange.whole("/api/embeddings", {"model": self.model_name, "prompt": texts[0]}, read)


class HttpEmbedding(_RemoteClient):
    """Any server that speaks OpenAI's protocol (`/embeddings`), or Cohere's (`/embed`)."""

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        format: Format = "openai",
        api_key_env: str | None = None,
        most_texts: int = 64,
        timeout: float = TIMEOUT_S,
        tries: int = 3,
    ) -> None:
        """`base_url` with its version: `https://api.openai.com/v1`, `https://api.cohere.com/v1`.

        The key is read from the environment variable `api_key_env`, so that it stands in no file and no argument.
        Raises ProviderNotConfigured when that is not set, SettingsError for a URL that is none.
        """
        endpoint = Endpoint(
            base_url=base_url.rstrip("/"),
            model=model,
            api_key=_key(api_key_env),
            timeouts=_timeouts(timeout),
            tries=tries,
        )
        super().__init__(endpoint, most_texts=most_texts)
        self._is_cohere = format == "cohere"

    async def _call(self, exchange: Exchange, texts: Sequence[str], purpose: _Purpose) -> Vectors:
        if self._is_cohere:
            body = {"model": self.model_name, "texts": list(texts), "input_type": purpose}
            return await exchange.whole("/embed", body, lambda answer: _of_cohere(answer, len(texts)))
        request = openai_embeddings.write_request(texts, model=self.model_name)
        return await exchange.whole(
            "/embeddings", request, lambda answer: openai_embeddings.read_reply(answer, count=len(texts))
        )


def _of_cohere(body: Mapping[str, Any], count: int) -> Vectors:
    """Of either release: a list of vectors, or lists by type of which `float` is read."""
    found = upstream.member(body, "embeddings")
    return read_vectors(found.get("float") if isinstance(found, Mapping) else found, count)


def _timeouts(seconds: float) -> Timeouts:
    return Timeouts(connect_s=min(10.0, seconds), first_byte_s=seconds, between_bytes_s=seconds, total_s=seconds)


def _key(variable: str | None) -> str | None:
    if variable is None:
        return None
    found = os.environ.get(variable)
    if not found:
        raise ProviderNotConfigured(f"The environment variable {variable}, with the key for embeddings, is not set.")
    return found


_: tuple[type[EmbeddingClient], ...] = (OllamaEmbedding, HttpEmbedding)  # checked, never run
