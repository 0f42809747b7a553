"""An index that takes its rows in large pieces is the one that takes them singly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.memories import IndexEntry
from mnemoir.ports.search_rows import SearchRow
from mnemoir.search.candidates import strongest
from mnemoir.search.columns import Column
from mnemoir.search.index import ScopeIndex
from mnemoir.search.scores import word_scores
from mnemoir.search.terms import query_terms, read_terms, terms_of

_TIMES = st.sampled_from([float("nan"), 0.0, 1800.0, 3600.0, 9000.0])
_VECTORS = st.sampled_from([None, b"", b"\0<\0<", b"\0<\0\0", b"\0<" * 3])


def _row(seq: int, is_message: bool, conversation: str | None, said_at: float, vector: bytes | None) -> SearchRow:
    entry = IndexEntry(terms=terms_of(f"word{seq % 3} tea"), model="m", vector=vector, token_ids=b"\1\0")
    return SearchRow(
        seq=seq,
        is_message=is_message,
        speaker=None,
        agent=None,
        app=None,
        conversation=conversation,
        effective_at=0.0,
        said_at=said_at,
        expires_at=float("inf"),
        entry=entry,
    )


_ROWS = st.lists(st.tuples(st.booleans(), st.sampled_from(["c", "d", None]), _TIMES, _VECTORS), max_size=12).map(
    lambda made: [_row(seq, *rest) for seq, rest in enumerate(made)]
)


def _seen(index: ScopeIndex) -> list[object]:
    """What ranking reads of it."""
    places, rows = index.window(np.arange(len(index)))
    scores = word_scores(index, query_terms("word1 tea"), index.alive)
    matrix = index.vectors
    return [
        sorted(zip(places.tolist(), rows.tolist(), strict=True)),
        [] if matrix is None else matrix.tolist(),
        index.has_vector.tolist(),
        index.token_rows(np.array([1], np.uint16)).tolist(),
        scores.window.round(9).tolist(),
    ]


@given(_ROWS, st.integers(0, 12))
def test_rows_at_once_and_one_by_one_make_the_same_index(rows: list[SearchRow], again: int) -> None:
    whole, single = ScopeIndex("m", 2), ScopeIndex("m", 2)
    whole.put(rows)
    for row in rows:
        single.put([row])
    assert _seen(whole) == _seen(single)
    rewritten = rows[:again]
    whole.put(rewritten)
    for row in rewritten:
        single.put([row])
    assert _seen(whole) == _seen(single)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5]), min_size=1, max_size=400), st.integers(1, 5))
def test_the_strongest_are_the_strongest_however_many_there_are(made: list[float], count: int) -> None:
    score = np.array(made)
    found = strongest(score, count)
    assert sorted(score[found].tolist()) == sorted(made)[-count:]
    assert found.tolist() == sorted(set(found.tolist()))


@pytest.mark.parametrize("rows", [0, 3, 100])
def test_room_that_is_reserved_changes_nothing(rows: int) -> None:
    column = Column(np.int32)
    column.extend([1, 2])
    column.reserve(rows)
    column.extend([3])
    assert (column.values.tolist(), len(column)) == ([1, 2, 3], 3)


@pytest.mark.parametrize(
    "text", ["Running cats", "我们去 Beijing 开会 running", "แมว running ねこ cats", "\ud800 x\0y"]
)
def test_terms_of_a_text_hold_those_of_a_query_of_the_same_words(text: str) -> None:
    stored = set(read_terms(terms_of(text)).tolist())
    assert set(query_terms(text).tolist()) <= stored
