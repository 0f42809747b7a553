"""Recall by meaning, with the built-in embedder: questions that share no word with what answers them."""

from datetime import UTC, datetime

import pytest
from listed_rows import ListedRows, fact

from mnemoir.core.scope import Scope
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Visible
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.search import Indexing, Question, Recall

MIRA = Scope(project="p", user="mira")
NOW = datetime(2026, 1, 21, tzinfo=UTC)
FACTS = [
    "Is a vegetarian", "Allergic to nuts", "Enjoys hiking on weekends", "Works mainly with Python", "Lives in Graz",
    "Has a dog named Rex", "Is learning Spanish", "Sister is called Anna", "Plays the violin",
]  # fmt: skip


async def found(query: str, facts: list[str] = FACTS) -> list[str]:
    model, store = MiniLM(), ListedRows()
    try:
        for text, entry in zip(facts, await Indexing(model).entries([Passage(text=t) for t in facts]), strict=True):
            store.add(MIRA, fact(text, text), entry)
        result = await Recall(store, model).search(MIRA, Question(text=query, asked_at=NOW), Visible(now=NOW))
        return [hit.memory.text for hit in result.hits]
    finally:
        await model.aclose()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What are my food preferences?", {"Is a vegetarian", "Allergic to nuts"}),
        ("What should I keep in mind when cooking for me?", {"Is a vegetarian", "Allergic to nuts"}),
        ("Which outdoor activities do I like?", {"Enjoys hiking on weekends"}),
        ("Which programming language do I use?", {"Works mainly with Python"}),
        ("Do I have a pet?", {"Has a dog named Rex"}),
    ],
)
async def test_a_question_finds_the_facts_that_answer_it(query: str, expected: set[str]) -> None:
    hits = await found(query)
    assert expected <= set(hits)
    assert hits[0] in expected


@pytest.mark.parametrize("query", ["Explain quantum entanglement", "Who won the world cup in 1998?"])
async def test_a_question_about_something_else_finds_nothing(query: str) -> None:
    assert await found(query) == []


async def test_of_a_handful_all_are_found_when_one_is_near_and_no_word_says_which() -> None:
    assert set(await found("which sports does she do?", ["Lives in Graz", "Rows every morning"])) == {
        "Lives in Graz",
        "Rows every morning",
    }
    assert await found("Explain quantum entanglement", ["Lives in Graz", "Rows every morning"]) == []
