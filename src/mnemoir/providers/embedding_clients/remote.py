"""Embedding clients behind HTTP: Ollama's, OpenAI's and Cohere's protocols.

Each call opens and closes its connections, so a client is bound to no event loop and needs no closing. Temporary
failures (429, 5xx, no connection) are retried, after the wait that the server asks for.
"""

import os
from typing import Literal

from mnemoir.conversations.search.embedding import EmbeddingClient, known_dimension, usable_model_name
from mnemoir.core.errors import ProviderNotConfigured
from mnemoir.core.proxies import Proxies
from mnemoir.providers.embedding.remote import COHERE, OLLAMA_PROMPT, OPENAI, Dialect, RemoteVectors
from mnemoir.providers.http import NO_PROXIES
from mnemoir.providers.llm.endpoint import Endpoint, Timeouts

Format = Literal["openai", "cohere"]

OLLAMA_HOST = "http://localhost:11434"
TIMEOUT_S = 30.0
_AT_ONCE = 4  # requests
_DIMENSIONS = {
    "all-minilm": 384,
    "mxbai-embed-large": 1024,
    "nomic-embed-text": 768,
    "text-embedding-3-large": 3072,
    "text-embedding-3-small": 1536,
    "text-embedding-ada-002": 1536,
}


class _RemoteClient:
    """Client of a remote model under the server's name for it; vectors are returned unchanged."""

    def __init__(
        self, endpoint: Endpoint, dialect: Dialect, *, most_texts: int, proxies: Proxies = NO_PROXIES
    ) -> None:
        """Raises SettingsError for a blank model name."""
        self._name = usable_model_name(endpoint.model, type(self).__name__)
        known = _DIMENSIONS.get(self._name.removesuffix(":latest"))
        self._remote = RemoteVectors(
            endpoint,
            dialect,
            most_texts=max(1, most_texts),
            at_once=_AT_ONCE,
            dimension=known,
            proxies=proxies,
        )

    @property
    def model_name(self) -> str:
        """The server's name for the model."""
        return self._name

    @property
    def dimension(self) -> int:
        """Numbers per vector. Raises ProviderNotConfigured before the first embedding of a model not listed here."""
        return known_dimension(self._remote.dimension, self._name)

    async def embed(self, texts: list[str]) -> list[list[float]]:
        """One vector per text that searches shall find, in order. Raises ProviderError."""
        return [vector.tolist() for vector in await self._remote.vectors(texts)]

    async def embed_single(self, text: str) -> list[float]:
        """The vector of a query. Raises ProviderError."""
        [vector] = await self._remote.vectors([text], is_question=True)
        single: list[float] = vector.tolist()
        return single


class OllamaEmbedding(_RemoteClient):
    """A model of an Ollama server, over `/api/embeddings`: one request per text."""

    def __init__(
        self,
        model: str = "nomic-embed-text",
        host: str = OLLAMA_HOST,
        timeout: float = TIMEOUT_S,
        *,
        proxies: Proxies = NO_PROXIES,
    ) -> None:
        """`timeout` in seconds, for a request with all its retries. Raises SettingsError when `host` is not a URL."""
        endpoint = Endpoint(base_url=host.rstrip("/"), model=model, timeouts=_timeouts(timeout))
        super().__init__(endpoint, OLLAMA_PROMPT, most_texts=1, proxies=proxies)


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
        proxies: Proxies = NO_PROXIES,
    ) -> None:
        """`base_url` includes the version: `https://api.openai.com/v1`, `https://api.cohere.com/v1`.

        The key is read from the environment variable `api_key_env`, so that no file and no argument holds it.
        Raises ProviderNotConfigured when the variable is not set, SettingsError for an invalid URL.
        """
        endpoint = Endpoint(
            base_url=base_url.rstrip("/"),
            model=model,
            api_key=_key(api_key_env),
            timeouts=_timeouts(timeout),
            tries=tries,
        )
        super().__init__(endpoint, COHERE if format == "cohere" else OPENAI, most_texts=most_texts, proxies=proxies)


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
