"""Terms: what counts as a word."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.search.terms import query_terms, read_terms, terms_of
from tests.narrowing import instance


def shared(one: str, other: str) -> int:
    """How many distinct terms two texts have in common."""
    return len(set(read_terms(terms_of(one)).tolist()) & set(read_terms(terms_of(other)).tolist()))


def test_words_are_folded_and_stemmed_as_fts5_does() -> None:
    assert terms_of("Running, CAFÉS") == terms_of("run cafe")


def test_terms_keep_order_and_repeats() -> None:
    terms = read_terms(terms_of("tea and tea"))
    assert len(terms) == 3
    assert terms[0] == terms[2] != terms[1]


def test_a_text_without_words_has_no_terms() -> None:
    assert terms_of(" ?! … ") == b""


def test_a_query_loses_its_stop_words_and_repeats() -> None:
    assert query_terms("What is the dog, the DOG doing?").tolist() == read_terms(terms_of("dog")).tolist()


def test_a_query_of_nothing_but_stop_words_keeps_them() -> None:
    assert query_terms("who is it").tolist() == read_terms(terms_of("who is it")).tolist()


@pytest.mark.parametrize("word", ["猫", "咪咪", "猫叫咪", "แมว", "ねこ", "မြန်"])
def test_a_word_is_found_inside_a_script_without_spaces(word: str) -> None:
    text = f"我家的猫叫咪咪很可爱 ฉันมีแมวตัวหนึ่ง うちのねこです မြန်မာ {word}"
    assert set(query_terms(word).tolist()) <= set(read_terms(terms_of(text)).tolist())


def test_the_grams_hold_those_of_fts5s_own_trigram_tokenizer() -> None:
    connection = apsw.Connection(":memory:")
    trigram = connection.fts5_tokenizer("trigram", [])
    run = "我家的猫叫咪咪"
    grams = trigram(run.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
    ours = set(read_terms(terms_of(run)).tolist())
    assert all(set(read_terms(terms_of(instance(str, gram))).tolist()) <= ours for gram in grams)


def test_hangul_goes_by_words() -> None:
    assert shared("안녕하세요 친구", "친구 만나요") == 1


@given(st.text(max_size=200))
def test_any_text_has_terms_and_the_same_ones_each_time(text: str) -> None:
    assert terms_of(text) == terms_of(text)
    assert len(terms_of(text)) % 8 == 0


@pytest.mark.parametrize("text", ["\ud800 lone", "a\0b", "x" * 100_000, "word " * 20_000, "👩‍👩‍👧 emoji"])
def test_strange_texts_are_data(text: str) -> None:
    assert len(terms_of(text)) % 8 == 0
    assert query_terms(text).dtype == "uint64"
