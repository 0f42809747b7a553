"""Embedding models: one unit vector for each text, and token vectors if the model has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
TokenIds = NDArray[np.uint16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text to embed, with the text said just before it as `context`.

    The context shares the forward pass, so that "yes, every morning" is embedded as an answer to a question, but only
    the tokens of `text` enter the result. Models without token vectors ignore the context.
    """

    text: str
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Embedding:
    """The embedding of one passage.

    `vector` has shape (dimension,) and unit length. `token_ids` has shape (n,) and `token_vectors`
    shape (n, dimension), rows of unit length; both are None for models without token vectors, and empty
    for a text without tokens, whose `vector` is then all zero.
    """

    vector: FloatArray
    token_ids: TokenIds | None = None
    token_vectors: FloatArray | None = None


class EmbeddingModel(Protocol):
    """A model that turns passages into vectors of one fixed length."""

    @property
    def name(self) -> str:
        """The name of the vector space, stored with every vector. Vectors of equal names are comparable."""

    @property
    def dimension(self) -> int | None:
        """The length of the vectors; None for a remote model before its first answer."""

    @property
    def reads_context(self) -> bool:
        """True when the context of a passage has an effect on its embedding."""

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """One embedding per passage, in the order given; [] for none. A text longer than the window is cut.

        Raises ProviderError (or a subclass) when the model cannot be reached, or answers with vectors of another
        length or with values that are not finite.
        """

    async def warm(self) -> None:
        """Load the model in advance, so that the first call does not wait for it; calls no other program.

        Raises ProviderError when it cannot be loaded.
        """

    async def aclose(self) -> None:
        """Free the model's resources; calling it twice is harmless."""
