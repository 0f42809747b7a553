"""A new fact closes at most what it contradicts, whatever the model decides."""

from collections.abc import Sequence

import pytest

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.memory.facts.decide.defences import Plan, defend
from mnemoir.memory.facts.decide.reconciliation import Candidate, Event, Proposal
from tests.memory.truth.conftest import MIRA, model_that

IN_GRAZ = [
    "Lives in Graz",
    "Lives in a flat in Graz",
    "Has a dog called Pablo in Graz",
    "Learned to swim in Graz",
]


def plan(fact: str, stored: Sequence[str], event: Event) -> Plan:
    """The plan when the model gives one event to all memories, beside an ADD of the fact."""
    candidates = [
        Candidate(memory=Memory(id=MemoryId(f"mem_{n}"), text=each, user="mira", created_at=""), cosines=(0.6,))
        for n, each in enumerate(stored)
    ]
    proposals = [
        Proposal(event=event, at=n, text=(fact if event == "UPDATE" else each)) for n, each in enumerate(stored)
    ]
    added = [Proposal(event="ADD", at=None, text=fact)] if event == "DELETE" else []
    return defend([fact], candidates, [*proposals, *added], total=100)


async def test_a_model_that_deletes_all_it_is_shown_deletes_nothing_for_a_fact_about_something_else(live):
    told = {"\n".join(IN_GRAZ): IN_GRAZ}
    life = live(model_that("DELETE", told))
    for text in IN_GRAZ:
        await live(model_that("ADD")).tell(text)
    await life.tell("Works as a nurse in Graz at the hospital")
    assert await life.now() == sorted([*IN_GRAZ, "Works as a nurse in Graz at the hospital"])


@pytest.mark.parametrize(
    ("fact", "stored"),
    [
        ("Works as a nurse in Graz", "Lives in Graz"),
        ("Loves Graz", "Lives in Graz"),
        ("Has a cat called Pablo", "Has a dog called Pablo"),
        ("Daughter is called Mia", "Son is called Mio"),
        ("Sister lives in Oslo", "Lives in Bergen"),
        ("Is allergic to milk", "Is allergic to nuts"),
        ("Speaks Spanish", "Speaks German"),
        ("Likes coffee", "Likes tea"),
        ("Hates olives from Spain", "Loves wine from Spain"),
        ("Ran a marathon in 2026", "Ran a marathon in 2025"),
    ],
)
@pytest.mark.parametrize("event", ["DELETE", "UPDATE"])
def test_shared_words_are_no_reason_to_close_a_memory(fact, stored, event):
    made = plan(fact, [stored], event)
    assert (made.adds, made.updates, made.removes) == ([fact], [], [])


@pytest.mark.parametrize(
    ("fact", "stored"),
    [
        ("Lives in Linz", "Lives in Graz"),
        ("Works at Bosch", "Works at Siemens"),
        ("Is not allergic to nuts", "Allergic to nuts"),
        ("Hates olives", "Loves olives"),
        ("No longer rows every morning", "Rows every morning"),
        ("Has three cats", "Has two cats"),
        ("Sold the red Volvo of the family", "Red Volvo of the family"),
    ],
)
def test_another_value_a_denial_and_a_repeated_text_are_reasons(fact, stored):
    made = plan(fact, [stored], "DELETE")
    assert (made.adds, made.removes) == ([fact], [(0, 0)])


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Drives a Tesla", "Drives a Volvo"),
        ("Trains for a triathlon", "Trains for a marathon"),
        ("Studies law in Graz", "Studies physics in Graz"),
        ("Lebt in Linz", "Lebt in Graz"),
        ("Arbeitet bei Bosch", "Arbeitet bei Siemens"),
        ("大阪に住んでいる", "東京に住んでいる"),
        ("Rows every morning on the Mur", "Rows every morning"),
        ("Is a vegan", "Is vegetarian"),
    ],
)
def test_an_update_to_a_newer_state_or_a_fuller_wording_is_followed(text, stored):
    assert plan(text, [stored], "UPDATE").updates == [(0, text)]


def test_an_update_that_would_drop_another_claim_keeps_it():
    made = plan("Lives in Linz", ["Lives in Graz and has a dog called Rex"], "UPDATE")
    assert made.updates == [(0, "Lives in Linz; has a dog called Rex")]


async def test_a_fact_that_would_delete_several_memories_is_kept_beside_them_and_all_are_offered(live):
    homes = ["Lives in Graz", "Lives in Wels"]
    for text in homes:
        await live(model_that("ADD")).tell(text)
    life = live(model_that("DELETE"))
    await life.tell("Lives in Linz")
    assert await life.now() == ["Lives in Graz", "Lives in Linz", "Lives in Wels"]
    assert await life.duplicates() == [["Lives in Graz", "Lives in Linz", "Lives in Wels"]]


async def test_two_values_that_a_model_keeps_are_offered_and_those_of_two_things_are_not(live):
    life = live(model_that("ADD"))
    for text in ("Lives in Graz", "Loves olives", "Lives in Linz", "Hates wine", "Sister lives in Rome"):
        await life.tell(text)
    assert await life.duplicates() == [["Lives in Graz", "Lives in Linz"]]


async def test_an_old_fact_does_not_swallow_a_new_one_with_its_words(live):
    for event in (None, "NONE", "UPDATE"):
        life = live(event and model_that(event, {"I love night trains": ["Loves night trains"]}))
        await live(model_that("ADD")).tell("Prefers window seats on night trains since 2023")
        await life.tell("I love night trains")
        assert await life.now() == ["Loves night trains", "Prefers window seats on night trains since 2023"]
        await life.facts.delete_all(MIRA)
