"""Every query of one or two printable characters can be read; none of them is grammar."""

from itertools import product

from mnemoir.search.terms import query_terms, read_terms, terms_of

PRINTABLE = [chr(code) for code in range(32, 127)]


def test_every_query_of_one_or_two_characters_is_words_or_nothing():
    queries = [*PRINTABLE, *map("".join, product(PRINTABLE, repeat=2))]
    assert len(queries) == 95 + 95 * 95
    for query in queries:
        words = "".join(char if char.isalnum() else " " for char in query)
        assert list(query_terms(query)) == list(query_terms(words))
        assert list(read_terms(terms_of(query))) == list(read_terms(terms_of(words)))
