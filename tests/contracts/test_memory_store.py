"""What a commit does, all of it or nothing, and what is left of it."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.errors import Conflict, InvalidRequest
from mnemoir.core.memories import Applied, Provenance
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import Receipt, RedeemedReceipt, StaleChange
from tests.contracts.words import ALL, ASKED, MIRA, NOW, SAID, fact, keep, message, remove, rewrite, texts, within

LATER = to_text(NOW + timedelta(hours=1))


async def test_an_added_memory_comes_back_as_it_went_in(store):
    add = fact(
        "Likes tea \U0001f375 \u202e ﷽",
        metadata={"z": [1, {"a": None}], "b": True, "big": 2**63, "f": 0.1},
        expires_on="2031-02-03",
    )
    said = message("I like tea.", conversation="c1", agent="a1", app="p1", speaker="Mira", role="user")
    assert await store.commit(MIRA, [add, said], ASKED) == [
        Applied(event="ADD", memory=add.memory),
        Applied(event="ADD", memory=said.memory),
    ]
    found = await store.get(MIRA, add.memory.id)
    assert found == add.memory
    assert list(found.metadata) == ["z", "b", "big", "f"]
    assert await store.get(MIRA, said.memory.id) == said.memory


async def test_everything_is_there_after_a_restart(store_factory):
    store = await store_factory()
    (tea, _) = await keep(store, fact("Likes tea"), message("I like tea."))
    store = await store_factory()
    assert sorted(await texts(store)) == ["I like tea.", "Likes tea"]
    assert [event.event for event in await store.history(MIRA, tea.id)] == ["ADD"]


async def test_a_memory_takes_the_agent_and_conversation_of_the_scope_it_is_stored_in(store):
    scope = within(MIRA, agent="cook", conversation="c1")
    (stored,) = await keep(store, fact("Likes tea"), scope=scope)
    assert (stored.agent, stored.conversation) == ("cook", "c1")
    assert await store.get(scope, stored.id) == stored


@pytest.mark.parametrize("foreign", [{"user": "noah"}, {"agent": "other"}, {"conversation": "other"}])
async def test_a_memory_of_another_scope_is_refused_and_nothing_written(store, foreign):
    scope = within(MIRA, agent="cook", conversation="c1")
    with pytest.raises(InvalidRequest):
        await store.commit(scope, [fact("Likes tea", scope=scope), fact("Likes rum", scope=scope, **foreign)], ASKED)
    assert await texts(store) == []


async def test_a_fact_that_says_the_same_is_not_stored_twice(store):
    (tea,) = await keep(store, fact("Likes tea"))
    rum = fact("Likes rum")
    done = await store.commit(MIRA, [fact("  likes TEA. "), rum, fact("likes rum!")], ASKED)
    assert done == [Applied(event="ADD", memory=rum.memory)]
    assert sorted(await texts(store)) == ["Likes rum", "Likes tea"]
    assert await store.same_text(MIRA, [content_hash("LIKES TEA"), content_hash("no")]) == {
        content_hash(tea.text): tea
    }


async def test_messages_that_say_the_same_are_all_kept(store):
    await keep(store, message("Yes."), message("Yes."), fact("Yes."))
    assert await texts(store) == ["Yes."] * 3
    assert len(await store.same_text(MIRA, [content_hash("Yes.")])) == 1


async def test_an_id_that_is_there_already_is_not_stored_again(store):
    (tea,) = await keep(store, message("I like tea."))
    assert await keep(store, message("Something else", id=tea.id)) == []
    assert await texts(store) == ["I like tea."]


async def test_the_same_fact_eight_times_at_once_is_one_memory(store):
    done = await asyncio.gather(*(store.commit(MIRA, [fact("Likes tea")], ASKED) for _ in range(8)))
    assert sorted(map(len, done)) == [0] * 7 + [1]
    assert await texts(store) == ["Likes tea"]


async def test_an_update_changes_text_and_time_and_nothing_else(store, clock):
    (tea,) = await keep(store, fact("Likes tea", metadata={"a": 1}))
    clock.move(hours=1)
    changed = replace(tea, text="Likes green tea", updated_at=LATER)
    done = await store.commit(MIRA, [rewrite(tea, "Likes green tea")], ASKED)
    assert done == [Applied(event="UPDATE", memory=changed, previous_text="Likes tea")]
    assert await store.page(MIRA, ALL, limit=9) == [changed]
    assert await store.get(MIRA, tea.id) == changed
    assert await store.same_text(MIRA, [content_hash(tea.text)]) == {}


async def test_an_update_to_the_same_text_only_renews(store, clock):
    (tea,) = await keep(store, fact("Likes tea"))
    clock.move(hours=1)
    renewed = replace(tea, updated_at=LATER)
    done = await store.commit(MIRA, [rewrite(tea, "Likes tea")], ASKED)
    assert done == [Applied(event="UPDATE", memory=renewed, previous_text="Likes tea")]
    assert await store.page(MIRA, ALL, limit=9) == [renewed]


async def test_an_update_to_what_another_fact_says_leaves_that_one(store, clock):
    tea, rum = await keep(store, fact("Likes tea"), fact("Likes rum"))
    clock.move(hours=1)
    done = await store.commit(MIRA, [rewrite(rum, "likes tea")], ASKED)
    renewed = replace(tea, updated_at=LATER)
    assert done == [
        Applied(event="DELETE", memory=rum),
        Applied(event="UPDATE", memory=renewed, previous_text="Likes tea"),
    ]
    assert await store.page(MIRA, ALL, limit=9) == [renewed]


async def test_a_removed_fact_is_gone_from_reads_and_may_be_learned_again(store):
    (tea,) = await keep(store, fact("Likes tea"))
    done = await store.commit(MIRA, [remove(tea, replaced_by=1), fact("Hates tea")], ASKED)
    assert [(one.event, one.memory.text) for one in done] == [("DELETE", "Likes tea"), ("ADD", "Hates tea")]
    assert done[0].memory == tea
    assert await texts(store) == ["Hates tea"]
    assert await store.same_text(MIRA, [content_hash("Likes tea")]) == {}
    assert len(await keep(store, fact("Likes tea"))) == 1


@pytest.mark.parametrize("change", [rewrite, lambda target, _: remove(target)])
async def test_a_stale_target_undoes_the_whole_commit(store, change):
    tea, rum = await keep(store, fact("Likes tea"), fact("Likes rum"))
    stale = replace(tea, text="Likes coffee")
    with pytest.raises(StaleChange):
        await store.commit(MIRA, [fact("Likes gin"), remove(rum), change(stale, "Likes soda")], ASKED)
    assert sorted(await texts(store)) == ["Likes rum", "Likes tea"]
    assert len(await store.history(MIRA, rum.id)) == 1


async def test_degraded_an_update_of_a_vanished_fact_is_added_and_a_removal_does_nothing(store):
    tea, rum = await keep(store, fact("Likes tea"), fact("Likes rum"))
    await store.delete(MIRA, tea.id)
    changes = [rewrite(tea, "Likes green tea"), remove(replace(rum, text="Likes old rum"))]
    (added,) = await store.commit(MIRA, changes, ASKED, degrade=True)
    assert (added.event, added.memory.text) == ("ADD", "Likes green tea")
    assert added.memory.id != tea.id
    assert sorted(await texts(store)) == ["Likes green tea", "Likes rum"]


async def test_history_tells_what_happened_why_and_from_which_turns(store, clock):
    (tea,) = await keep(store, fact("Likes tea"))
    clock.move(hours=1)
    await store.commit(MIRA, [rewrite(tea, "Likes green tea")], Provenance(reason="extracted", model="m"))
    await store.delete(MIRA, tea.id)
    entries = await store.history(MIRA, tea.id)
    assert [(e.event, e.old_text, e.new_text, e.at, e.reason, e.model, tuple(e.turns)) for e in entries] == [
        ("ADD", None, "Likes tea", to_text(NOW), "extracted", "offline", (SAID,)),
        ("UPDATE", "Likes tea", "Likes green tea", LATER, "extracted", "m", ()),
        ("DELETE", "Likes green tea", None, LATER, "request", None, ()),
    ]
    assert len({e.id for e in entries}) == 3
    assert {e.memory_id for e in entries} == {tea.id}


async def test_history_follows_the_order_of_events_when_the_clock_is_set_back(store, clock):
    (tea,) = await keep(store, fact("Likes tea"))
    clock.move(hours=-1)
    await store.commit(MIRA, [rewrite(tea, "Likes rum")], ASKED)
    clock.move(hours=-1)
    await store.commit(MIRA, [rewrite(replace(tea, text="Likes rum"), "Likes gin")], ASKED)
    assert [e.new_text for e in await store.history(MIRA, tea.id)] == ["Likes tea", "Likes rum", "Likes gin"]


async def test_delete_removes_one_and_a_second_time_finds_none(store):
    tea, _ = await keep(store, fact("Likes tea"), fact("Likes rum"))
    assert await store.delete(MIRA, tea.id) == tea
    assert await store.delete(MIRA, tea.id) is None
    assert await store.get(MIRA, tea.id) is None
    assert await texts(store) == ["Likes rum"]


async def test_delete_all_removes_all_of_a_scope_and_of_no_other(store):
    noah = replace(MIRA, user="noah")
    (tea, _) = await keep(store, fact("Likes tea", updated_at="1999-01-01T00:00:00Z"), message("Tea!"))
    await keep(store, fact("Likes rum", scope=noah), scope=noah)
    assert await store.delete_all(MIRA) == 2
    assert await store.delete_all(MIRA) == 0
    assert (await texts(store), await texts(store, noah)) == ([], ["Likes rum"])
    assert await store.history(MIRA, tea.id) == []


async def test_delete_all_of_a_narrowed_scope_leaves_the_rest_of_the_user(store):
    cook = within(MIRA, agent="cook")
    await keep(store, fact("Likes tea", agent="cook"), fact("Likes rum"), fact("Likes gin", agent="bar"))
    assert await store.delete_all(cook) == 1
    assert sorted(await texts(store)) == ["Likes gin", "Likes rum"]


KEY = Receipt(key="k1", request_hash="h1")


async def test_a_receipt_gives_back_what_was_done_for_a_day(store_factory, clock):
    store = await store_factory()
    done = await store.commit(MIRA, [fact("Likes tea", metadata={"a": [1]})], ASKED, receipt=KEY)
    store = await store_factory()
    assert await store.redeem(MIRA, "k1") == RedeemedReceipt(request_hash="h1", reason="extracted", applied=done)
    clock.move(hours=24, seconds=1)
    assert await store.redeem(MIRA, "k1") is None


async def test_one_key_eight_times_at_once_then_later_then_after_restart_is_one_memory(store_factory):
    store = await store_factory()

    def commit(store):
        return store.commit(MIRA, [message("I like tea.")], ASKED, receipt=KEY)

    answers = await asyncio.gather(*(commit(store) for _ in range(8)))
    answers.append(await commit(store))
    store = await store_factory()
    answers.append(await commit(store))
    assert answers == [answers[0]] * 10
    assert await texts(store) == ["I like tea."]


async def test_a_key_used_for_another_request_is_refused_and_nothing_written(store):
    await store.commit(MIRA, [fact("Likes tea")], ASKED, receipt=KEY)
    with pytest.raises(Conflict) as caught:
        await store.commit(MIRA, [fact("Likes rum")], ASKED, receipt=Receipt(key="k1", request_hash="h2"))
    assert caught.value.code == "idempotency_mismatch"
    assert await texts(store) == ["Likes tea"]


async def test_a_key_of_one_user_says_nothing_to_another(store):
    noah = replace(MIRA, user="noah")
    await store.commit(MIRA, [fact("Likes tea")], ASKED, receipt=KEY)
    assert await store.redeem(noah, "k1") is None
    other = Receipt(key="k1", request_hash="h2")
    assert len(await store.commit(noah, [fact("Likes rum", scope=noah)], ASKED, receipt=other)) == 1


async def test_a_commit_of_nothing_still_leaves_its_receipt(store):
    nothing = Provenance(reason="nothing_found")
    assert await store.commit(MIRA, [], nothing, receipt=KEY) == []
    assert await store.redeem(MIRA, "k1") == RedeemedReceipt(request_hash="h1", reason="nothing_found", applied=[])


async def test_a_refused_commit_leaves_no_receipt(store):
    (tea,) = await keep(store, fact("Likes tea"))
    with pytest.raises(StaleChange):
        await store.commit(MIRA, [rewrite(tea, "Likes rum", expected="?")], ASKED, receipt=KEY)
    assert await store.redeem(MIRA, "k1") is None
