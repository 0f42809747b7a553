"""An index with the vectors of two models: one ranking, each model at its own rest, and nothing lost in a pack."""

from dataclasses import replace

import numpy as np
import pytest

from mnemoir.core.memories import IndexEntry, Space
from mnemoir.core.scope import Scope
from mnemoir.search.frozen import frozen_from
from mnemoir.search.index import ScopeIndex
from mnemoir.search.indexing import pack_vector
from mnemoir.search.scores import mixed_closeness
from mnemoir.search.weights import Weights
from tests.search.listed_rows import ListedRows, fact, message

MIRA = Scope(project="p", user="mira")
WEIGHTS = Weights()
EAST, NORTH = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
MANY = Space("many", "many/1")
PLAIN = IndexEntry(terms=b"", model="main", vector=pack_vector(EAST))
BOTH = replace(PLAIN, vectors={MANY: pack_vector(NORTH)})


def index_of(*stored):
    rows, index = ListedRows(), ScopeIndex("main", 2, spaces=[MANY])
    for memory, entry in stored:
        rows.add(MIRA, memory, entry)
    index.put(rows.rows_since(MIRA, -1))
    return index


def close(index, share):
    main, many = index.main.cosines(EAST), index.vectors_in("many").cosines(NORTH)
    return mixed_closeness(index, main, many, share, WEIGHTS)


def test_each_space_has_its_own_vectors():
    index = index_of((fact("one", "one"), PLAIN), (fact("two", "two"), BOTH))
    assert index.has_vector.tolist() == [True, True]
    assert index.vectors_in("many").has_vector.tolist() == [False, True]
    assert np.isnan(index.vectors_in("many").cosines(NORTH)).tolist() == [True, False]


def test_an_english_question_mixes_both_and_keeps_the_main_one_where_the_other_is_missing():
    index = index_of((fact("one", "one"), PLAIN), (fact("two", "two"), BOTH))
    found = close(index, 0.6)
    assert found.rested.tolist() == pytest.approx([1.0, 1.0])
    assert close(index_of((fact("two", "two"), BOTH)), 0.6).cosine.tolist() == [1.0]


def test_in_another_language_a_fact_without_a_vector_waits_and_an_english_message_is_not_near():
    index = index_of((fact("one", "one"), PLAIN), (message("two", "two"), PLAIN), (fact("three", "three"), BOTH))
    found = close(index, 1.0)
    assert np.isnan(found.rested).tolist() == [True, False, False]
    assert found.rested[1:].tolist() == pytest.approx([0.0, 1.0])


def test_a_vector_of_another_model_counts_as_none():
    index = index_of((fact("one", "one"), replace(BOTH, vectors={Space("many", "other"): pack_vector(NORTH)})))
    assert index.vectors_in("many").has_vector.tolist() == [False]


def test_a_pack_keeps_both_and_is_of_no_use_for_one():
    index = index_of((fact("one", "one"), PLAIN), (fact("two", "two"), BOTH))
    packed = index.frozen().of_the_living().as_arrays(index.space)
    kept = frozen_from(packed, index.space)
    again = ScopeIndex("main", None, kept, spaces=[MANY])
    assert again.vectors_in("many").cosines(NORTH).tolist() == pytest.approx(
        index.vectors_in("many").cosines(NORTH).tolist(), nan_ok=True
    )
    assert frozen_from(packed, "main") is None


def test_a_rewritten_row_loses_its_further_vector_until_there_is_a_new_one():
    rows, index = ListedRows(), ScopeIndex("main", 2, spaces=[MANY])
    seq = rows.add(MIRA, fact("one", "one"), BOTH)
    index.put(rows.rows_since(MIRA, -1))
    rows.rewrite(MIRA, seq, fact("one", "other"), PLAIN)
    index.put(rows.rows_since(MIRA, 1))
    assert index.vectors_in("many").has_vector[index.alive].tolist() == [False]
