"""Messages kept word for word, and the plain reads and deletes of fact memory."""

from datetime import timedelta

import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.errors import NotFound
from mnemoir.core.ids import MemoryId
from mnemoir.core.scope import Scope
from mnemoir.memory.facts import AddRequest, Turn
from mnemoir.memory.facts.extract.conversation import messages, passages
from mnemoir.ports.memory_store import Project

MIRA = Scope(project="kitchen", user="mira")
KITCHEN = Project(tenant="default", project="kitchen")


async def test_without_inference_every_said_turn_is_kept_as_it_was(house):
    at = house.clock.now - timedelta(days=9)
    turns = [
        Turn(role="system", text="Be nice."),
        Turn(role="user", text="I row. I row.", speaker="Mira", metadata={"n": 1}),
        Turn(role="user", text="I row. I row.", said_at=at + timedelta(hours=1)),
        Turn(role="assistant", text="Every morning?", said_at=house.clock.now + timedelta(days=1)),
        Turn(role="tool", text="42"),
    ]
    request = AddRequest(turns=turns, infer=False, metadata={"n": 0, "s": "x"}, said_at=at)
    scope = Scope(project="kitchen", user="mira", conversation="c1", agent="a")
    result = await house.facts().add(scope, request)
    told = [(change.event, change.memory) for change in result.applied]
    assert [(event, m.text, m.role, m.speaker, m.kind) for event, m in told] == [
        ("ADD", "I row. I row.", "user", "Mira", "message"),
        ("ADD", "I row. I row.", "user", None, "message"),
        ("ADD", "Every morning?", "assistant", None, "message"),
        ("ADD", "42", "tool", None, "message"),
    ]
    assert [m.created_at for _, m in told] == [
        to_text(at),
        to_text(at + timedelta(hours=1)),
        to_text(house.clock.now),
        to_text(at),
    ]
    assert [m.metadata for _, m in told] == [{"n": 1, "s": "x"}, *[{"n": 0, "s": "x"}] * 3]
    assert {(m.conversation, m.agent) for _, m in told} == {("c1", "a")}


def test_a_message_is_embedded_with_the_two_before_it_of_the_same_hour(house):
    now = house.clock.now
    turns = [
        Turn(role="user", text=t, said_at=now - timedelta(minutes=m)) for t, m in (("b", 70), ("c", 50), ("d", 40))
    ]
    earlier = AddRequest(turns=[Turn(role="user", text="a", said_at=now - timedelta(minutes=120))])
    kept = messages(MIRA, AddRequest(turns=turns), now)
    told = passages(kept, messages(MIRA, earlier, now))
    assert [(p.text, p.context) for p in told] == [("b", "a"), ("c", "b"), ("d", "b c")]


async def test_the_first_messages_of_a_request_follow_the_last_ones_stored(house):
    facts, scope = house.facts(), Scope(project="kitchen", user="mira", conversation="c1")
    for text in ("Do you row?", "Yes, every morning."):
        await facts.add(scope, AddRequest(turns=[Turn(role="user", text=text)], infer=False))
    result = await facts.search(MIRA, "when does she row?", limit=2)
    assert {hit.memory.text for hit in result.hits} == {"Do you row?", "Yes, every morning."}


@pytest.mark.slow
async def test_a_thousand_messages_are_one_request(house):
    turns = [Turn(role="user", text=f"Message {n}") for n in range(1000)]
    facts = house.facts()
    result = await facts.add(MIRA, AddRequest(turns=turns, infer=False))
    assert (len(result.applied), await facts.count(MIRA)) == (1000, 1000)


async def test_paging_counts_and_deletes(house, tell):
    facts = house.facts()
    await tell(facts, "I live in Graz. I row every morning.")
    page = await facts.page(MIRA, limit=1, offset=1)
    assert (len(page), await facts.count(MIRA)) == (1, 2)
    assert await facts.delete(KITCHEN, page[0].id) == page[0].id
    assert (await facts.delete_all(MIRA), await facts.delete_all(MIRA)) == (1, 0)


async def test_a_foreign_or_absent_memory_is_not_found(house, tell):
    facts = house.facts()
    [change] = (await tell(facts, "I live in Graz.")).applied
    foreign = Project(tenant="default", project="garden")
    for project, memory_id, user in (
        (KITCHEN, change.memory.id, "noah"),
        (foreign, change.memory.id, None),
        (KITCHEN, MemoryId("mem_absent"), "mira"),
    ):
        with pytest.raises(NotFound) as caught:
            await facts.delete(project, memory_id, user)
        assert caught.value.code == "memory_not_found"
        assert await facts.history(project, memory_id, user) == []
    assert await facts.delete(KITCHEN, change.memory.id, "mira") == change.memory.id
    with pytest.raises(NotFound):
        await facts.delete(KITCHEN, change.memory.id, "mira")


async def test_the_history_of_a_deleted_memory_stays(house, tell):
    facts = house.facts()
    [change] = (await tell(facts, "I live in Graz.")).applied
    await facts.delete(KITCHEN, change.memory.id)
    entries = await facts.history(KITCHEN, change.memory.id, "mira")
    assert [entry.event for entry in entries] == ["ADD", "DELETE"]
