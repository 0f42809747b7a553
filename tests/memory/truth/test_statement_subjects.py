"""A statement is compared without its user: "User works at Bosch" is "Works at Bosch", and kept as it came."""

import pytest

from mnemoir.memory.facts.decide.matters import contradicts, has_same_person, is_known, is_same, matter_of
from mnemoir.memory.facts.decide.reconciliation import sort_near
from mnemoir.memory.facts.decide.wordings import says_same
from mnemoir.memory.facts.reading.persons import statement_behind
from tests.memory.truth.conftest import model_that

PREFIXES = [
    ("User works at Bosch", "Works at Bosch"),
    ("The user lives in Graz", "Lives in Graz"),
    ("the user has two cats", "Has two cats"),
    ("I work at Bosch", "Works at Bosch"),
    ("I am vegetarian", "Is vegetarian"),
    ("I have a dog", "Has a dog"),
    ("I study physics", "Studies physics"),
    ("I go by Bob", "Goes by Bob"),
    ("I don't eat meat", "Doesn't eat meat"),
    ("I moved to Linz", "Moved to Linz"),
    ("User's name is Jon", "Name is Jon"),
    ("User’s wife is vegetarian", "Wife is vegetarian"),
    ("My wife is called Ana", "Wife is called Ana"),
    ("Our dog is called Rex", "Dog is called Rex"),
]
AS_THEY_ARE = [
    "Works at Bosch",
    "Users of the app are happy",
    "User interfaces are a hobby",
    "I",
    "Is in Ireland",
    "Myanmar is home",
    "Username is mira",
    "Ourense is home",
]


@pytest.mark.parametrize(("text", "behind"), PREFIXES)
def test_the_statement_behind_the_user(text, behind):
    assert statement_behind(text) == behind
    assert is_same(text, behind)
    assert says_same(text, behind)


@pytest.mark.parametrize("text", AS_THEY_ARE)
def test_other_statements_stay_as_they_are(text):
    assert statement_behind(text) in (text, text.replace("User interfaces", "Interfaces"))


@pytest.mark.parametrize(
    ("fact", "stored"),
    [
        ("User works at Bosch", "Works at Siemens"),
        ("Works at Bosch", "The user works at Siemens"),
        ("I live in Linz", "User lives in Graz"),
        ("User's name is John", "My name is Jon"),
        ("User hates olives", "User loves olives"),
    ],
)
def test_what_cannot_hold_together_is_told_behind_the_user(fact, stored):
    assert contradicts(fact, stored)


def test_another_person_is_none_behind_the_user_either():
    for fact, stored in [("User's wife is vegetarian", "User is vegetarian"), ("My wife is 40", "I am 40 years old")]:
        assert not contradicts(fact, stored)
        assert not is_known(fact, stored)
        assert not has_same_person(fact, stored)
    assert matter_of("User's wife is called Ana").slot == "wife name"


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("Likes pizza", "User likes pizza"),
        ("User likes pizza", "The user likes pizza"),
        ("Has two kids", "I have 2 children"),
    ],
)
async def test_what_differs_in_the_user_alone_is_kept_once_as_it_came_first(live, first, later):
    life = live(model_that("ADD"))
    await life.tell(first)
    await life.tell(later)
    assert await life.now() == [first]
    assert sort_near([later], [[]]).fresh == [later]


@pytest.mark.parametrize("event", ["UPDATE", "DELETE"])
async def test_a_decision_behind_the_user_is_followed(live, event):
    life = live(model_that(event))
    await life.tell("User works at Siemens")
    await life.tell("User works at Bosch")
    assert await life.now() == ["User works at Bosch"]
