"""Embedding clients: the protocol with which session memory makes vectors, and an adapter of embedding models.

Any client of the protocol can be used, also one whose methods are plain functions. The adapter of an embedding model
does more: it embeds a message in the context of the messages before it, and returns the token vectors for late
interaction.
"""

import asyncio
import contextvars
import inspect
import math
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from mnemoir.core.errors import ProviderInvalidOutput, ProviderNotConfigured, SettingsError
from mnemoir.ports.embedding import Embedding, EmbeddingModel, FloatArray, Passage
from mnemoir.search.indexing import sentence_vector

T = TypeVar("T")
PROBE = ("What time does the train leave?", "The train leaves at nine.")
_NEEDED = "its vectors are kept under that name; set it to a text of printable characters, such as 'my-model-1'."
_ABSENT = object()
_ALIKE = 0.999  # cosine of two vectors of one text: some models vary a little with the batch


class EmbeddingClient(Protocol):
    """Turns texts into vectors of one length. Callers handle all its errors.

    It may have a `model_name`, the name stored with the vectors: equal names mean comparable vectors. It is read once
    per client; without one, `ClientModel` makes a name.
    """

    @property
    def dimension(self) -> int:
        """The length of a vector; a client that learns it from its first answer raises until then."""

    async def embed(self, texts: list[str]) -> list[list[float]]:
        """One vector per text, in the order given; [] for []."""

    async def embed_single(self, text: str) -> list[float]:
        """The vector of one text."""


class PlainEmbeddingClient(Protocol):
    """The same by plain functions, which block and are called in a thread."""

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: list[str]) -> Sequence[Sequence[float]]: ...

    def embed_single(self, text: str) -> Sequence[float]: ...


AnyEmbeddingClient = EmbeddingClient | PlainEmbeddingClient


class ModelEmbeddingClient:
    """A client that uses an embedding model but does not close it.

    With `loop`, the model is called in that loop, independent of the caller's loop.
    """

    def __init__(self, model: EmbeddingModel, *, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.model = model
        self._loop = loop

    @property
    def model_name(self) -> str:
        """The model's own name."""
        return self.model.name

    @property
    def dimension(self) -> int:
        """The length of a vector. Raises ProviderNotConfigured before a remote model's first answer."""
        return known_dimension(self.model.dimension, self.model.name)

    async def embed(self, texts: list[str]) -> list[list[float]]:
        """Raises ProviderError."""
        return [vector_of(made).tolist() for made in await self.passages([Passage(text=text) for text in texts])]

    async def embed_single(self, text: str) -> list[float]:
        """Raises ProviderError."""
        [vector] = await self.embed([text])
        return vector

    async def passages(self, passages: Sequence[Passage]) -> list[Embedding]:
        """Whole embeddings of texts with their contexts. Raises ProviderError."""
        if not passages:
            return []
        return await in_loop(self._loop, self.model.embed(passages))


async def in_loop(loop: asyncio.AbstractEventLoop | None, call: Coroutine[Any, Any, T]) -> T:
    """The result of `call`, run in `loop` if that is not None; clients may hold objects bound to a loop."""
    if loop is None or loop is asyncio.get_running_loop():
        return await call
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call, loop))


def known_dimension(dimension: int | None, model: str) -> int:
    """The dimension of a model. Raises ProviderNotConfigured before a remote model's first answer."""
    if dimension is None:
        raise ProviderNotConfigured(f"The dimension of {model} is known after its first embedding.")
    return dimension


async def embeddings_of(client: AnyEmbeddingClient, passages: Sequence[Passage]) -> list[Embedding]:
    """One embedding per passage; a client without support for contexts gets the texts alone.

    Raises what the client raises, and ProviderInvalidOutput for anything but as many finite vectors of one length.
    """
    if not passages:
        return []
    if isinstance(client, ModelEmbeddingClient):
        return await client.passages(passages)
    return [Embedding(vector=vector) for vector in await client_vectors(client, [each.text for each in passages])]


async def client_vectors(client: AnyEmbeddingClient, texts: Sequence[str]) -> FloatArray:
    """One row per text. Raises as `embeddings_of` does."""
    made: Sequence[Sequence[float]] = await _answer(client.embed, list(texts))
    return _checked_vectors(client, made, len(texts))


