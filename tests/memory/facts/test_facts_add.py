"""Adding through a model: how often it is asked, what is written, what a repeat of the request is told."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.errors import Conflict, ProviderUnavailable
from mnemoir.core.events import Usage
from mnemoir.core.messages import ModelRequest
from mnemoir.core.scope import Scope
from mnemoir.memory.facts import AddRequest, Turn
from mnemoir.ports.memory_store import Project, Receipt
from mnemoir.ports.project_settings import ProjectSettings
from tests.memory.facts.scripted_model import ScriptedModel, changes_reply, document_of, facts_reply

MIRA = Scope(project="kitchen", user="mira")
KITCHEN = Project(tenant="default", project="kitchen")


def events(result):
    return [(change.event, change.memory.text) for change in result.applied]


async def test_where_nothing_similar_is_stored_one_call_does(house, tell):
    model = ScriptedModel(facts_reply("Rows every morning"), facts_reply("Speaks Portuguese"))
    facts = house.facts(model)
    await tell(facts, "I row every morning.")
    result = await tell(facts, "I speak Portuguese.")
    assert (events(result), len(model.asked)) == ([("ADD", "Speaks Portuguese")], 2)
    assert result.usage == Usage(input_tokens=10, output_tokens=2, cached_tokens=1)


async def test_where_something_similar_is_stored_a_second_call_decides(house, tell, kept):
    model = ScriptedModel(
        facts_reply("Lives in Graz"), facts_reply("Lives in Rome"), changes_reply(("0", "Lives in Rome", "UPDATE"))
    )
    facts = house.facts(model)
    await tell(facts, "I live in Graz.")
    result = await tell(facts, "I live in Rome.")
    assert document_of(model.asked[2]) == {
        "memories": [{"id": "0", "text": "Lives in Graz"}],
        "facts": ["Lives in Rome"],
    }
    [change] = result.applied
    assert (change.event, change.memory.text, change.previous_text) == ("UPDATE", "Lives in Rome", "Lives in Graz")
    assert result.usage.input_tokens == 20
    assert await kept(facts) == ["Lives in Rome"]


@pytest.mark.parametrize("again", ["Lives in Graz", "lives in  Graz!", "Lives in the Graz"])
async def test_what_is_stored_in_the_same_words_needs_no_decision(house, tell, kept, again):
    model = ScriptedModel(facts_reply("Lives in Graz"), facts_reply(again))
    facts = house.facts(model)
    await tell(facts, "I live in Graz.")
    result = await tell(facts, "I live in Graz.")
    assert (events(result), result.facts_found, len(model.asked)) == ([], True, 2)
    assert await kept(facts) == ["Lives in Graz"]


async def test_a_memory_stays_as_it_was_when_told_again_unless_asked_to_be_renewed(house, tell):
    for touch in (False, True):
        facts = house.facts(ScriptedModel(*[facts_reply("Lives in Graz")] * 2), touch_on_none=touch)
        scope = Scope(project="kitchen", user=f"mira-{touch}")
        await tell(facts, "I live in Graz.", scope=scope)
        [before] = await facts.page(scope, limit=9)
        house.clock.now += timedelta(days=1)
        await tell(facts, "I live in Graz.", scope=scope)
        [after] = await facts.page(scope, limit=9)
        assert (after != before) is touch


async def test_a_deleted_memory_makes_way_for_its_opposite(house, tell, kept):
    model = ScriptedModel(
        facts_reply("Loves olives"), facts_reply("Hates olives"), changes_reply(("0", "Loves olives", "DELETE"))
    )
    facts = house.facts(model)
    await tell(facts, "I love olives.")
    result = await tell(facts, "I hate olives.")
    assert sorted(events(result)) == [("ADD", "Hates olives"), ("DELETE", "Loves olives")]
    assert await kept(facts) == ["Hates olives"]


async def test_a_model_out_of_reach_writes_nothing_and_is_said(house, tell, kept):
    def script(_: ModelRequest) -> str:
        raise ProviderUnavailable("scripted is down")

    facts = house.facts(ScriptedModel(script=script))
    with pytest.raises(ProviderUnavailable):
        await tell(facts, "I live in Graz.")
    assert await kept(facts) == []


async def test_nothing_to_analyse_asks_no_model(house):
    model = ScriptedModel()
    turns = [Turn(role="system", text="Be nice."), Turn(role="tool", text="42"), Turn(role="user", text=" ")]
    result = await house.facts(model).add(MIRA, AddRequest(turns=turns))
    assert (result.applied, result.facts_found, model.asked) == ([], False, [])


async def test_a_fact_carries_the_metadata_the_times_and_the_expiry_of_its_request(house, tell):
    facts = house.facts(ScriptedModel(facts_reply("Rows"), facts_reply("Sails")))
    past = datetime(2020, 1, 2, tzinfo=UTC)
    await tell(facts, "I row.", metadata={"source": "chat"}, said_at=past, expires_on="2030-01-01")
    await tell(facts, "I sail.", said_at=house.clock.now + timedelta(days=3))
    sails, rows = await facts.page(MIRA, limit=9)
    assert (rows.metadata, rows.created_at, rows.updated_at, rows.expires_on) == (
        {"source": "chat"},
        to_text(past),
        to_text(past),
        "2030-01-01",
    )
    assert (sails.metadata, sails.created_at) == (None, to_text(house.clock.now))


async def test_history_tells_the_turns_the_model_and_the_reason(house, tell):
    facts = house.facts()
    await tell(facts, "I live in Graz.")
    [memory] = (await tell(facts, "I live in Rome.")).applied
    entries = await facts.history(KITCHEN, memory.memory.id)
    assert [(e.event, e.old_text, e.new_text, e.model) for e in entries] == [
        ("ADD", None, "Lives in Graz", "offline"),
        ("UPDATE", "Lives in Graz", "Lives in Rome", "offline"),
    ]
    assert [turn.text for turn in entries[1].turns] == ["I live in Rome."]
    assert [entry.reason for entry in entries] == ["extracted", "reconciled"]


async def test_a_decayed_memory_told_again_comes_back(house, tell, kept):
    facts = house.facts(decay_days=6)
    await tell(facts, "I live in Graz.")
    house.clock.now += timedelta(days=7)
    assert await kept(facts) == []
    result = await tell(facts, "I live in Graz.")
    assert (events(result), await kept(facts)) == ([("UPDATE", "Lives in Graz")], ["Lives in Graz"])


async def test_an_expired_memory_told_again_is_remembered_anew(house, tell, kept):
    facts = house.facts()
    await tell(facts, "I live in Graz.", expires_on="2026-03-05")
    house.clock.now += timedelta(days=7)
    await tell(facts, "I live in Graz.")
    assert await kept(facts) == ["Lives in Graz"]


async def test_a_decayed_memory_is_no_candidate(house, tell, kept):
    facts = house.facts(decay_days=6)
    await tell(facts, "I live in Graz.")
    house.clock.now += timedelta(days=7)
    assert events(await tell(facts, "I live in Rome.")) == [("ADD", "Lives in Rome")]


async def test_a_project_sets_its_own_decay_and_prompt(house, tell, kept):
    model = ScriptedModel(facts_reply("Rows"))
    facts = house.facts(model, decay_days=6)
    own = ProjectSettings(decay_days=0, extraction_prompt="Sports only.")
    await house.project_settings.change(KITCHEN, lambda _: own)
    await tell(facts, "I row.")
    house.clock.now += timedelta(days=70)
    assert await kept(facts) == ["Rows"]
    assert "Sports only." in model.asked[0].messages[0].text


async def test_a_memory_that_vanishes_while_the_model_decides_loses_no_fact(house, tell, kept):
    vanish = asyncio.Event()

    class Slow(ScriptedModel):
        async def ask(self, request):
            if request.output.name == "memory_changes" and not vanish.is_set():
                vanish.set()
                await house.store.delete_all(MIRA)
            return await super().ask(request)

    model = Slow(
        facts_reply("Lives in Graz"), facts_reply("Lives in Rome"), changes_reply(("0", "Lives in Rome", "UPDATE"))
    )
    facts = house.facts(model)
    await tell(facts, "I live in Graz.")
    assert events(await tell(facts, "I live in Rome.")) == [("ADD", "Lives in Rome")]
    assert await kept(facts) == ["Lives in Rome"]


RECEIPT = Receipt(key="k1", request_hash="h1")


async def test_one_key_is_answered_once_and_then_again_the_same(house, tell):
    facts = house.facts()
    results = await asyncio.gather(*(tell(facts, "I live in Graz.", receipt=RECEIPT) for _ in range(8)))
    results.append(await tell(facts, "I live in Graz.", receipt=RECEIPT))
    assert [events(result) for result in results] == [[("ADD", "Lives in Graz")]] * 9
    assert len({result.applied[0].memory.id for result in results}) == 1
    assert [result.redeemed for result in results] == [False] + [True] * 8


async def test_one_key_over_another_request_is_refused(house, tell):
    facts = house.facts()
    await tell(facts, "I live in Graz.", receipt=RECEIPT)
    with pytest.raises(Conflict) as caught:
        await tell(facts, "I live in Rome.", receipt=Receipt(key="k1", request_hash="h2"))
    assert caught.value.code == "idempotency_mismatch"


@pytest.mark.parametrize(("text", "found"), [("Hello!", False), ("I live in Graz.", True)])
async def test_a_key_whose_request_changed_nothing_is_answered_the_same_too(house, tell, text, found):
    facts = house.facts()
    await tell(facts, "I live in Graz.")
    first = await tell(facts, text, receipt=RECEIPT)
    again = await tell(facts, text, receipt=RECEIPT)
    assert (first.applied, again.applied) == ([], [])
    assert (first.facts_found, again.facts_found, again.redeemed) == (found, found, True)
