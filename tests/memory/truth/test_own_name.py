"""The user's own name in front of a statement is the user: "Alex works at Bosch" is compared as "Works at Bosch"."""

import pytest

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.core.scope import Scope
from mnemoir.memory.facts import AddRequest, Turn
from mnemoir.memory.facts.decide.matters import contradicts, has_same_person, is_known, is_same, matter_of
from mnemoir.memory.facts.decide.resemblance import overlap
from mnemoir.memory.facts.decide.wordings import says_same, wordings_of_one
from mnemoir.memory.facts.reading.own_name import as_of_user, speaking_as
from mnemoir.memory.facts.reading.persons import about
from tests.memory.truth.conftest import MIRA, model_that

SAME = [
    ("Alex works at Bosch", "Works at Bosch"),
    ("alex lives in Graz", "Lives in Graz"),
    ("Alex's wife is vegetarian", "Wife is vegetarian"),
    ("Alex Weber has two kids", "Has 2 children"),
    ("Alex likes pizza", "User likes pizza"),
    ("Alex arbeitet bei Bosch", "Ich arbeite bei Bosch"),
]


@pytest.mark.parametrize(("text", "own"), SAME[:5])
def test_a_statement_behind_the_own_name_says_what_the_users_says(text, own):
    with speaking_as(["Alex Weber"]):
        assert is_same(text, own)
        assert says_same(text, own)
        assert has_same_person(text, own)
    assert not is_same(text, own)


def test_it_has_the_slot_and_the_arity_of_the_users():
    with speaking_as(["Alex"]):
        assert matter_of("Alex works at Bosch").slot == "employer"
        assert contradicts("Alex works at Bosch", "Works at Siemens")
        assert not contradicts("Alex also works at Bosch", "Works at Siemens")
        assert about("Alex works at Bosch").who == "user"
        assert contradicts("Alex no longer eats meat", "Eats meat")
        assert overlap("Alex works at Bosch", "Works at Bosch") == 1
    assert matter_of("Alex works at Bosch").slot == ""
    assert about("Alex works at Bosch").who == "person"


def test_another_name_and_the_name_elsewhere_stay():
    with speaking_as(["Alex", "u-1", "a@b.example"]):
        texts = ["Anna works at Bosch", "Works with Alex", "Alex", "Alexandra lives in Graz", "Alex Meier has a dog"]
        assert [as_of_user(text) for text in texts] == texts
        assert not is_known("Works at Bosch", "Anna works at Bosch")


def memory(text: str) -> Memory:
    return Memory(id=MemoryId(text), text=text, user="mira", created_at="2026-03-04T09:15:00.000Z", updated_at="")


def test_both_are_offered_as_duplicates():
    with speaking_as(["Alex"]):
        assert len(list(wordings_of_one([memory("Alex likes pizza"), memory("Likes pizza")]))) == 1


@pytest.mark.parametrize("event", ["UPDATE", "ADD"])
async def test_a_new_state_behind_the_stored_name_takes_the_place_of_the_old_one(live, event):
    life = live(model_that(event))
    await life.tell("Name is Alex")
    life.clock.now = life.clock.now.replace(day=20)
    await life.tell("Works at Siemens")
    await life.tell("Alex works at Bosch")
    now = await life.now()
    assert "Alex works at Bosch" in now
    assert ("Works at Siemens" in now) == (event == "ADD")


@pytest.mark.parametrize("user", ["alex", "Alex"])
async def test_the_name_of_the_user_counts_without_a_stored_one(live, user):
    life = live()
    scope = Scope(project=MIRA.project, user=user)
    for text in ("I work at Siemens.", "Alex works at Bosch.", "Alex likes pizza.", "I like pizza."):
        await life.facts.add(scope, AddRequest(turns=[Turn(role="user", text=text)]))
    assert sorted(one.text for one in await life.facts.page(scope, limit=9)) == [
        "Alex likes pizza",
        "Alex works at Bosch",
    ]


async def test_without_a_model_the_stored_name_counts_and_another_persons_facts_stay_apart(live):
    life = live()
    for text in ("My name is Alex.", "I work at Siemens.", "Anna works at Bosch.", "Alex works at Norlin."):
        await life.tell(text)
    assert await life.now() == ["Alex works at Norlin", "Anna works at Bosch", "Name is Alex"]
    assert await life.duplicates() == []
    found = await life.facts.search(MIRA, "Where does Alex work?", limit=3)
    assert "Alex works at Norlin" in [hit.memory.text for hit in found.hits]


async def test_a_name_that_is_told_with_the_statement_counts_at_once(live):
    life = live()
    await life.tell("I live in Graz.")
    await life.tell("My name is Alex. Alex lives in Linz.")
    assert await life.now() == ["Alex lives in Linz", "Name is Alex"]


async def test_what_a_line_begins_with_is_no_other_speaker_where_it_is_the_user(live):
    life = live()
    for user, kept in (("tom", ["Is vegan"]), ("mira", [])):
        scope = Scope(project=MIRA.project, user=user)
        await life.facts.add(scope, AddRequest(turns=[Turn(role="user", text="Tom: I am vegan")]))
        assert [one.text for one in await life.facts.page(scope, limit=9)] == kept
