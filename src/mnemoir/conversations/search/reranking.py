"""Reranks search hits: by a reranker, by age, and with near repeats moved down.

All of it is off by default and applies to the best hits of the search, its candidates; no other hits are added. A
reranker's scores are applied first, then age lowers them, then hits too similar to an earlier one move down.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from mnemoir.conversations.search.session_search import Rerank, SearchHit
from mnemoir.core.errors import InvalidRequest
from mnemoir.ports.embedding import FloatArray
from mnemoir.search.terms import read_terms, terms_of

Floats = NDArray[np.float64]
VectorsOf = Callable[[Sequence[SearchHit]], FloatArray | None]

_DAY_S = 86_400.0
_DIGITS = 9  # scores that differ only in their last bits tie


def reranked_hits(
    query: str, hits: Sequence[SearchHit], asked: Rerank, at: datetime, vectors_of: VectorsOf
) -> list[SearchHit]:
    """The same hits in their new order, with their new scores. Ties keep the order they had; `at` has a zone.

    Hits are alike as their vectors are, or, while some have none (`vectors_of` gives None), as their words are.
    Raises what the reranker raises, and InvalidRequest when it gives something else than a number for each text.
    """
    if not hits:
        return []
    scores = _scores(query, hits, asked)
    if asked.temporal_decay is not None:
        days = np.array([_age_s(hit, at) / _DAY_S for hit in hits])
        scores = np.maximum(scores, 0.0) * asked.temporal_decay**days
    order = np.argsort(-_rounded_scores(scores), kind="stable")
    if asked.mmr_lambda is not None:
        sorted_hits = [hits[place] for place in order]
        order = order[_spread(scores[order], _likeness(sorted_hits, vectors_of), asked.mmr_lambda)]
    return [replace(hits[place], score=float(scores[place])) for place in order]


def _scores(query: str, hits: Sequence[SearchHit], asked: Rerank) -> Floats:
    """The scores of the search, or those of a reranker scaled to 0 to 1, as they have no fixed range."""
    if asked.reranker is None:
        return np.array([hit.score for hit in hits], np.float64)
    given = _numbers(asked.reranker(query, [hit.message.text for hit in hits]), len(hits))
    least, stretch = given.min(), np.ptp(given)
    return np.asarray((given - least) / stretch if stretch else np.ones(len(given)))


def _numbers(given: Sequence[float], count: int) -> Floats:
    try:
        numbers = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise InvalidRequest(f"The reranker must give one finite number for each of {count} texts.", field="rerank")
    return numbers


def _rounded_scores(scores: Floats) -> Floats:
    """Scores rounded to significant digits, so that even the tiny scores of very old hits keep an order."""
    digits, exponents = np.frexp(scores)
    return np.asarray(np.ldexp(np.round(digits, _DIGITS), exponents))


def _age_s(hit: SearchHit, at: datetime) -> float:
    """The age of a hit in seconds, at least 0; 0 for an unreadable time."""
    if hit.created_at is None:
        return 0.0
    said_at = hit.created_at if hit.created_at.tzinfo else hit.created_at.replace(tzinfo=UTC)
    return max(0.0, (at - said_at).total_seconds())


def _spread(scores: Floats, likeness: Floats, weight: float) -> list[int]:
    """Positions, each the best of the rest by `weight` parts of score minus the remaining share of likeness.

    Source: Carbonell and Goldstein, maximal marginal relevance, SIGIR 1998. Scores count as shares of the best.
    """
    shares = scores / (scores.max() if scores.max() > 0 else 1.0)
    nearest = np.zeros(len(shares))
    left, order = np.ones(len(shares), bool), []
    for _ in range(len(shares)):
        worth = np.where(left, weight * shares - (1 - weight) * nearest, -np.inf)
        best = int(np.argmax(np.round(worth, _DIGITS)))
        order.append(best)
        left[best] = False
        nearest = np.maximum(nearest, likeness[best])
    return order


def _likeness(hits: Sequence[SearchHit], vectors_of: VectorsOf) -> Floats:
    """The cosines of all pairs."""
    vectors = vectors_of(hits)
    rows = _word_counts(hits) if vectors is None else vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units = rows / np.where(lengths == 0, 1.0, lengths)
    return np.asarray(units @ units.T)


def _word_counts(hits: Sequence[SearchHit]) -> Floats:
    texts = [read_terms(terms_of(hit.message.text)) for hit in hits]
    known, columns = np.unique(np.concatenate(texts), return_inverse=True)
    counts = np.zeros((len(hits), max(1, len(known))))
    np.add.at(counts, (np.repeat(np.arange(len(hits)), [len(text) for text in texts]), columns), 1.0)
    return counts
