"""A client's request for embedding vectors and the reply to it, independent of the protocol.

Vectors of memories are not requested this way: `ports.embedding` makes them, all of one length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mnemoir.core.messages import Extra


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRequest:
    """Texts to embed, or lists of `tokens` instead; one of the two is empty.

    `is_single` marks one text, or one list of tokens, that the client did not wrap in a list. `dimension` is the
    requested length of the vectors, None for the model's own. `encoding` is the format of vectors in the reply.
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
        """The number of vectors requested."""
        return len(self.texts) or len(self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingReply:
    """One row of `vectors` per text, in the order of the request.

    `tokens` is the number of tokens read, None when the model's server reported none. `extra` holds the members of
    that server's answer that Mnemoir does not read; `dropped` names members of the client's request that were not
    sent to it.
    """

    vectors: NDArray[np.floating[Any]]
    tokens: int | None = None
    extra: Extra | None = None
    dropped: Sequence[str] = ()
