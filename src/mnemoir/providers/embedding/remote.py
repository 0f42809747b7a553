"""Embedding models behind HTTP, in OpenAI's, Ollama's and Cohere's protocol: all calls to embedding servers.

`RemoteVectors` returns vectors unchanged. `RemoteEmbeddings` implements the port's model: every vector is finite, not
zero, of the length of this model's earlier vectors, and scaled to unit length. A client's own embedding request is
forwarded unchanged and its answer returned unchanged.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import aiohttp
import numpy as np

from mnemoir.core.embeddings import EmbeddingReply, EmbeddingRequest
from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.core.messages import Route
from mnemoir.core.proxies import Proxies
from mnemoir.ports.embedding import Embedding, EmbeddingModel, FloatArray, Passage
from mnemoir.providers.http import NO_PROXIES, new_session
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.exchange import Exchange
from mnemoir.wire import cohere_embed, ollama_embed, openai_embeddings, upstream
from mnemoir.wire.members import Json

MOST_TEXTS = 64  # texts of one request; longer lists are sent in several requests


class _RequestWriter(Protocol):
    def __call__(self, texts: Sequence[str], *, model: str) -> dict[str, Any]: ...


class _ReplyReader(Protocol):
    def __call__(self, body: Json, *, count: int) -> FloatArray: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """An embedding protocol. `write_question` writes requests for queries; None where `write` serves both."""

    name: str
    path: str
    write: _RequestWriter
    read: _ReplyReader
    write_question: _RequestWriter | None = None


OPENAI = Dialect(
    name="openai", path="/embeddings", write=openai_embeddings.write_request, read=openai_embeddings.read_reply
)
OLLAMA = Dialect(name="ollama", path="/api/embed", write=ollama_embed.write_request, read=ollama_embed.read_reply)
OLLAMA_PROMPT = Dialect(
    name="ollama", path="/api/embeddings", write=ollama_embed.write_prompt, read=ollama_embed.read_prompt_reply
)
COHERE = Dialect(
    name="cohere",
    path="/embed",
    write=cohere_embed.write_request,
    read=cohere_embed.read_reply,
    write_question=cohere_embed.write_question,
)


class RemoteVectors:
    """Client that returns the server's vectors unchanged, all of one length.

    Without a `session` each call opens and closes its own, which goes through the `proxies`, so the client is bound
    to no event loop. A request has at most `most_texts`; `at_once` requests run concurrently. `dimension` is the
    length where it is known beforehand.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        dialect: Dialect,
        session: aiohttp.ClientSession | None = None,
        *,
        most_texts: int = MOST_TEXTS,
        at_once: int = 1,
        dimension: int | None = None,
        proxies: Proxies = NO_PROXIES,
    ) -> None:
        self._endpoint = endpoint
        self._dialect = dialect
        self._shared = None if session is None else Exchange(endpoint, session)
        self._most_texts = most_texts
        self._at_once = at_once
        self._dimension = dimension
        self._proxies = proxies

    @property
    def name(self) -> str:
        """For example `openai:text-embedding-3-small`."""
        return f"{self._dialect.name}:{self._endpoint.model}"

    @property
    def dimension(self) -> int | None:
        """Numbers per vector: as given, else known from the first answer; None before that."""
        return self._dimension

    async def vectors(self, texts: Sequence[str], *, is_question: bool = False) -> list[FloatArray]:
        """One vector per text, in order. Raises ProviderError; ProviderInvalidOutput when the length changes."""
        given = [text if text.strip() else "." for text in texts]  # most servers refuse an empty text
        batches = [given[start : start + self._most_texts] for start in range(0, len(given), self._most_texts)]
        write = (is_question and self._dialect.write_question) or self._dialect.write
        found: list[FloatArray] = []
        async with self._exchange() as exchange:
            for start in range(0, len(batches), self._at_once):
                calls = [self._call(exchange, write, batch) for batch in batches[start : start + self._at_once]]
                for rows in await asyncio.gather(*calls):
                    found.extend(self._usable(rows))
        return found

    @asynccontextmanager
    async def _exchange(self) -> AsyncIterator[Exchange]:
        if self._shared is not None:
            yield self._shared
            return
        async with new_session(self._proxies) as session:
            yield Exchange(self._endpoint, session)

    async def _call(self, exchange: Exchange, write: _RequestWriter, texts: Sequence[str]) -> FloatArray:
        def read(data: bytes, _media_type: str) -> FloatArray:
            return self._dialect.read(upstream.decode(data), count=len(texts))

        return await exchange.whole(self._dialect.path, write(texts, model=self._endpoint.model), read)

    def _usable(self, vectors: FloatArray) -> FloatArray:
        width = int(vectors.shape[1])
        if self._dimension not in (None, width):
            raise self._unusable(f"vectors of {width} numbers, where {self._dimension} were expected")
        usable = self._prepared_vectors(vectors)
        self._dimension = width
        return usable

    def _prepared_vectors(self, vectors: FloatArray) -> FloatArray:
        """Vectors of the right length, as callers get them: unchanged here. Subclasses may refuse or scale them."""
        return vectors

    def _unusable(self, what: str) -> ProviderInvalidOutput:
        place, model = self._endpoint.place, self._endpoint.model
        return ProviderInvalidOutput(f"{place}: the embedding model {model} answered with {what}.")


