"""Recall by meaning, with the built-in embedder: questions that share no word with what answers them."""

from datetime import UTC, datetime

import pytest

from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Visible
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.search import Indexing, Question, Recall, SearchResult
from mnemoir.search.indexing import fact_passage
from tests.search.listed_rows import ListedRows, fact

MIRA = Scope(project="p", user="mira")
NOW = datetime(2026, 1, 21, tzinfo=UTC)
FACTS = [
    "Is a vegetarian", "Allergic to nuts", "Enjoys hiking on weekends", "Works mainly with Python", "Lives in Graz",
    "Has a dog named Rex", "Is learning Spanish", "Sister is called Anna", "Plays the violin",
]  # fmt: skip


LIVES = [
    "Lives in Graz", "Works as a nurse", "Drinks black coffee", "Plays the violin", "Allergic to nuts",
    "Is 34 years old", "Drives an old Volvo", "Speaks Spanish",
    "Sister lives in Rome", "Sister works as a pilot", "Sister plays the cello", "Sister is allergic to cats",
    "Sister drives a red Fiat", "Sister speaks Italian",
    "Boss lives in Vienna", "Boss drinks green tea", "Boss plays golf", "Boss is 60 years old",
    "Boss drives a Tesla", "Boss speaks French",
    "Dog is called Rex", "Dog is afraid of thunder", "Dog is nine years old", "Dog eats dry food",
]  # fmt: skip
ABOUT_OTHERS = [
    ("Where does her sister live?", "Sister lives in Rome"),
    ("What does his sister do for a living?", "Sister works as a pilot"),
    ("Which instrument does her sister play?", "Sister plays the cello"),
    ("What is her sister allergic to?", "Sister is allergic to cats"),
    ("What car does their sister drive?", "Sister drives a red Fiat"),
    ("Which language does her sister speak?", "Sister speaks Italian"),
    ("Is her sister a pilot?", "Sister works as a pilot"),
    ("Does her sister live in Italy?", "Sister lives in Rome"),
    ("Where does her boss live?", "Boss lives in Vienna"),
    ("What does his boss drink?", "Boss drinks green tea"),
    ("Which sport does her boss play?", "Boss plays golf"),
    ("How old is her boss?", "Boss is 60 years old"),
    ("What car does his boss drive?", "Boss drives a Tesla"),
    ("Which language does her boss speak?", "Boss speaks French"),
    ("Does his boss drive a Tesla?", "Boss drives a Tesla"),
    ("What is the name of her dog?", "Dog is called Rex"),
    ("What is his dog scared of?", "Dog is afraid of thunder"),
    ("How old is her dog?", "Dog is nine years old"),
    ("What does their dog eat?", "Dog eats dry food"),
    ("What frightens their dog?", "Dog is afraid of thunder"),
]


async def found(query: str, facts: list[str] = FACTS, *, unlikely: bool = False) -> list[str]:
    """The likely facts, best first; the others with `unlikely`."""
    [result] = await results([query], facts)
    return [hit.memory.text for hit in result.hits if hit.is_likely is not unlikely]


async def results(queries: list[str], facts: list[str]) -> list[SearchResult]:
    model, store = MiniLM(), ListedRows()
    try:
        entries = await Indexing(model).entries([fact_passage(text) for text in facts])
        for text, entry in zip(facts, entries, strict=True):
            store.add(MIRA, fact(text, text), entry)
        recall = Recall(store, model)
        return [await recall.search(MIRA, Question(text=each, asked_at=NOW), Visible(now=NOW)) for each in queries]
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


async def test_what_fits_a_question_shares_a_word_with_it_or_is_near_by_itself_and_the_rest_came_along() -> None:
    questions = ["Where does her sister live?", "What scares the dog?", "Explain quantum entanglement"]
    about_sister, about_dog, unrelated = await results(questions, LIVES)
    fitting = {hit.memory.text for hit in about_sister.hits if hit.fits}
    assert {"Sister lives in Rome", "Lives in Graz", "Sister works as a pilot"} <= fitting
    assert "Dog is afraid of thunder" in {hit.memory.text for hit in about_dog.hits if hit.fits}
    assert unrelated.hits
    assert not [hit.memory.text for hit in unrelated.hits if hit.fits]


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


async def test_twenty_questions_about_a_sister_a_boss_and_a_dog_find_a_fact_of_that_one_first():
    found = await results([query for query, _ in ABOUT_OTHERS], LIVES)
    first = [result.hits[0].memory.text for result in found]
    answers = [answer for _, answer in ABOUT_OTHERS]
    assert [text.split()[0] for text in first] == [answer.split()[0] for answer in answers]
    assert sum(text == answer for text, answer in zip(first, answers, strict=True)) >= 19