async def query_embedding(client: AnyEmbeddingClient, query: str) -> Embedding:
    """The embedding of one question. Raises as `embeddings_of` does."""
    if isinstance(client, ModelEmbeddingClient):
        [made] = await client.passages([Passage(text=query)])
        return made
    [vector] = await single_vector(client, query)
    return Embedding(vector=vector)


async def single_vector(client: AnyEmbeddingClient, text: str) -> FloatArray:
    """One row, by the method for one text. Raises as `embeddings_of` does."""
    return _checked_vectors(client, [await _answer(client.embed_single, text)], 1)


async def _answer(method: Callable[..., Any], given: object) -> Any:
    """What a method of a foreign client answers: a coroutine is awaited here, a plain function runs in a thread.

    While the interpreter ends, no thread can be started; the function is then called here.
    """
    if inspect.iscoroutinefunction(method):
        return await method(given)
    call = partial(contextvars.copy_context().run, method, given)
    try:
        begun: Awaitable[Any] = asyncio.get_running_loop().run_in_executor(None, call)
    except RuntimeError:
        answer = method(given)
    else:
        answer = await begun
    return await answer if inspect.isawaitable(answer) else answer


def vector_of(embedding: Embedding) -> FloatArray:
    """The vector for comparing messages and questions: the mean of the text's own tokens, if there are any."""
    return sentence_vector(embedding)


def model_name_of(client: AnyEmbeddingClient) -> str | None:
    """The client's own name for its model; None for a client without one.

    Raises SettingsError for a name that cannot be read or kept with its vectors.
    """
    kind = type(client).__name__
    try:
        name = client.model_name  # type: ignore[union-attr]  # a client may have one
    except Exception as exc:
        is_absent = inspect.getattr_static(client, "model_name", _ABSENT) is _ABSENT
        if is_absent and isinstance(exc, AttributeError):
            return None
        raise SettingsError(f"The embedding client {kind} has a model_name that cannot be read: {_NEEDED}") from exc
    return usable_model_name(name, kind)


def usable_model_name(name: object, client: str) -> str:
    """The name, if it is usable. Raises SettingsError, naming `client`, for anything but storable text."""
    if not _is_usable(name):
        raise SettingsError(f"The embedding client {client} has a model_name that cannot be used: {_NEEDED}")
    return str(name)


async def check_embedding_client(client: AnyEmbeddingClient) -> int:
    """Test a client; return the length of its vectors.

    Raises ProviderInvalidOutput, naming the fault, when it violates the `EmbeddingClient` protocol, and what the
    client raises.
    """
    if len(await _answer(client.embed, [])):
        raise _unusable(client, "vectors for no text")
    vectors = await client_vectors(client, PROBE)
    turned = await client_vectors(client, PROBE[::-1])
    single = await single_vector(client, PROBE[0])
    if not vectors.shape[1] == turned.shape[1] == single.shape[1]:
        raise _unusable(client, "vectors of another length for one text than for several")
    if any(_cosine(one, other) < _ALIKE for one, other in zip(vectors, turned[::-1], strict=True)):
        raise _unusable(client, "vectors in another order than that of the texts")
    if client.dimension != vectors.shape[1]:
        raise _unusable(client, f"vectors of {vectors.shape[1]} numbers, where it says {client.dimension}")
    if not _is_usable(getattr(client, "model_name", PROBE[0])):
        raise _unusable(client, "a model name that is no text")
    return int(vectors.shape[1])


def _is_usable(name: object) -> bool:
    """True for text that is not blank and can be written to a file."""
    return isinstance(name, str) and bool(name.strip()) and name.isprintable()


def _checked_vectors(client: AnyEmbeddingClient, vectors: Sequence[Sequence[float]], count: int) -> FloatArray:
    try:
        rows = np.asarray(vectors, np.float32)
    except (TypeError, ValueError) as exc:
        raise _unusable(client, "vectors of several lengths, or of no numbers") from exc
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        raise _unusable(client, f"something else than {count} vectors")
    if not np.isfinite(rows).all():
        raise _unusable(client, "a value that is not a finite number")
    return rows


def _cosine(one: FloatArray, other: FloatArray) -> float:
    lengths = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / lengths if lengths else 1.0


def _unusable(client: AnyEmbeddingClient, what: str) -> ProviderInvalidOutput:
    return ProviderInvalidOutput(f"The embedding client {type(client).__name__} gave {what}.")


_: type[EmbeddingClient] = ModelEmbeddingClient  # checked, never run