class RemoteEmbeddings(RemoteVectors):
    """The port's embedding model over HTTP; a subclass names its protocol, which clients of Mnemoir may speak too.

    `reads_tokens` is True where texts may be sent as tokens.
    """

    dialect: ClassVar[Dialect]
    route: ClassVar[Route]
    reads_tokens: ClassVar[bool] = False
    reads_context: ClassVar[bool] = False
    _write_client: ClassVar[Callable[..., dict[str, Any]]]
    _read_client: ClassVar[Callable[..., EmbeddingReply]]

    def __init__(self, endpoint: Endpoint, session: aiohttp.ClientSession) -> None:
        super().__init__(endpoint, self.dialect, session)

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """One embedding per passage, without token vectors; the passage's context is ignored."""
        return [Embedding(vector=vector) for vector in await self.vectors([passage.text for passage in passages])]

    async def answer(self, request: EmbeddingRequest) -> EmbeddingReply:
        """The model server's answer to a client's own request, in one call, members and vectors unchanged.

        The length of these vectors does not affect `dimension`. Raises ProviderError.
        """

        def read(data: bytes, _media_type: str) -> EmbeddingReply:
            return self._read_client(upstream.decode(data), count=request.count)

        body = self._write_client(request, model=self._endpoint.model)
        async with self._exchange() as exchange:
            return await exchange.whole(self.dialect.path, body, read)

    async def warm(self) -> None:
        """Does nothing: the server loads its model."""

    async def aclose(self) -> None:
        """Does nothing: the session is shared and its owner closes it."""

    def _prepared_vectors(self, vectors: FloatArray) -> FloatArray:
        if not np.isfinite(vectors).all():
            raise self._unusable("a vector with a value that is not a finite number")
        exact = vectors.astype(np.float64)  # the square of a large float32 is beyond float32
        lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
        if not lengths.all():
            raise self._unusable("a zero vector")
        unit: FloatArray = (exact / lengths).astype(np.float32)
        return unit


class OpenAIEmbeddings(RemoteEmbeddings):
    """Embedding model of any server with OpenAI's protocol."""

    dialect = OPENAI
    route = openai_embeddings.ROUTE
    reads_tokens = True
    _write_client = staticmethod(openai_embeddings.write_client_request)
    _read_client = staticmethod(openai_embeddings.read_client_reply)


class OllamaEmbeddings(RemoteEmbeddings):
    """Embedding model of an Ollama server."""

    dialect = OLLAMA
    route = ollama_embed.ROUTE
    _write_client = staticmethod(ollama_embed.write_client_request)
    _read_client = staticmethod(ollama_embed.read_client_reply)


_: tuple[type[EmbeddingModel], ...] = (OpenAIEmbeddings, OllamaEmbeddings)  # checked, never run
