"""Words: BM25 over items and windows, against a naive reading of the formula."""

import math
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.core.memories import IndexEntry
from mnemoir.core.scope import Scope
from mnemoir.search.index import ScopeIndex
from mnemoir.search.scores import word_scores
from mnemoir.search.terms import query_terms, terms_of
from tests.search.listed_rows import ListedRows, message

ALPHABET = ["tea", "dog", "graz", "piano", "nut"]
MIRA = Scope(project="p", user="mira")


def index_of(texts: Sequence[str], times: Sequence[str] | None = None) -> ScopeIndex:
    store = ListedRows()
    for number, text in enumerate(texts):
        at = times[number] if times else "2026-01-01T10:00:00Z"
        store.add(MIRA, message(f"m{number}", text, at=at), IndexEntry(terms=terms_of(text)))
    index = ScopeIndex("model", None)
    index.put(store.rows_since(MIRA, -1))
    return index


def naive(texts: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], words: Sequence[str]) -> list[float]:
    """BM25 of each of `texts`, with the document frequencies of `rows`, over the sum of all idf."""
    mean = sum(map(len, texts)) / len(texts)
    rows_with = {word: sum(word in row for row in rows) for word in words}
    idf = {w: max(1e-6, math.log((len(rows) - n + 0.5) / (n + 0.5))) for w, n in rows_with.items() if n}

    def score(text: Sequence[str]) -> float:
        bend = 1.2 * (0.25 + 0.75 * len(text) / mean)
        return sum(idf[word] * text.count(word) * 2.2 / (text.count(word) + bend) for word in idf if word in text)

    return [score(text) / (sum(idf.values()) or 1) for text in texts]


@settings(max_examples=25)
@given(st.lists(st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=6), min_size=1, max_size=12), st.data())
def test_scores_equal_the_formula_over_items_and_over_windows(rows: list[list[str]], data: st.DataObject) -> None:
    words = data.draw(st.lists(st.sampled_from(ALPHABET), min_size=1, unique=True))
    scores = word_scores(
        index_of([" ".join(r) for r in rows]), query_terms(" ".join(words)), np.ones(len(rows), bool)
    )
    windows = [list(chain.from_iterable(rows[max(0, i - 2) : i + 3])) for i in range(len(rows))]
    assert scores.item == pytest.approx(naive(rows, rows, words), rel=1e-5)
    assert scores.window == pytest.approx(naive(windows, rows, words), rel=1e-5)


def test_a_window_ends_where_more_than_an_hour_lies_between_messages() -> None:
    times = ["2026-01-01T10:00:00Z", "2026-01-01T10:30:00Z", "2026-01-01T12:00:00Z"]
    scores = word_scores(index_of(["piano", "tea", "dog"], times), query_terms("piano"), np.ones(3, bool))
    assert (scores.window > 0).tolist() == [True, True, False]


def test_a_hidden_row_is_not_scored_and_lends_its_words_to_nobody() -> None:
    scores = word_scores(index_of(["piano", "tea", "dog"]), query_terms("piano"), np.array([False, True, True]))
    assert not scores.item.any()
    assert not scores.window.any()
