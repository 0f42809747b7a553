"""Shortening of vectors to the length a client asks for: cut, then scaled to unit length, if the model allows it.

Models trained by Matryoshka Representation Learning (Kusupati et al., NeurIPS 2022) put most of the meaning into the
first numbers of a vector. Cut vectors of any other model find the wrong texts, so their length cannot be changed.
"""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemoir.core.errors import InvalidRequest

Vectors = NDArray[np.floating[Any]]

# Models whose makers describe the plain cut: OpenAI's guide to embeddings, and the model cards of Google, Qwen,
# Mixedbread and Snowflake. Not nomic-embed-text: its card asks for a layer norm in front of the cut.
_CAN_BE_CUT = re.compile(
    r"(?:^|[/:])(?:text-embedding-3-|embeddinggemma|qwen3-embedding|mxbai-embed-large|snowflake-arctic-embed2"
    r"|snowflake-arctic-embed-m-v1\.5|snowflake-arctic-embed-[ml]-v2\.0)",
    re.IGNORECASE,
)


def with_dimension(vectors: Vectors, dimension: int | None, model: str) -> Vectors:
    """The vectors, shortened to `dimension` numbers each; unchanged when they have that length or it is None.

    `model` is an `EmbeddingModel.name`, such as `ollama:qwen3-embedding:0.6b`. Raises InvalidRequest when its
    vectors are too short or cannot be cut.
    """
    length = vectors.shape[1]
    if dimension is None or dimension == length:
        return vectors
    if dimension > length or not _CAN_BE_CUT.search(model):
        raise InvalidRequest(f"{model} makes vectors of {length} numbers only.", field="dimensions")
    cut = vectors[:, :dimension].astype(np.float64)
    lengths = np.sqrt((cut * cut).sum(axis=1, keepdims=True))
    unit: NDArray[np.float32] = (cut / np.where(lengths, lengths, 1.0)).astype(np.float32)
    return unit
