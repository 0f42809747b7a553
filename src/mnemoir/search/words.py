"""Words: BM25 over the item, and over its window (itself and two messages on either side).

The formula is FTS5's: k1 = 1.2, b = 0.75, idf = ln((N - n + 0.5) / (n + 0.5)) and never below a millionth, with N, n
and the mean length taken over the rows of this user that live. A window is scored like one long row that holds all
five; its words weigh what they weigh in single rows, so that the two scores differ by evidence alone.

Neighbours that are hidden from the reader do not count in windows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemoir.search import postings
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.terms import Terms

K1 = 1.2
B = 0.75
LEAST_IDF = 1e-6
# For a pasted page as a query: its rarest words describe its subject, and their number bounds the cost.
MOST_TERMS = 48

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WordScores:
    """BM25 by slot, as a share of what a row of mean length that holds every word once would get; 0 for no word."""

    item: Scores
    window: Scores


def word_scores(index: ScopeIndex, terms: Terms, shown: Mask) -> WordScores:
    """Score every row that is `shown` for the distinct `terms`."""
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
        item[slots] += idf * _saturated(counts, item_lengths[slots])
        around, times = _spread(index, slots, counts, hidden)
        window[around] += idf * _saturated(times, window_lengths[around])
    return WordScores(item / (ideal or 1.0), window / (ideal or 1.0))


def _rarest(index: ScopeIndex, terms: Terms) -> list[tuple[postings.Slots, postings.Counts]]:
    """Living rows and counts of the terms that occur at all, at most MOST_TERMS of them."""
    found = []
    for slots, counts in postings.find(index.pieces, terms):
        alive = index.alive[slots]
        if alive.any():
            found.append((slots[alive], counts[alive]))
    return sorted(found, key=lambda entry: len(entry[0]))[:MOST_TERMS]


def _saturated(counts: NDArray[Any], relative_length: NDArray[np.float32]) -> Scores:
    times = counts.astype(np.float64)
    return np.asarray(times * (K1 + 1) / (times + K1 * (1 - B + B * relative_length)))


def _spread(
    index: ScopeIndex, slots: postings.Slots, counts: postings.Counts, hidden: Mask | None
) -> tuple[NDArray[np.int64], Scores]:
    """The rows that are not `hidden` and whose window holds the term, and its count in each."""
    place, row = index.window(slots.astype(np.int64))
    times = np.asarray(np.bincount(row, counts[place], len(index)), np.float64)
    if hidden is not None:
        times[hidden] = 0
    around = np.flatnonzero(times)
    return around, times[around]
