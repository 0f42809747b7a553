"""Scores of the rows of one index for a query: by words, by vectors and by late interaction, and their fusion.

**Words** are scored by BM25 over the item, and over its window (itself and two messages on either side). The
formula is FTS5's: k1 = 1.2, b = 0.75, idf = ln((N - n + 0.5) / (n + 0.5)) and never below a millionth, with N, n
and the mean length taken over the rows of this user that live. A window is scored like one long row that holds all
five; its words weigh what they weigh in single rows, so that the two scores differ by evidence alone. Neighbours
that are hidden from the reader do not count in windows.

**Late interaction** compares each query token with its best token in the candidate. Candidates' tokens are stored at
one bit per dimension, those of the query are unquantised. For a unit query token q and the signs s of a candidate's
token, q·s / √dimension stands in for their cosine. Query tokens are weighted by their rarity in the user's rows.

**Fusion** is a weighted mean of the stages' scores, on one scale for any set of stages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemoir.ports.embedding import Embedding, FloatArray
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.indexing import code_bytes, unpack_bits
from mnemoir.search.terms import Counts, Slots, Terms, find_postings
from mnemoir.search.weights import Weights

K1 = 1.2
B = 0.75
LEAST_IDF = 1e-6
# For a pasted page as a query: its rarest words describe its subject, and their number bounds the cost.
MOST_TERMS = 48

Scores = NDArray[np.float64]
_MANY = 4  # a share of one in so many: from there on copying rows takes longer than walking the whole matrix
Signal = NDArray[np.floating]
_BLOCK = 256
_CLOSEST = 8


@dataclass(frozen=True, slots=True, eq=False)
class WordScores:
    """BM25 by slot, as a share of what a row of mean length with every known word once would get; 0 for no word.

    `known` is the share of the query, by the same weights, that are words of any row.
    """

    item: Scores
    window: Scores
    known: float


def word_scores(index: ScopeIndex, terms: Terms, shown: Mask) -> WordScores:
    """Score every row that is `shown` for the distinct `terms`, or rows of terms that stand for one word."""
    item, window = np.zeros(len(index)), np.zeros(len(index))
    found, count = _rarest(index, terms), index.count
    hidden = None if shown.all() else ~shown
    item_lengths, window_lengths = index.relative_lengths()
    ideal = 0.0
    for slots, counts in found:
        idf = max(LEAST_IDF, float(np.log((count - len(slots) + 0.5) / (len(slots) + 0.5))))
        ideal += idf
        if hidden is not None:
            seen = shown[slots]
            slots, counts = slots[seen], counts[seen]
        item[slots] += idf * _saturation(counts, item_lengths[slots])
        around, times = _spread(index, slots, counts, hidden)
        window[around] += idf * _saturation(times, window_lengths[around])
    unknown = max(0, min(len(terms), MOST_TERMS) - len(found)) * float(np.log((count + 0.5) / 0.5))
    return WordScores(item / (ideal or 1.0), window / (ideal or 1.0), ideal / ((ideal + unknown) or 1.0))


def _rarest(index: ScopeIndex, terms: Terms) -> list[tuple[Slots, Counts]]:
    """Living rows and counts of the terms that occur at all, at most MOST_TERMS of them."""
    found = []
    for slots, counts in _postings(index, terms):
        alive = index.alive[slots]
        if alive.any():
            found.append((slots[alive], counts[alive]))
    return sorted(found, key=lambda entry: len(entry[0]))[:MOST_TERMS]


def _postings(index: ScopeIndex, terms: Terms) -> list[tuple[Slots, Counts]]:
    """Rows and counts of each term; of terms that stand for one word all rows, each with its greatest count."""
    found = find_postings(index.pieces, terms.ravel())
    if terms.ndim == 1:
        return found
    width = terms.shape[1]
    return [_union_of(found[start : start + width]) for start in range(0, len(found), width)]


def _union_of(postings: Sequence[tuple[Slots, Counts]]) -> tuple[Slots, Counts]:
    """One posting list with the highest count of each slot."""
    slots = np.concatenate([slots for slots, _ in postings])
    counts = np.concatenate([counts for _, counts in postings])
    order = np.lexsort((-counts.astype(np.int32), slots))
    slots, first = np.unique(slots[order], return_index=True)
    return slots, counts[order][first]


def _saturation(counts: NDArray[Any], relative_length: NDArray[np.float32]) -> Scores:
    """The term-frequency factor of BM25 (K1, B) for counts in rows of these relative lengths."""
    times = counts.astype(np.float64)
    return np.asarray(times * (K1 + 1) / (times + K1 * (1 - B + B * relative_length)))


def _spread(index: ScopeIndex, slots: Slots, counts: Counts, hidden: Mask | None) -> tuple[NDArray[np.int64], Scores]:
    """The rows that are not `hidden` and whose window holds the term, and its count in each."""
    place, row = index.window(slots.astype(np.int64))
    times = np.asarray(np.bincount(row, counts[place], len(index)), np.float64)
    if hidden is not None:
        times[hidden] = 0
    around = np.flatnonzero(times)
    return around, times[around]


def cosines_of(index: ScopeIndex, query: FloatArray, slots: NDArray[np.int64]) -> FloatArray:
    """Cosines of these rows, which have vectors of the query's dimension, in order. Few rows are gathered first."""
    matrix = index.vectors
    if matrix is not None and _MANY * len(slots) < len(matrix):
        return np.asarray(np.einsum("ij,j->i", matrix[slots], query), np.float32)
    return index.main.cosines(query)[slots]


