"""One fact in twenty wordings is one memory, or one group that recall counts once, though the model adds each."""

import asyncio

import pytest

from mnemoir.memory.facts.decide.wordings import says_same
from tests.memory.truth.conftest import MIRA, model_that
from tests.memory.truth.near_pairs import NEAR_PAIRS

WORDINGS = {
    "Lives in Graz": """
        Resides in Graz|Is based in Graz|Home is in Graz|Is a resident of Graz|Has a home in Graz|Graz is home|
        Currently lives in Graz|Is living in Graz|Makes a home in Graz|Dwells in Graz|Lives in the city of Graz|
        City of residence is Graz|Place of residence is Graz|Graz is the place of residence|
        Has been living in Graz|Calls Graz home|Is at home in Graz|Is residing in Graz|Is currently living in Graz""",
    "Loves hiking in the mountains": """
        Enjoys hiking in the mountains|Likes to hike in the mountains|Is fond of mountain hiking|
        Loves mountain hikes|Enjoys mountain hikes|Hikes in the mountains with pleasure|
        Has a passion for hiking in the mountains|Is passionate about mountain hiking|
        Finds joy in hiking in the mountains|Likes going on hikes in the mountains|
        Loves going hiking in the mountains|Favourite activity is hiking in the mountains|Is into mountain hiking|
        Hiking in the mountains is a hobby|Adores hiking in the mountains|Likes mountain hiking very much|
        Is crazy about hiking in the mountains|Enjoys going on mountain hikes|Is keen on hiking in the mountains""",
    "Works as a nurse": """
        Is a nurse|Is employed as a nurse|Job is nurse|Profession is nursing|Has a job as a nurse|
        Is working as a nurse|Is a nurse by profession|Earns a living as a nurse|Works in nursing|
        Occupation is nurse|Career is nursing|Does nursing work|Nurse by trade|Works as a nurse for a living|
        Holds a job as a nurse|Makes a living as a nurse|Is employed in nursing|Nurse by profession|
        Trade is nursing""",
}
ALL = {fact: [fact, *(each.strip() for each in others.split("|"))] for fact, others in WORDINGS.items()}


@pytest.mark.parametrize("is_parallel", [False, True])
@pytest.mark.parametrize("fact", ALL)
async def test_twenty_wordings_are_one_memory_or_one_group_that_recall_counts_once(live, fact, is_parallel):
    assert len(set(ALL[fact])) == 20
    life = live(model_that("ADD"))
    if is_parallel:
        await asyncio.gather(*(life.tell(text) for text in ALL[fact]))
    else:
        for text in ALL[fact]:
            await life.tell(text)
    await life.tell("Has a red bike")
    wordings = [text for text in await life.now() if text in ALL[fact]]
    assert await life.duplicates() == ([wordings] if len(wordings) > 1 else [])
    found = await life.facts.search(MIRA, fact, limit=5)
    assert [hit.memory.text in ALL[fact] for hit in found.hits] == [True, False]


async def test_wordings_that_no_rule_knows_are_offered_as_one_group(live):
    told = ["Rows every morning", "Trains rowing every morning", "Takes the boat out to row every morning"]
    life = live(model_that("ADD"))
    for text in [*told, "Collects stamps"]:
        await life.tell(text)
    assert await life.duplicates() == [sorted(told)]


async def test_recall_counts_what_is_stored_in_two_wordings_once(live):
    life = live(model_that("ADD"))
    for text in ("Is vegan", "Has a cat", "Rows every morning", "Plays chess"):
        await life.tell(text)
    [cat] = [memory for memory in await life.facts.page(MIRA, limit=9) if memory.text == "Has a cat"]
    await life.tell("Has a cat called Tom that sleeps all day")
    assert cat.text in await life.now()
    found = await life.facts.search(MIRA, "Which cat does she have?", limit=4)
    assert [hit.memory.text for hit in found.hits].count("Has a cat") == 0
    assert len(found.hits) == 4


PAIRS = [
    ("Likes her dog Rex", "Dog Rex likes her"),
    ("Has a dog named Rex", "Dog Rex is called often"),
    ("Has a dog named Rex", "Has a son named Rex"),
    ("Sister Anna works at Norlin", "Anna, the aunt, works at Norlin"),
    ("Sister of Anna works at Norlin", "Anna, the sister, works at Norlin"),
    ("Works at Bosch as an engineer", "Works at Bosch"),
    ("Brother works at Bosch as an engineer", "Is an engineer at Bosch"),
    ("Has a nut allergy", "Son is allergic to nuts"),
    ("Has a nut allergy", "Is not allergic to nuts"),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_like_statements_of_something_else_are_no_paraphrases(pair):
    assert not says_same(*pair)


def test_near_facts_are_no_wordings_of_each_other():
    assert [pair for pair in NEAR_PAIRS if says_same(*pair)] == []
