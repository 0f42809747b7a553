"""Messages cut into chunks by their estimated tokens."""

from hypothesis import given
from hypothesis import strategies as st

from mnemoir.memory.discussions.parts import chunk_spans


def test_chunks_are_filled_from_the_newest_and_the_oldest_is_what_remains():
    assert chunk_spans([3, 3, 3, 3, 3, 3, 3], 10) == [(0, 1), (1, 3), (3, 5), (5, 7)]


def test_a_chunk_may_be_exactly_four_fifths_of_the_target():
    assert chunk_spans([4, 4], 10) == [(0, 2)]
    assert chunk_spans([4, 5], 10) == [(0, 1), (1, 2)]


def test_a_message_larger_than_a_chunk_is_one_by_itself():
    assert chunk_spans([1, 100, 1], 10) == [(0, 1), (1, 2), (2, 3)]


def test_messages_without_tokens_join_their_neighbours():
    assert chunk_spans([0, 8, 0, 8, 0], 10) == [(0, 2), (2, 5)]


def test_no_messages_make_no_chunks():
    assert chunk_spans([], 10) == []


@given(st.lists(st.integers(0, 40)), st.integers(0, 60))
def test_chunks_cover_all_messages_once_are_not_too_large_and_could_not_be_larger(tokens, target):
    spans = chunk_spans(tokens, target)
    assert [at for start, stop in spans for at in range(start, stop)] == list(range(len(tokens)))
    for start, stop in spans:
        assert stop - start == 1 or sum(tokens[start:stop]) <= 0.8 * target
        assert start == 0 or sum(tokens[start - 1 : stop]) > 0.8 * target
