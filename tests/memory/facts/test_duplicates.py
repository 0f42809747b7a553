"""Which facts are offered as duplicates, and how they are grouped."""

import numpy as np
import pytest

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.memory.facts.decide.resemblance import duplicate_groups
from mnemoir.search.scores import Pair, alike_pairs


def facts(*texts: str) -> list[Memory]:
    return [
        Memory(id=MemoryId(f"mem_{n}"), text=text, user="mira", created_at="2026-01-01T00:00:00Z")
        for n, text in enumerate(texts)
    ]


def grouped(texts: list[str], *pairs: tuple[int, int, float]) -> list[list[str]]:
    groups = duplicate_groups(facts(*texts), [Pair(*pair) for pair in pairs])
    return [[memory.text for memory in group.memories] for group in groups]


@pytest.mark.parametrize(
    ("one", "other", "cosine", "is_offered"),
    [
        ("Rows every morning", "Rows each morning", 0.96, True),
        ("Loves drinking tea", "Likes tea", 0.86, True),
        ("Has a nut allergy", "Allergic to nuts", 0.78, True),
        ("Works as a baker in Graz", "Lives in Graz", 0.8, False),
        ("Has 2 cats", "Has 3 cats", 0.99, False),
        ("Likes tea", "Does not like tea", 0.95, False),
        ("Likes the tea", "Likes tea", 0.0, True),
    ],
)
def test_two_facts_are_offered_when_words_numbers_and_denials_agree_with_their_vectors(
    one, other, cosine, is_offered
):
    assert bool(grouped([one, other], (0, 1, cosine))) is is_offered


def test_each_member_of_a_group_is_like_the_first_so_chains_do_not_join_what_differs():
    chain = ["Rows", "Rows daily", "Rows daily at dawn", "Rows daily at dawn sharp"]
    groups = grouped(chain, (0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9))
    assert groups == [["Rows daily", "Rows", "Rows daily at dawn"]]


def test_the_most_alike_groups_come_first():
    texts = ["Likes tea", "Loves tea", "Has a boat", "Owns a boat"]
    assert grouped(texts, (0, 1, 0.86), (2, 3, 0.97)) == [["Has a boat", "Owns a boat"], ["Likes tea", "Loves tea"]]


def test_pairs_are_those_above_the_floor_across_blocks_of_rows():
    random = np.random.default_rng(7)
    rows = random.normal(size=(600, 16)).astype(np.float32)
    rows[599] = rows[3] * 2
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = {(pair.first, pair.second) for pair in alike_pairs(rows, 0.8)}
    expected = {
        (first, second) for first, second in zip(*np.nonzero(rows @ rows.T >= 0.8), strict=True) if first < second
    }
    assert found == expected
    assert (3, 599) in found


def test_of_many_that_are_the_same_only_the_closest_few_of_each_are_told():
    rows = np.ones((1000, 1), np.float32)
    assert len(alike_pairs(rows, 0.5)) <= 8 * 1000
