"""Reconciliation of new facts with stored memories by the offline model."""

import pytest

from mnemoir.providers.llm.offline.decide import decide


def decisions(memory: str, fact: str) -> list[tuple[str, str]]:
    answer = decide({"memories": [{"id": "0", "text": memory}], "facts": [fact]})
    return [(entry["event"], entry["text"]) for entry in answer["memory"]]


REPLACED = [
    ("Lives in Graz", "Lives in Berlin"),
    ("Lives in Graz", "Lives in Berlin since February 2026, moved from Graz"),
    ("Name is Alex", "Name is Bob"),
    ("Is 34 years old", "Is 35 years old"),
    ("Works at Siemens", "Works at Red Bull"),
    ("Works as a nurse", "Works as a teacher"),
    ("Is vegetarian", "Is vegan"),
    ("Is vegetarian", "Became vegan in 2025"),
    ("Is single", "Is married to Tom"),
    ("Wife is called Anna", "Wife is called Eva"),
    ("Favourite colour is green", "Favourite colour is blue"),
    ("Birthday is May 3rd", "Birthday is May 4th"),
]


@pytest.mark.parametrize(("memory", "fact"), REPLACED)
def test_another_value_of_the_same_attribute_replaces_the_memory(memory, fact):
    assert decisions(memory, fact) == [("UPDATE", fact)]


OPPOSED = [
    ("Loves olives", "Hates olives"),
    ("Likes hiking", "No longer likes hiking"),
    ("Hates olives", "Loves olives"),
    ("Is vegetarian", "No longer vegetarian"),
    ("Works at Siemens as a lead engineer", "No longer works at Siemens"),
    ("Works at Siemens", "No longer works"),
    ("Works at Siemens", "Is retired, no longer works"),
    ("Works as a nurse", "Quit job, no longer works there"),
    ("Doesn't eat meat", "Eats meat"),
    ("Smokes", "Stopped smoking in 2024"),
    ("Allergic to nuts", "No longer allergic to nuts"),
]


@pytest.mark.parametrize(("memory", "fact"), OPPOSED)
def test_the_opposite_of_a_memory_deletes_it_and_is_added(memory, fact):
    assert decisions(memory, fact) == [("ADD", fact), ("DELETE", memory)]


KNOWN = [
    ("Is vegetarian", "Is vegetarian"),
    ("Is vegetarian", "is Vegetarian."),
    ("Loves hiking", "Likes hiking"),
    ("Has a dog called Rex", "Has a dog"),
    ("Lives in Graz since February 2026", "Lives in Graz"),
    ("Hates olives", "Cannot stand olives"),
]


@pytest.mark.parametrize(("memory", "fact"), KNOWN)
def test_a_fact_that_a_memory_states_already_changes_nothing(memory, fact):
    assert decisions(memory, fact) == [("NONE", fact)]


UNRELATED = [
    ("Likes tea", "Likes coffee"),
    ("Allergic to nuts", "Allergic to milk"),
    ("Speaks German", "Speaks Spanish"),
    ("Lives in Graz", "Rows every morning"),
    ("Sister lives in Oslo", "Lives in Graz"),
    ("Ran a marathon on 2025-03-03", "Ran a marathon on 2026-03-03"),
    ("Has two kids", "Has a dog called Rex"),
]


@pytest.mark.parametrize(("memory", "fact"), UNRELATED)
def test_a_further_value_of_a_many_valued_attribute_is_added(memory, fact):
    assert decisions(memory, fact) == [("ADD", fact)]


def test_a_fuller_statement_sharpens_the_shorter_one():
    assert decisions("Has a dog", "Has a dog called Rex") == [("UPDATE", "Has a dog called Rex")]


def test_a_memory_is_changed_at_most_once():
    facts = ["Lives in Berlin", "Lives in Rome"]
    answer = decide({"memories": [{"id": "0", "text": "Lives in Graz"}], "facts": facts})
    assert [entry["event"] for entry in answer["memory"]] == ["UPDATE", "ADD"]
