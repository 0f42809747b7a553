"""Embedding models: text in, one unit vector out, and token vectors where the model has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
TokenIds = NDArray[np.uint16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text to embed, with what was said just before it.

    The context shares the forward pass, so that "yes, every morning" is embedded as the answer it is,
    but only the tokens of `text` itself count in the result. Models without token vectors ignore it.
    """

    text: str
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Embedding:
    """What a model makes of one passage.

    `vector` has shape (dimension,) and unit length. `token_ids` has shape (n,) and `token_vectors`
    shape (n, dimension), rows of unit length; both are None for models without token vectors, and empty
    for a text without tokens, whose `vector` is then all zero.
    """

    vector: FloatArray
    token_ids: TokenIds | None = None
    token_vectors: FloatArray | None = None


class EmbeddingModel(Protocol):
    """Turns passages into vectors of one fixed length."""

    @property
    def name(self) -> str:
        """Identifies the vector space; stored with every vector. Equal names mean comparable vectors."""

    @property
    def dimension(self) -> int | None:
        """Length of a vector; None until the first answer of a remote model has told it."""

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """One embedding per passage, in the order given; [] for none. A text over the window is cut.

        Raises ProviderError (or a subclass) when the model cannot be reached, answers with vectors of
        another length, or with values that are not finite.
        """

    async def warm(self) -> None:
        """Load what the first call would have to wait for; calls no other program.

        Raises ProviderError when it cannot be loaded.
        """

    async def aclose(self) -> None:
        """Free what the model holds; calling it twice is harmless."""