def above_rest(cosine: FloatArray, resting: float, resting_rows: int) -> FloatArray:
    """Cosines above those of unrelated rows, in [0, 1]; NaN stays.

    Models differ in how alike they find two random texts (0.1 to 0.75), so the mean over the scope counts as zero.
    A mean of few rows is unreliable: `resting` is added to it as the cosine of `resting_rows` further rows.
    """
    known = cosine[np.isfinite(cosine)]
    rest = (float(known.sum()) + resting * resting_rows) / (len(known) + resting_rows)
    return np.asarray(np.clip((cosine - rest) / (1.0 - min(rest, 0.99)), 0.0, 1.0), np.float32)


def with_far_ones(cosine: FloatArray, above: FloatArray) -> FloatArray:
    """The result of `above_rest`, moved up by a tenth, with the cosines below it in order in that tenth."""
    return np.asarray(np.where(above > 0, 0.1 + 0.9 * above, 0.05 * (cosine + 1.0)), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Closeness:
    """How near each row is to the query by vectors, by slot; NaN while a row's vector is to be made.

    `cosine` is compared with floors. `rested` is above the cosine of unrelated rows, in [0, 1]. The rows that are
    near enough by themselves, each model by its own measure, are `related`.
    """

    cosine: FloatArray
    rested: FloatArray
    related: Mask


def closeness(main: FloatArray, weights: Weights) -> Closeness:
    """The closeness by the cosines of the main model alone."""
    rested = above_rest(main, weights.resting_cosine, weights.resting_rows)
    return Closeness(main, rested, main >= weights.related_cosine)


def mixed_closeness(
    index: ScopeIndex, main: FloatArray, foreign: FloatArray, share: float, weights: Weights
) -> Closeness:
    """The closeness by the cosines of both models, of which the multilingual one counts `share`.

    Each is brought to its own rest first, as models differ in how alike they find unrelated texts. A row without a
    multilingual vector has the main one alone. A message that has one is not English: there it counts alone. With a
    share of 1 the main model does not know the query's language, and then messages without one are not near.
    """
    rested = above_rest(foreign, weights.resting_multilingual, weights.resting_rows)
    is_near = foreign >= weights.related_multilingual
    if share == 1.0:
        unknown = np.where(index.is_fact, np.float32(np.nan), np.float32(0))
        is_there = np.isfinite(foreign)
        return Closeness(np.where(is_there, foreign, unknown), np.where(is_there, rested, unknown), is_near)
    first = closeness(main, weights)
    both = np.where(np.isfinite(first.rested), (1 - share) * first.rested + share * rested, rested)
    is_mixed, is_foreign = np.isfinite(foreign), np.isfinite(foreign) & ~index.is_fact
    return Closeness(
        np.where(is_foreign, foreign, np.fmax(main, foreign)),
        np.where(is_foreign, rested, np.where(is_mixed, both, first.rested)),
        is_near | (first.related & ~is_foreign),
    )


def has_tokens(embedding: Embedding) -> bool:
    """True when the embedding has vectors of tokens."""
    return embedding.token_vectors is not None and embedding.token_ids is not None and len(embedding.token_ids) > 0


def token_weights(index: ScopeIndex, embedding: Embedding) -> FloatArray:
    """Weights of the query's tokens: their inverse document frequency in the scope, normalised to a sum of 1."""
    if embedding.token_ids is None:
        return np.zeros(0, np.float32)
    count, rows = index.count, index.token_rows(embedding.token_ids)
    weights = np.log1p((count - rows + 0.5) / (rows + 0.5))
    return np.asarray(weights / weights.sum(), np.float32)


def late_scores(
    embedding: Embedding, weights: FloatArray, codes: Mapping[int, bytes], seqs: Sequence[int]
) -> FloatArray:
    """The score of each of `seqs`, about -1 to 1; NaN without codes of the query's dimension."""
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


def fuse(signals: Mapping[str, Signal], weights: Mapping[str, float]) -> NDArray[np.float64]:
    """Σ weight · signal / Σ weight for each row: in [0, 1] when the signals are.

    A stage missing from `signals` did not run for this query and is in neither sum. NaN means that a row has no value
    yet (its vector is still to be made): such a row gets the upper quartile of the others, so that its words decide.
    """
    rows = len(next(iter(signals.values())))
    total, in_play = np.zeros(rows), 0.0
    for name, values in signals.items():
        known = np.isfinite(values)
        weight = weights.get(name, 0.0)
        if not weight or not known.any():
            continue
        filled = values if known.all() else np.where(known, values, np.quantile(values[known], 0.75))
        total += weight * filled
        in_play += weight
    # Rows that are equal differ by the last bits of their sums, and would not tie.
    return np.round(total / (in_play or 1.0), 6)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows by index, the smaller one first, and their cosine (at most 1)."""

    first: int
    second: int
    cosine: float


def alike_pairs(vectors: FloatArray, floor: float) -> list[Pair]:
    """Pairs of rows of unit length with a cosine of at least `floor`, at most eight for each first row."""
    found: list[Pair] = []
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        for row, near in enumerate(block @ vectors[start:].T):
            found += _pairs_of(start, row, near, floor)
    return found


def _pairs_of(start: int, row: int, cosines: FloatArray, floor: float) -> list[Pair]:
    later: NDArray[np.intp] = np.flatnonzero(cosines[row + 1 :] >= floor) + row + 1
    if len(later) > _CLOSEST:
        later = later[np.argpartition(-cosines[later], _CLOSEST)[:_CLOSEST]]
    return [Pair(start + row, start + int(at), float(cosines[at])) for at in later]
