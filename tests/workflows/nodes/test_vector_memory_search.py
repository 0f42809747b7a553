"""VectorMemorySearch: search for records of the discussion by keywords."""

import re

import pytest

from mnemoir.core.messages import text_message
from mnemoir.workflows.nodes.vector_memory_search import VectorMemorySearch
from tests.workflows.nodes.kept_memory import begun, recorded

NOTHING = "No relevant memories found in the vector database for the given keywords."
DRAGONS = "Summary about red dragons."
BOATS = "Summary about blue boats."
DOG = "Lena has a golden retriever called Bruno."


@pytest.fixture
async def kept(bench):
    """A discussion with three records."""
    await recorded(bench, DRAGONS, BOATS, DOG)
    return bench


@pytest.mark.parametrize(
    ("keywords", "found"),
    [
        ("dragons", [DRAGONS]),
        ("DRAGON", [DRAGONS]),
        (" red dragon ; ;", [DRAGONS]),
        ("red boats", [DRAGONS, BOATS]),
        ("blue-boats", [BOATS]),
        ('"quo"te;AND OR NOT NEAR(;gold*', []),
        ("golden*", [DOG]),
        ("dragons;boat;bruno", [DRAGONS, BOATS, DOG]),
        ("zzz;yyy", []),
        (" ; ;", []),
        ("", []),
    ],
)
async def test_records_that_hold_any_of_the_keywords_are_given(kept, keywords, found):
    given = await kept.run(VectorMemorySearch, input=keywords)
    assert sorted(given.split("\n\n---\n\n")) == sorted(found or [NOTHING])


async def test_the_sixty_first_keyword_is_ignored(kept):
    assert await kept.run(VectorMemorySearch, input=";".join(["zz"] * 60 + ["dragons"])) == NOTHING
    assert await kept.run(VectorMemorySearch, input=";".join(["zz"] * 59 + ["dragons"])) == DRAGONS


@pytest.mark.parametrize(("limit", "count"), [(1, 1), ("{most}", 2), (99, 3), (10**30, 3)])
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
async def test_no_more_than_the_limit_are_given(kept, limit, count, mode):
    kept.variables = {"most": 2}
    given = await kept.run(VectorMemorySearch, input="dragons;boats;bruno", limit=limit, mode=mode)
    assert len(given.split("\n\n---\n\n")) == count


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_of_none_gives_nothing(kept, limit):
    assert await kept.run(VectorMemorySearch, input="dragons", limit=limit) == NOTHING


async def test_five_are_given_unless_the_node_says_otherwise(bench):
    await recorded(bench, *(f"cat {number}" for number in range(7)))
    assert len((await bench.run(VectorMemorySearch, input="cat")).split("\n\n---\n\n")) == 5


async def test_variables_in_the_keywords_are_filled_once(kept):
    kept.messages = [text_message("user", "boats; {agent1Output}")]
    kept.outputs = {1: "dragons"}
    assert await kept.run(VectorMemorySearch, input="{chat_user_prompt_last_one}") == BOATS
    assert await kept.run(VectorMemorySearch, input="{agent1Output}") == DRAGONS


async def test_dates_are_put_in_front_if_the_node_says_so(kept):
    given = await kept.run(VectorMemorySearch, input="dragons", includeDates=True)
    assert re.fullmatch(rf"\[\d{{4}}-\d\d-\d\d\] {re.escape(DRAGONS)}", given)


@pytest.mark.parametrize("said", [{"mode": "hybrid"}, {"searchMode": "hybrid"}, {"searchMode": "Semantic"}])
async def test_hybrid_search_finds_the_meaning_in_other_words(kept, said):
    assert await kept.run(VectorMemorySearch, input="what pet; does she own", limit=1, **said) == DOG
    assert await kept.run(VectorMemorySearch, input="what pet; does she own", limit=1) == NOTHING


async def test_hybrid_search_may_be_asked_a_question_in_place_of_the_keywords(kept):
    kept.variables = {"question": "Which pet does she own?"}
    asked = {"input": "dragons", "semanticQuery": "{question}", "limit": 1}
    assert await kept.run(VectorMemorySearch, mode="hybrid", **asked) == DOG
    assert await kept.run(VectorMemorySearch, **asked) == DRAGONS


async def test_our_own_key_wins_over_that_of_other_files(kept):
    asked = {"input": "what pet; does she own", "limit": 1, "searchMode": "hybrid"}
    assert await kept.run(VectorMemorySearch, mode="keyword", **asked) == NOTHING


async def test_an_unknown_search_mode_of_other_files_finds_words(kept):
    assert await kept.run(VectorMemorySearch, input="dragons", searchMode="fuzzy") == DRAGONS


async def test_weights_that_are_not_five_are_left_out_with_a_note(kept):
    assert await kept.run(VectorMemorySearch, input="dragons", bm25Weights=[1, 2]) == DRAGONS
    assert kept.step.trace.notes == ["bm25Weights has 2 numbers in place of 5; all columns count alike."]
    assert await kept.run(VectorMemorySearch, input="dragons", bm25Weights=[10, 5, 1, 1, 0.5]) == DRAGONS
    assert kept.step.trace.notes == []


async def test_weights_say_which_column_counts_most(bench):
    await recorded(bench, "a cat", title="dog")
    await recorded(bench, "a dog", title="cat")
    asked = {"input": "cat", "limit": 1}
    assert await bench.run(VectorMemorySearch, bm25Weights=[9, 1, 1, 1, 1], **asked) == "a dog"
    assert await bench.run(VectorMemorySearch, bm25Weights=[1, 9, 1, 1, 9], **asked) == "a cat"


async def test_another_discussion_is_not_searched(kept):
    begun(kept, "d2")
    assert await kept.run(VectorMemorySearch, input="dragons") == NOTHING


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
async def test_searching_writes_nothing(kept, mode):
    database = kept.public / "DiscussionIds" / "d1_vector_memory.db"
    before = (database.read_bytes(), sorted(path.name for path in database.parent.iterdir()))
    await kept.run(VectorMemorySearch, input="dragons", mode=mode)
    assert (database.read_bytes(), sorted(path.name for path in database.parent.iterdir())) == before
