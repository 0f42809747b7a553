"""What extraction would change is proposed where that is reviewed, and approved as it was meant."""

import pytest

from mnemoir.core.errors import Conflict
from mnemoir.core.memories import Memory, Provenance
from mnemoir.ports.memory_store import Project
from tests.contracts.words import fact, remove, rewrite
from tests.memory.facts.conftest import MIRA, House
from tests.memory.facts.scripted_model import ScriptedModel, changes_reply, document_of, facts_reply

KITCHEN = Project(tenant="default", project="kitchen")
BY_HAND = Provenance(reason="request")


def events(proposals) -> list[tuple[str, str]]:
    return [(one.event, one.memory.text) for one in proposals]


async def known(house: House, tell, *texts: str, **members: object) -> list[Memory]:
    """Facts that are remembered before anything is reviewed."""
    stored = []
    for text in texts:
        model = ScriptedModel(facts_reply(text), changes_reply(("new", text, "ADD")))
        stored += [one.memory for one in (await tell(house.facts(model), text, **members)).applied]
    return stored


async def test_an_update_and_a_deletion_of_a_model_wait_and_its_addition_goes_through(house, tell, kept):
    await known(house, tell, "Works at Nord", "Likes tea")

    def answer(request) -> str:
        ids = {one["text"]: one["id"] for one in document_of(request).get("memories", ())}
        if not ids:
            return facts_reply("Works at Sued", "Likes green tea", "Rows")
        return changes_reply(
            (ids["Likes tea"], "Likes green tea", "UPDATE"),
            (ids["Works at Nord"], "Works at Nord", "DELETE"),
            *(("new", text, "ADD") for text in ("Works at Sued", "Rows")),
        )

    model = ScriptedModel(script=answer)
    facts = house.facts(model, review="changes")
    result = await tell(facts, "I left Nord for Sued. I like green tea, and I row.")
    assert all(one.event == "ADD" for one in result.applied)
    assert {one.event for one in result.proposed} == {"UPDATE", "DELETE"}
    assert {"Works at Nord", "Likes tea"} <= set(await kept(facts))
    outcome = await facts.review.approve_many(MIRA)
    assert (len(outcome.changes), outcome.failed) == (1, [])
    assert await kept(facts) == ["Likes green tea", "Rows", "Works at Sued"]


async def test_a_deletion_that_is_approved_later_names_the_fact_that_replaced_it(house, tell, kept):
    (nuts,) = await known(house, tell, "Is allergic to nuts")
    facts = house.facts(review="changes")
    result = await tell(facts, "I am not allergic to nuts.")
    await facts.review.approve(KITCHEN, result.proposed[0].id)
    closed = await house.store.get(MIRA, nuts.id)
    assert closed is not None
    assert closed.replaced_by == result.applied[0].memory.id


async def test_paraphrases_of_what_waits_are_not_proposed_and_ask_for_no_decision(house, tell):
    model = ScriptedModel(script=lambda request: facts_reply("Lives in Graz"))
    facts = house.facts(model, review="all")
    await tell(facts, "I live in Graz.")
    for text in ("Lives in  graz!", "lives in the Graz"):
        again = ScriptedModel(facts_reply(text))
        told = await tell(house.facts(again, review="all"), "Graz it is.")
        assert (list(told.applied), list(told.proposed), len(again.asked)) == ([], [], 1)
    assert events(await facts.review.waiting(MIRA)) == [("ADD", "Lives in Graz")]


async def test_one_deletion_waits_once_whoever_asks_for_it(house, tell):
    await known(house, tell, "Is allergic to nuts")
    facts = house.facts(review="changes")
    for text in ("I am not allergic to nuts.", "It turned out I am not allergic to nuts at all."):
        await tell(facts, text)
    assert events(await facts.review.waiting(MIRA)) == [("DELETE", "Is allergic to nuts")]


