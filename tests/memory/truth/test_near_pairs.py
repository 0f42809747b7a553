"""Facts that differ in one word stay two facts: rules merge none, follow no model that does, and find both."""

import pytest

from mnemoir.core.scope import Scope
from mnemoir.memory.facts import AddRequest, Turn
from mnemoir.memory.facts.decide.matters import contradicts, is_known
from mnemoir.providers.llm.offline.decide import decide
from tests.each_case import check_each
from tests.memory.truth.conftest import model_that
from tests.memory.truth.near_pairs import NEAR_PAIRS
from tests.memory.truth.test_reasons import plan
from tests.stages import staged

BOTH_WAYS = [*NEAR_PAIRS, *((later, first) for first, later in NEAR_PAIRS)]


def test_there_are_a_hundred_of_them():
    assert len(set(NEAR_PAIRS)) == 100


def test_the_rules_add_the_second_one():
    def is_added(stored, fact):
        decided = decide({"memories": [{"id": "0", "text": stored}], "facts": [fact]})
        assert [(entry["event"], entry["text"]) for entry in decided["memory"]] == [("ADD", fact)]
        assert not is_known(fact, stored)
        assert not contradicts(fact, stored)

    check_each(BOTH_WAYS, is_added)


@pytest.mark.parametrize("event", ["UPDATE", "DELETE"])
def test_a_model_that_takes_one_for_the_other_is_not_followed(event):
    def is_added(stored, fact):
        made = plan(fact, [stored], event)
        assert (made.adds, made.updates, made.removes) == ([fact], [], [])

    check_each(BOTH_WAYS, is_added)


@pytest.mark.parametrize("part", staged(range(10), quick=1))
async def test_both_are_stored_and_both_are_found(live, part):
    life = live(model_that("ADD"))
    for number, pair in enumerate(NEAR_PAIRS[part::10]):
        scope = Scope(project="kitchen", user=f"user {number}")
        for text in pair:
            await life.facts.add(scope, AddRequest(turns=[Turn(role="user", text=text)]))
        found = await life.facts.search(scope, pair[0], limit=5)
        assert {hit.memory.text for hit in found.hits} == set(pair)
