"""The numeric stages, each against what it stands for."""

import numpy as np
import pytest

from mnemoir.ports.embedding import Embedding, Passage
from mnemoir.search.indexing import (
    Indexing,
    pack_codes,
    pack_ids,
    pack_vector,
    sentence_vector,
    unpack_bits,
    unpack_ids,
    unpack_vector,
)
from mnemoir.search.scores import above_rest, fuse, late_scores
from tests.search.hashed_words import HashedWords


def test_vectors_and_token_ids_come_back_from_bytes() -> None:
    vector = np.array([0.5, -0.25, 0.0], np.float32)
    assert unpack_vector(pack_vector(vector)).tolist() == vector.tolist()
    assert unpack_ids(pack_ids(np.array([7, 30521], np.uint16))).tolist() == [7, 30521]


def test_a_token_takes_one_bit_a_dimension() -> None:
    tokens = np.random.default_rng(0).standard_normal((3, 384)).astype(np.float32)
    assert len(pack_codes(tokens)) == 3 * 48
    assert (unpack_bits([pack_codes(tokens)], 384) == (tokens > 0)).all()


def test_late_interaction_is_the_weighted_mean_of_each_query_tokens_best_match() -> None:
    rng = np.random.default_rng(1)
    query, one, two = (rng.standard_normal((n, 16)).astype(np.float32) for n in (3, 2, 4))
    weights = np.array([0.5, 0.3, 0.2], np.float32)
    embedding = Embedding(vector=query[0], token_ids=np.arange(3, dtype=np.uint16), token_vectors=query)
    scores = late_scores(embedding, weights, {1: pack_codes(one), 2: pack_codes(two)}, [1, 9, 2])
    best = [weights @ (query @ np.sign(tokens).T / 4).max(axis=1) for tokens in (one, two)]
    assert scores == pytest.approx([best[0], np.nan, best[1]], rel=1e-5, nan_ok=True)


def test_the_sentence_vector_is_the_mean_of_the_texts_own_tokens_where_there_are_any() -> None:
    tokens = np.array([[1, 0], [0, 1]], np.float32)
    pooled = np.array([1, 0], np.float32)
    with_tokens = Embedding(vector=pooled, token_ids=np.zeros(2, np.uint16), token_vectors=tokens)
    assert sentence_vector(with_tokens) == pytest.approx([0.5**0.5, 0.5**0.5])
    assert sentence_vector(Embedding(vector=pooled)).tolist() == pooled.tolist()


def test_cosines_count_from_what_unrelated_rows_of_the_scope_have() -> None:
    crowd = np.array([0.7] * 400 + [0.9, np.nan], np.float32)
    scaled = above_rest(crowd, 0.13, 20)
    assert scaled[0] < 0.15
    assert scaled[400] == pytest.approx(0.7, abs=0.1)
    assert np.isnan(scaled[401])


def test_fusion_divides_by_the_weights_of_the_signals_that_fired() -> None:
    both = {"words": np.array([1.0, 0.0]), "date": np.array([1.0, 1.0])}
    assert fuse(both, {"words": 3, "date": 1, "late": 9}).tolist() == [1.0, 0.25]
    assert fuse({"words": both["words"]}, {"words": 3, "date": 1}).tolist() == [1.0, 0.0]


def test_a_row_that_lacks_a_signal_is_taken_to_do_as_well_as_the_upper_quarter() -> None:
    signals = {"vector": np.array([0.0, 0.5, 1.0, np.nan, 0.75])}
    assert fuse(signals, {"vector": 1})[3] == pytest.approx(np.quantile([0, 0.5, 1, 0.75], 0.75))


async def test_an_entry_has_words_vector_and_codes() -> None:
    [entry] = await Indexing(HashedWords()).entries([Passage(text="green tea")])
    assert (entry.model, len(entry.terms), len(entry.vector or b"")) == ("hashed", 16, 2048)
    assert (len(entry.token_ids or b""), len(entry.token_codes or b"")) == (4, 256)


async def test_an_embedding_model_that_fails_leaves_words_only() -> None:
    model = HashedWords()
    model.is_down = True
    [entry] = await Indexing(model).entries([Passage(text="green tea")])
    assert (entry.model, entry.vector, len(entry.terms)) == (None, None, 16)
