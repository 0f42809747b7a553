"""What is reported, played, recalled or pasted is not learned as the user's; what the user says beside it is."""

import pytest

from mnemoir.memory.facts import AddRequest, Turn
from mnemoir.memory.facts.extract.conversation import turns_for_extraction
from mnemoir.providers.llm.offline.extract import extract
from tests.each_case import check_each
from tests.memory.truth.conftest import DAY, MIRA
from tests.memory.truth.readings import FRAMED, NO_NAMES, OWN, PASTED, RECALLED, REPAIRED, REPORTED


def learned(text: str) -> list[str]:
    """The facts of a turn; "|" is a line end."""
    turns = turns_for_extraction([Turn(role="user", text=text.replace("|", "\n"))])
    facts: list[str] = extract({"turns": [{"role": "user", "text": turn.text} for turn in turns]})["facts"]
    return facts


@pytest.mark.parametrize(
    "table", [REPORTED, FRAMED, RECALLED, PASTED], ids=["reported", "framed", "recalled", "pasted"]
)
def test_what_is_not_the_users_word_gives_no_fact(table):
    def is_empty(text):
        assert [fact for fact in learned(text) if fact != "Writing a novel"] == []

    check_each(table.strip().splitlines(), is_empty)


def test_what_the_user_says_beside_it_is_learned():
    def is_learned(text, fact):
        assert fact in learned(text)

    check_each(OWN.items(), is_learned)


def test_a_repair_counts_and_what_it_takes_back_does_not():
    def is_repaired(text, fact):
        assert learned(text) == [fact]

    check_each(REPAIRED.items(), is_repaired)


def test_an_ordinary_word_is_no_name():
    def is_none(text):
        assert [fact for fact in learned(text) if fact.startswith("Name")] == []

    check_each(NO_NAMES, is_none)


@pytest.mark.parametrize("said", ["I am Groot", "I'm Sasha."])
async def test_a_name_changes_only_with_a_phrase_that_names(live, said):
    life = live()
    await life.tell("My name is Mira.")
    result = await life.tell(said)
    assert (await life.now(), result.applied) == (["Name is Mira"], [])
    assert [proposal.reason for proposal in result.proposed] == ["unconfirmed"]
    await life.tell("My name is spelled Myra.")
    assert await life.now() == ["Name is Myra"]


@pytest.mark.parametrize(
    ("said", "user", "kept"),
    [
        (
            [("Anna", "My name is Anna. I am vegan."), ("Ben", "I live in Oslo.")],
            "mira",
            ["Is vegan", "Name is Anna"],
        ),
        ([("Anna", "I am vegan."), ("Ben", "I live in Oslo.")], "ben", ["Lives in Oslo"]),
        ([("Anna", "I am vegan."), ("Ben", "I live in Oslo.")], "mira", []),
        ([("Anna", "My name is Anna."), ("Ben", "My name is Ben. I row.")], "mira", []),
        ([("Anna", "I am vegan."), ("Anna", "I live in Oslo.")], "mira", ["Is vegan", "Lives in Oslo"]),
        ([("Anna", "I am vegan."), ("Ben", "I row."), (None, "I live in Oslo.")], "mira", ["Lives in Oslo"]),
    ],
)
async def test_of_several_names_the_one_who_is_the_user_counts(live, said, user, kept):
    life = live()
    scope = MIRA.__class__(project=MIRA.project, user=user)
    turns = [Turn(role="user", text=text, speaker=name) for name, text in said]
    await life.facts.add(scope, AddRequest(turns=turns))
    assert sorted(memory.text for memory in await life.facts.page(scope, limit=9)) == kept


@pytest.mark.parametrize(
    "said", ["My blood type is A-", "My blood type is AB-.", "My blood type is 0-", "My blood type is A+"]
)
def test_a_sign_behind_a_letter_belongs_to_it(said):
    assert learned(said) == [f"Blood type is {said.rstrip('.').rpartition(' ')[2]}"]


@pytest.mark.parametrize(
    ("told", "later", "kept"),
    [
        ("I live in Paris", "No wait, Lyon.", ["Lives in Lyon"]),
        ("I have two cats", "Sorry, three.", ["Has three cats"]),
        ("My name is Jon", "I mean John", ["Name is Jon"]),
        ("I live in Paris. My sister lives in Rome.", "No wait, Lyon.", ["Lives in Paris", "Sister lives in Rome"]),
        ("I love tea", "No wait, Lyon.", ["Loves tea"]),
    ],
)
async def test_a_repair_in_the_next_turn_goes_to_the_one_fact_that_it_fits(live, told, later, kept):
    life = live()
    await life.tell(told)
    life.clock.now -= DAY
    await life.tell(later)
    assert await life.now() == kept


async def test_a_repair_after_a_day_repairs_nothing(live):
    life = live()
    await life.tell("I live in Paris")
    await life.tell("No wait, Lyon.")
    assert await life.now() == ["Lives in Paris"]
