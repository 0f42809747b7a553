"""A client's own request for vectors, and the answer to it, in no protocol's words.

Vectors of memories are another matter: they are made by `ports.embedding` alone, always of one length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mnemoir.core.messages import Extra


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRequest:
    """Texts to embed, or lists of `tokens` in their place; one of the two is empty.

    `is_single` marks one text or one list of tokens that was not sent inside a list. `dimension` is the length of
    vectors asked for, None for the model's own. `encoding` is how the client wants them written.
    """

    model: str = ""
    texts: Sequence[str] = ()
    tokens: Sequence[Sequence[int]] = ()
    is_single: bool = False
    dimension: int | None = None
    encoding: Literal["float", "base64"] = "float"
    extra: Extra | None = None

    @property
    def count(self) -> int:
        """How many vectors are asked for."""
        return len(self.texts) or len(self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingReply:
    """One row of `vectors` per text, in their order. `tokens` were read; None where the model's server did not count.

    `extra` are the members of that server's answer that Mnemoir does not read, `dropped` the names of the client's
    that it did not get.
    """

    vectors: NDArray[np.floating[Any]]
    tokens: int | None = None
    extra: Extra | None = None
    dropped: Sequence[str] = ()
