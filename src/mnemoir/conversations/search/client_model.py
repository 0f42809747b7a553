"""The model of an embedding client: the name under which its vectors are kept, as the client says it or made of them.

A client without a name is known by its class, the length of its vectors and what it makes of two fixed texts. Vectors
of one model differ a little from machine to machine, so the digest is of a coarse outline of them: equal vectors have
the same, other vectors almost surely another.
"""

import asyncio
import hashlib

import numpy as np

from mnemoir.conversations.search.embedding import (
    PROBE,
    AnyEmbeddingClient,
    client_vectors,
    model_name_of,
    single_vector,
)
from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.ports.embedding import FloatArray

ANY_MODEL = ""  # no model has this name: every embeddable message lacks a vector of it
_DIRECTIONS = np.arange(1, 9)
_STEP = 0.3  # of the outline: far above the noise of a model, far below the differences between models
_STEPS_PER_DOUBLING = 3  # of the length of a vector
_DIGEST_CHARACTERS = 16


class ClientModel:
    """The model of one client. Its `find` is called in the loop of the client."""

    def __init__(self, client: AnyEmbeddingClient) -> None:
        """`name` is None until `find` has made it. Raises SettingsError for a name that cannot be kept."""
        self._client = client
        self._finding = asyncio.Lock()
        self.name: str | None = model_name_of(client)

    @property
    def noted_name(self) -> str:
        """The name for notes of messages that wait for a vector: that of no model while it is not known."""
        return self.name or ANY_MODEL

    async def find(self) -> str:
        """The name, for which a client without one embeds two texts, once. Raises what the client raises."""
        async with self._finding:
            if self.name is None:
                self.name = _made_name(self._client, await _probe_vectors(self._client))
            return self.name


async def _probe_vectors(client: AnyEmbeddingClient) -> FloatArray:
    """A row for each of the two texts; a client that cannot embed several is asked for one after the other."""
    try:
        return await client_vectors(client, PROBE)
    except ProviderInvalidOutput:
        return np.concatenate([await single_vector(client, text) for text in PROBE])


def _made_name(client: AnyEmbeddingClient, vectors: FloatArray) -> str:
    kind = type(client)
    digest = hashlib.sha256(_outline(vectors)).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{kind.__module__}.{kind.__qualname__}, {vectors.shape[1]} numbers, {digest}"


def _outline(vectors: FloatArray) -> bytes:
    """The lengths of the vectors and their directions, in coarse steps."""
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    directions = exact / np.where(lengths == 0, 1.0, lengths)
    waves = np.cos(np.outer(np.arange(vectors.shape[1]), _DIRECTIONS))
    doublings = np.log2(np.where(lengths == 0, 1.0, lengths))
    steps = np.hstack([doublings * _STEPS_PER_DOUBLING, directions @ waves / _STEP])
    return bytes(np.rint(steps).astype("<i8").data.tobytes())
