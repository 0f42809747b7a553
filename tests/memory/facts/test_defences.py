"""Every row of the defences against a model's decisions, over plain values; and what holds whatever it answers."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decide.defences import Plan, defend
from mnemoir.memory.facts.decide.reconciliation import (
    Candidate,
    Proposal,
    claims,
    document,
    none_claims,
    read_proposals,
)
from mnemoir.memory.facts.decide.resemblance import is_part_of
from tests.narrowing import present


def candidates(*texts: str, cosine: float | None = None, facts: int = 1) -> list[Candidate]:
    return [
        Candidate(
            memory=Memory(id=MemoryId(f"mem_{at}"), text=text, user="mira", created_at=""), cosines=(cosine,) * facts
        )
        for at, text in enumerate(texts)
    ]


def entry(id_: object, text: object, event: object) -> dict[str, object]:
    return {"id": id_, "text": text, "event": event, "old_memory": None}


def planned(facts: Sequence[str], stored: Sequence[Candidate], *entries: dict[str, object], total: int = 100) -> Plan:
    proposals = read_proposals([{"memory": list(entries)}], len(stored))
    assert proposals is not None
    return defend(facts, stored, proposals, total=total)


def test_row_garbled_ids_candidates_are_shown_under_short_ids_and_integers_or_padded_text_come_back():
    stored = candidates("Lives in Graz", "Likes tea")
    assert document(["x"], stored)["memories"] == [
        {"id": "0", "text": "Lives in Graz"},
        {"id": "1", "text": "Likes tea"},
    ]
    for spelling in (0, "0", " 0 "):
        assert planned(["Lives in Rome"], stored, entry(spelling, "Lives in Rome", "UPDATE")).updates == [
            (0, "Lives in Rome")
        ]


def test_row_add_with_an_id_the_id_is_ignored():
    plan = planned(["Rows daily"], candidates("Likes tea"), entry("0", "Rows daily", "ADD"))
    assert (plan.adds, plan.updates, plan.removes) == (["Rows daily"], [], [])


@pytest.mark.parametrize("unknown", ["7", "mem_0", -1, True, None, "", "٣", "99999999999999999999"])
def test_row_unknown_id_an_update_becomes_an_add_and_is_counted(unknown):
    plan = planned(["Rows daily"], candidates("Likes tea"), entry(unknown, "Rows daily", "UPDATE"))
    assert (plan.adds, plan.updates, plan.refused["reconcile_unknown_id"]) == (["Rows daily"], [], 1)


def test_row_unknown_id_an_update_to_a_near_duplicate_is_none():
    plan = planned(["Likes tea"], candidates("Likes the tea", cosine=0.97), entry("9", "Likes tea", "UPDATE"))
    assert (plan.adds, plan.updates, plan.known) == ([], [], [0])


def test_row_unknown_id_a_delete_is_ignored():
    plan = planned(["Hates tea"], candidates("Likes tea"), entry("9", "Likes tea", "DELETE"))
    assert (plan.adds, plan.removes) == (["Hates tea"], [])


def test_row_same_id_twice_update_beats_delete_and_the_last_update_wins():
    plan = planned(
        ["Lives in Rome", "Lives in Oslo"],
        candidates("Lives in Graz", facts=2),
        entry("0", "Lives in Rome", "UPDATE"),
        entry("0", "Lives in Oslo", "UPDATE"),
        entry("0", "Lives in Graz", "DELETE"),
    )
    assert (plan.updates, plan.removes, plan.adds) == ([(0, "Lives in Oslo")], [], ["Lives in Rome"])


def test_row_update_returns_the_old_text_the_fact_takes_its_place():
    plan = planned(["Lives in Rome"], candidates("Lives in Graz"), entry("0", "Lives in Graz", "UPDATE"))
    assert plan.updates == [(0, "Lives in Rome")]


def test_row_update_returns_the_old_text_that_tells_the_fact_already_it_is_none():
    plan = planned(["Likes tea"], candidates("Likes black tea"), entry("0", "Likes black tea", "UPDATE"))
    assert (plan.updates, plan.adds, plan.known) == ([], [], [0])


def test_row_delete_without_the_replacement_the_fact_is_added_and_replaces_it():
    plan = planned(["Hates olives"], candidates("Loves olives"), entry("0", "Loves olives", "DELETE"))
    assert (plan.adds, plan.removes) == (["Hates olives"], [(0, 0)])


def test_row_an_identical_fact_never_deletes():
    plan = planned(
        ["Loves olives"], candidates("Loves olives"), entry("0", "Loves olives", "DELETE"), entry("0", "", "NONE")
    )
    assert plan.removes == []


def test_row_update_merges_two_unrelated_facts_it_becomes_an_add():
    stored = candidates("Likes tea", cosine=0.05)
    plan = planned(["Works at Siemens"], stored, entry("0", "Likes tea and works at Siemens", "UPDATE"))
    assert (plan.updates, plan.adds) == ([], ["Works at Siemens"])


def test_an_update_with_no_word_in_common_passes_when_the_vectors_are_alike():
    plan = planned(["Is vegan"], candidates("Is vegetarian", cosine=0.7), entry("0", "Is vegan", "UPDATE"))
    assert plan.updates == [(0, "Is vegan")]


@pytest.mark.parametrize("text", ["", "   ", "...", "x" * 2001, None, 7, "Has the key sk-abcdefghijklmnop1234567890"])
@pytest.mark.parametrize("event", ["ADD", "UPDATE"])
def test_row_empty_overlong_or_secret_text_is_dropped_and_the_fact_added(text, event):
    plan = planned(["Rows daily"], candidates("Rows"), entry("0", text, event))
    assert (plan.adds, plan.updates, plan.refused["reconcile_bad_text"]) == (["Rows daily"], [], 1)


@pytest.mark.parametrize(("spelling", "known"), [("none", [0]), (" Noop ", [0]), ("NOOP", [0]), ("Update", [0])])
def test_row_events_in_any_case_and_noop_is_none(spelling, known):
    plan = planned(["Likes tea"], candidates("Likes green tea"), entry("0", "Likes tea", spelling))
    assert (plan.known, plan.adds) == (known, [])


@pytest.mark.parametrize("event", ["MERGE", "", None, 3])
def test_row_an_event_of_no_known_name_is_left_out_and_the_fact_added(event):
    assert planned(["Likes tea"], candidates("Likes milk"), entry("0", "Likes tea", event)).adds == ["Likes tea"]


def deleting(count: int, total: int) -> Plan:
    stored = candidates(*(f"Loves olives from farm {n}" for n in range(count)), facts=count)
    entries = [entry(n, "", "DELETE") for n in range(count)]
    return planned([f"Hates olives from farm {n}" for n in range(count)], stored, *entries, total=total)


@pytest.mark.parametrize(("count", "total", "removed"), [(6, 19, 0), (6, 20, 6), (6, 21, 6), (5, 5, 5), (50, 100, 0)])
def test_row_mass_deletion_more_than_five_and_over_30_percent_deletes_nothing(count, total, removed):
    plan = deleting(count, total)
    assert (len(plan.removes), len(plan.adds)) == (removed, count)
    assert plan.refused["reconcile_mass_delete_blocked"] == (0 if removed else count)


def test_a_memory_is_not_deleted_for_a_fact_about_something_else():
    plan = planned(["Rows daily"], candidates("Likes tea", cosine=0.1), entry("0", "Likes tea", "DELETE"))
    assert (plan.removes, plan.refused["reconcile_delete_without_reason"]) == ([], 1)


def test_a_memory_is_not_deleted_when_nothing_new_was_learned():
    stored = candidates("Likes tea", "Likes tea a lot", facts=1)
    plan = planned(["Likes tea a lot"], stored, entry("1", "Likes tea a lot", "NONE"), entry("0", "", "DELETE"))
    assert (plan.adds, plan.removes) == ([], [])


def test_an_invented_text_is_not_stored():
    plan = planned(["Rows daily"], candidates("Likes tea"), entry("new", "Owes Bob 100 euros", "ADD"))
    assert (plan.adds, plan.refused["reconcile_invented"]) == (["Rows daily"], 1)


def test_a_rewording_of_a_fact_is_followed():
    plan = planned(["Likes tea"], candidates("Likes milk"), entry("new", "Enjoys tea", "ADD"))
    assert plan.adds == ["Enjoys tea"]


def test_two_memories_updated_to_one_text_leave_one():
    stored = candidates("Lives in Graz", "Lives near Graz")
    plan = planned(["Lives in Rome"], stored, *(entry(n, "Lives in Rome", "UPDATE") for n in (0, 1)))
    assert (plan.updates, plan.removes, plan.adds) == ([(0, "Lives in Rome")], [(1, None)], [])


def test_a_text_that_another_memory_has_is_not_given_to_a_second_one():
    taken = {content_hash("Enjoys tea")}
    proposals = [Proposal(event="ADD", at=None, text="Enjoys tea")]
    plan = defend(["Likes tea"], candidates("Likes milk"), proposals, total=9, taken=taken)
    assert plan.adds == ["Likes tea"]


@pytest.mark.parametrize(
    ("stored", "fact"),
    [("Likes tea", "No longer likes tea"), ("Has 2 kids", "Has 3 kids"), ("Loves olives", "Hates olives")],
)
def test_a_memory_never_accounts_for_the_fact_it_contradicts(stored, fact):
    assert planned([fact], candidates(stored), entry("0", fact, "NONE")).adds == [fact]


def test_one_entry_accounts_for_its_best_fact_only_unless_it_says_several_in_full():
    assert claims("Likes green tea", ["Likes black tea", "Likes green tea"]) == {1: 2}
    assert claims("Likes green and black tea", ["Likes black tea", "Likes green tea"]) == {0: 2, 1: 2}


FACTS = st.lists(
    st.sampled_from(
        [
            "Likes tea",
            "Likes green tea",
            "Hates tea",
            "Lives in Rome",
            "Lives in Oslo",
            "Has 2 kids",
            "Has 3 kids",
            "No longer vegetarian",
            "Is vegan",
            "Plays chess on Sundays",
            "好きな色は青",
            "x" * 40,
        ]
    ),
    unique=True,
    max_size=6,
)
STORED = st.lists(
    st.sampled_from(
        [
            "Likes tea and milk",
            "Lives in Graz",
            "Has 4 kids",
            "Is vegetarian",
            "Plays chess",
            "Loves olives",
            "Lives in Wien",
            "Likes coffee",
            "Hates milk",
        ]
    ),
    unique=True,
    max_size=6,
)
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["Likes tea", "Lives in Rome", "Has kids", "Is vegan", "Likes tea, lives in Rome", "a" * 2001, ""]
    ),
)
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.one_of(st.integers(-2, 8), st.sampled_from(["0", " 1", "2 ", "new", "mem_1", "9"]), st.none()),
            "text": st.one_of(TEXTS, st.none(), st.integers()),
            "event": st.sampled_from(["ADD", "UPDATE", "DELETE", "NONE", "noop", "update", "Delete", "DROP", ""]),
            "old_memory": st.none(),
        }
    ),
    max_size=12,
)


@given(FACTS, STORED, ENTRIES, st.integers(0, 40), st.sampled_from([None, 0.0, 0.5, 0.99]))
def test_whatever_the_model_answers_no_fact_is_lost_and_nothing_else_is_touched(facts, texts, entries, total, cosine):
    stored = candidates(*texts, cosine=cosine, facts=len(facts))
    proposals = present(read_proposals([{"memory": entries}], len(stored)))
    plan = defend(facts, stored, proposals, total=total)
    accounted = [*plan.adds, *(text for _, text in plan.updates)]
    for at, fact in enumerate(facts):
        told = any(at in claims(text, facts) for text in accounted)
        known = any(
            at in none_claims(Proposal(event="NONE", at=memory, text=text), facts, stored)
            for memory in plan.known
            for text in (fact, texts[memory])
        )
        assert told or known, fact
    changed = [at for at, _ in (*plan.updates, *plan.removes)]
    assert len(changed) == len(set(changed))
    assert set(changed) <= set(range(len(stored)))
    assert len(plan.removes) <= 5 or len(plan.removes) <= 0.3 * total
    assert all(add is None or 0 <= add < len(plan.adds) for _, add in plan.removes)
    assert not any(is_part_of(fact, texts[at]) for fact in facts for at, _ in plan.removes)
    stored_after = [content_hash(text) for text in accounted]
    assert len(stored_after) == len(set(stored_after))
