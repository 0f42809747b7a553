"""Late interaction: each token of the query looks for its best token in the candidate.

The tokens of candidates are kept at one bit a dimension, those of the query are whole. For a unit query token q and
the signs s of a candidate's token, q·s / √dimension stands in for their cosine. A query token counts as much as it is
rare in the user's rows.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from mnemoir.ports.embedding import Embedding, FloatArray
from mnemoir.search.codes import code_bytes, unpack_bits
from mnemoir.search.index import ScopeIndex


def has_tokens(embedding: Embedding) -> bool:
    """The model gave token vectors for a text that has tokens."""
    return embedding.token_vectors is not None and embedding.token_ids is not None and len(embedding.token_ids) > 0


def token_weights(index: ScopeIndex, embedding: Embedding) -> FloatArray:
    """Inverse document frequency of the query's tokens in the scope; they add up to 1."""
    if embedding.token_ids is None:
        return np.zeros(0, np.float32)
    count, rows = index.count, index.token_rows(embedding.token_ids)
    weights = np.log1p((count - rows + 0.5) / (rows + 0.5))
    return np.asarray(weights / weights.sum(), np.float32)


def late_scores(
    embedding: Embedding, weights: FloatArray, codes: Mapping[int, bytes], seqs: Sequence[int]
) -> FloatArray:
    """For each of `seqs`, about -1 to 1; NaN for those without codes of the query's dimension."""
    out = np.full(len(seqs), np.nan, np.float32)
    query = embedding.token_vectors
    if query is None or not len(query):
        return out
    width = code_bytes(query.shape[1])
    known = [n for n, seq in enumerate(seqs) if codes.get(seq) and len(codes[seq]) % width == 0]
    if not known:
        return out
    kept = [codes[seqs[n]] for n in known]
    # q·s = 2 q·b - Σq, where b are the bits behind the signs s.
    signs = 2 * (query @ unpack_bits(kept, query.shape[1]).astype(np.float32).T) - query.sum(axis=1, keepdims=True)
    starts = np.cumsum([0, *(len(code) // width for code in kept[:-1])])
    best = np.maximum.reduceat(signs, starts, axis=1)
    out[known] = weights @ best / np.sqrt(query.shape[1])
    return out
