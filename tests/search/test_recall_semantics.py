"""Recall by meaning, with the built-in embedder: questions that share no word with what answers them."""

from datetime import UTC, datetime

import pytest
from listed_rows import ListedRows, fact

from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Visible
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.search import Indexing, Question, Recall
from mnemoir.search.indexing import fact_passage

MIRA = Scope(project="p", user="mira")
NOW = datetime(2026, 1, 21, tzinfo=UTC)
FACTS = [
    "Is a vegetarian", "Allergic to nuts", "Enjoys hiking on weekends", "Works mainly with Python", "Lives in Graz",
    "Has a dog named Rex", "Is learning Spanish", "Sister is called Anna", "Plays the violin",
]  # fmt: skip


async def found(query: str, facts: list[str] = FACTS, *, unlikely: bool = False) -> list[str]:
    """The likely facts, best first; the others with `unlikely`."""
    model, store = MiniLM(), ListedRows()
    try:
        entries = await Indexing(model).entries([fact_passage(text) for text in facts])
        for text, entry in zip(facts, entries, strict=True):
            store.add(MIRA, fact(text, text), entry)
        result = await Recall(store, model).search(MIRA, Question(text=query, asked_at=NOW), Visible(now=NOW))
        return [hit.memory.text for hit in result.hits if hit.is_likely is not unlikely]
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
async def test_a_question_about_something_else_finds_nothing_likely(query: str) -> None:
    assert await found(query) == []


@pytest.mark.parametrize("query", ["which sports does she do?", "Explain quantum entanglement"])
async def test_a_handful_is_found_whatever_is_asked(query: str) -> None:
    facts = ["Lives in Graz", "Rows every morning"]
    assert {*await found(query, facts), *await found(query, facts, unlikely=True)} == set(facts)


@pytest.mark.parametrize(
    ("query", "facts", "answer"),
    [
        (
            "Which sports does she do?",
            ["Her brother Felix lives in Toronto", "Plays tennis on Sundays"],
            "Plays tennis on Sundays",
        ),
        (
            "How does he get to work?",
            ["Meets his army buddies every May", "Cycles to the office"],
            "Cycles to the office",
        ),
        ("Where does her sister live?", ["Lives in Graz", "Sister lives in Rome"], "Sister lives in Rome"),
        ("What does his boss drink?", ["Drinks black coffee", "Boss only drinks tea"], "Boss only drinks tea"),
    ],
)
async def test_she_and_he_are_the_user_and_a_relation_is_somebody_else(
    query: str, facts: list[str], answer: str
) -> None:
    assert (await found(query, facts))[0] == answer
