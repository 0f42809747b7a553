"""Merges two rankings of messages into one: by reciprocal rank, or by weights."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mnemoir.conversations.search.session_search import SearchHit

K = 60


def by_rank(by_words: Sequence[SearchHit], by_meaning: Sequence[SearchHit]) -> list[SearchHit]:
    """Best first: a score is the sum of 1 / (60 + rank), rank from 1. Ties go to the newer message.

    Source: Cormack, Clarke, Büttcher, SIGIR 2009; 60 is theirs.
    """
    scores: dict[int, float] = {}
    for ranking in (by_words, by_meaning):
        for rank, hit in enumerate(ranking, start=1):
            scores[hit.message_id] = scores.get(hit.message_id, 0.0) + 1.0 / (K + rank)
    return _sorted_hits(by_words, by_meaning, scores)


def by_weight(by_words: Sequence[SearchHit], by_meaning: Sequence[SearchHit], alpha: float) -> list[SearchHit]:
    """Best first: a score is `alpha` (0 to 1) parts of similarity, and the rest of words' share of the best by words.

    A message missing from one ranking scores 0 there, as do opposite vectors. Ties go to the newer message.
    """
    weight = min(1.0, max(0.0, alpha))
    best = max((hit.score for hit in by_words), default=0.0) or 1.0
    scores = {hit.message_id: (1.0 - weight) * hit.score / best for hit in by_words}
    for hit in by_meaning:
        share = weight * max(0.0, hit.similarity or 0.0)
        scores[hit.message_id] = scores.get(hit.message_id, 0.0) + share
    found_by_one = {name: score for name, score in scores.items() if score > 0}
    return _sorted_hits(by_words, by_meaning, found_by_one)


def _sorted_hits(
    by_words: Sequence[SearchHit], by_meaning: Sequence[SearchHit], scores: Mapping[int, float]
) -> list[SearchHit]:
    hits = {hit.message_id: hit for hit in by_words}
    for hit in by_meaning:
        same = hits.get(hit.message_id, hit)
        is_likely = same.is_likely or hit.is_likely
        hits[hit.message_id] = replace(same, similarity=hit.similarity, is_likely=is_likely)
    order = sorted(scores, key=lambda message_id: (-round(scores[message_id], 9), -message_id))
    return [replace(hits[message_id], score=scores[message_id]) for message_id in order]
