"""What a user says of people whom they name is learned as facts of these, never as the user's own."""

import pytest

from mnemoir.memory.facts.decide.matters import contradicts
from mnemoir.memory.facts.reading.clauses import clauses_of
from mnemoir.memory.facts.reading.people import statements_about_people
from tests.each_case import check_each
from tests.memory.truth.conftest import model_that
from tests.memory.truth.people import NAMED, NOBODY
from tests.memory.truth.test_readings import learned


def test_facts_about_named_people_name_them():
    def is_learned(text, facts):
        assert learned(text) == facts

    check_each(NAMED.items(), is_learned)


def test_of_what_only_looks_like_it_nothing_is_learned():
    def is_empty(text):
        assert learned(text) == []

    check_each(NOBODY.strip().splitlines(), is_empty)


def test_a_bare_name_in_a_long_text_is_that_of_a_story():
    assert learned("Anna works at Bosch. " + "The days went by in the old town, and nobody came. " * 20) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("No longer plays chess", "Anna plays chess"),
        ("Anna hates olives", "Loves olives"),
        ("Anna lives in Linz", "Lives in Graz"),
    ],
)
def test_what_is_told_of_another_contradicts_nothing_of_the_user(one, other):
    assert not contradicts(one, other)


@pytest.mark.parametrize(
    "told",
    [
        "My mother-in-law lives in Rome.",
        "Meine Schwiegermutter wohnt in Rom.",
        "Mon beau-père habite à Rome.",
        "Mi suegra vive en Roma.",
        "Mia suocera vive a Roma.",
        "A minha sogra mora em Roma.",
        "Mijn zwager woont in Rome.",
    ],
)
def test_whom_the_table_of_kin_has_is_no_user(told):
    assert [clause.about.who for clause in clauses_of(told)] == ["person"]


@pytest.mark.parametrize("text", ["My sister Anna moved to Linz and works at Norlin.", "Anna works at Norlin."])
async def test_a_model_that_takes_it_for_the_users_own_closes_nothing(live, text):
    life = live(model_that("UPDATE", {text: ["Lives in Linz", "Works at Norlin"]}))
    await life.tell("Lives in Graz")
    await life.tell(text)
    assert "Lives in Graz" in await life.now()


@pytest.mark.parametrize("piece", ["Anna ", "my sister ", "Anna and ", "my sister Anna, who ", "A, ", "e "])
def test_nonsense_of_names_is_read_in_bounded_time(piece):
    list(statements_about_people([piece * 5000, (piece * 300)[:300]] * 100, are_short=True))