async def test_a_memory_told_again_is_renewed_at_once_but_one_that_decayed_waits(house, tell):
    facts = house.facts(review="all", decay_days=30, touch_on_none=True)
    await known(house, tell, "Lives in Graz")
    assert [one.reason for one in (await tell(facts, "I live in Graz.")).applied] == ["mentioned_again"]
    house.clock.now = house.clock.now.replace(year=2027)
    result = await tell(facts, "I live in Graz.")
    assert (list(result.applied), events(result.proposed)) == ([], [("UPDATE", "Lives in Graz")])
    assert await facts.count(MIRA) == 0
    await facts.review.approve(KITCHEN, result.proposed[0].id)
    assert await facts.count(MIRA) == 1


@pytest.mark.parametrize("review", ["changes", "all"])
async def test_an_expired_memory_told_again_counts_as_an_addition(house, tell, kept, review):
    facts = house.facts(review=review)
    await known(house, tell, "Lives in Graz", expires_on="2026-02-01")
    result = await tell(facts, "I live in Graz.")
    assert events(result.proposed) == ([("ADD", "Lives in Graz")] if review == "all" else [])
    for one in result.proposed:
        await facts.review.approve(KITCHEN, one.id)
    assert await kept(facts) == ["Lives in Graz"]


async def test_what_was_said_before_what_waits_goes_into_the_past_behind_it(house, tell, kept):
    facts = house.facts(review="all")
    now = house.clock.now
    await known(house, tell, "Lives in Linz")
    late = await tell(facts, "I live in Graz.", said_at=now.replace(year=2025, day=1))
    assert events(late.proposed) == [("ADD", "Lives in Graz")]
    assert late.proposed[0].memory.valid_to is not None
    await facts.review.approve_many(MIRA)
    assert await kept(facts) == ["Lives in Linz"]
    then = await facts.page(MIRA, limit=5, at=now.replace(year=2025, day=2))
    assert [memory.text for memory in then] == ["Lives in Graz"]


async def test_an_approval_that_would_join_two_memories_is_refused(house, tell, kept):
    (home,) = await known(house, tell, "Lives in Linz")
    facts = house.facts(review="all")
    (moved,) = (await tell(facts, "I moved to Graz.")).proposed
    await house.store.commit(MIRA, [fact("Lives in Graz")], BY_HAND)
    with pytest.raises(Conflict, match="says already"):
        await facts.review.approve(KITCHEN, moved.id)
    assert await kept(facts) == ["Lives in Graz", "Lives in Linz"]
    await house.store.commit(MIRA, [remove(home)], BY_HAND)
    with pytest.raises(Conflict, match="says already"):
        await facts.review.approve(KITCHEN, moved.id)


async def test_a_memory_that_changes_while_the_model_decides_is_decided_anew_and_loses_no_fact(house, tell, kept):
    (home,) = await known(house, tell, "Lives in Linz")

    async def meanwhile() -> None:
        await house.store.commit(MIRA, [rewrite(home, "Rents in Linz")], BY_HAND)

    facts = house.facts(review="all")
    before = house.store.preview
    calls: list[object] = []

    async def preview(*given, **more):
        if not calls:
            await meanwhile()
        calls.append(given)
        return await before(*given, **more)

    house.store.preview = preview
    result = await tell(facts, "I moved to Graz.")
    assert len(calls) == 2
    assert [one.memory.text for one in result.proposed] == ["Lives in Graz"]


async def test_what_waits_holds_from_when_it_was_said_once_it_is_approved(house, tell):
    facts = house.facts(review="all")
    said_at = house.clock.now
    (one,) = (await tell(facts, "I live in Graz.")).proposed
    house.clock.now = said_at.replace(month=5)
    (made,) = (await facts.review.approve(KITCHEN, one.id)).applied
    assert made.memory.created_at.startswith("2026-03-04")
    assert [memory.text for memory in await facts.page(MIRA, limit=5, at=said_at.replace(month=4))] == [
        "Lives in Graz"
    ]
