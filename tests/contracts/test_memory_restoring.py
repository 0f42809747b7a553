"""What was removed can be taken back as it was, until it is forgotten."""

from dataclasses import replace

import pytest

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Provenance, Restore, Update
from mnemoir.ports.memory_store import Receipt, StaleChange
from tests.contracts.test_forgotten_sessions import SECRET, files_with, learn, said_in
from tests.contracts.words import ASKED, MIRA, entry, fact, keep, message, remove, rewrite, texts

ASKED_FOR = Provenance(reason="request")


def back(memory, *, expected: str | None = None) -> Restore:
    return Restore(target=memory.id, expected=expected or memory.text, entry=entry(memory.text))


@pytest.mark.parametrize("make", [fact, message])
async def test_a_deleted_memory_comes_back_as_it_was(store_factory, clock, make):
    store = await store_factory()
    members = {"metadata": {"n": 2**70}, "expires_on": "2030-01-01", "updated_at": None, "extra": {"x": [1]}}
    (tea,) = await keep(store, make("Likes tea", agent="cook", conversation="c1", **members))
    await store.delete(MIRA, tea.id)
    store = await store_factory()
    clock.move(hours=1)
    assert await store.memory_at_removal(MIRA, tea.id) == tea
    (applied,) = await store.commit(MIRA, [back(tea)], ASKED_FOR)
    assert (applied.event, applied.memory) == ("ADD", tea)
    assert await store.get(MIRA, tea.id) == tea
    assert await store.memory_at_removal(MIRA, tea.id) is None
    told = [(event.event, event.reason, event.new_text) for event in await store.history(MIRA, tea.id)]
    assert told == [("ADD", "extracted", tea.text), ("DELETE", "request", None), ("ADD", "restored", tea.text)]
    again = await (await store_factory()).get(MIRA, tea.id)
    assert again == tea


async def test_what_comes_back_is_searched_with_its_entry(store):
    (tea,) = await keep(store, fact("Likes tea"))
    await store.delete(MIRA, tea.id)
    await store.commit(MIRA, [back(tea)], ASKED_FOR)
    rows = await store.reading(lambda view: view.rows_since(MIRA, -1))
    assert [row.entry.terms for row in rows] == [entry("Likes tea").terms]
    assert await store.backlog("m1") == (0, 1)


async def test_a_replaced_fact_comes_back_beside_its_successor(store):
    (works,) = await keep(store, fact("Works at A", metadata={"a": 1}))
    await store.commit(MIRA, [remove(works, replaced_by=1), fact("Works alone")], ASKED)
    await store.commit(MIRA, [back(works)], ASKED_FOR)
    assert await store.get(MIRA, works.id) == works
    assert sorted(await texts(store)) == ["Works alone", "Works at A"]


@pytest.mark.parametrize("expected", ["Likes tea", "Likes rum"])
async def test_what_is_current_or_was_never_there_is_not_taken_back(store, expected):
    (tea,) = await keep(store, fact("Likes tea"))
    for target in (tea, replace(tea, id=MemoryId("mem_unknown"))):
        with pytest.raises(StaleChange):
            await store.commit(MIRA, [back(target, expected=expected)], ASKED_FOR)
    assert await store.commit(MIRA, [back(tea, expected=expected)], ASKED_FOR, degrade=True) == []
    assert len(await store.history(MIRA, tea.id)) == 1


async def test_nothing_comes_back_beside_a_fact_that_says_the_same(store):
    (tea,) = await keep(store, fact("Likes tea"))
    await store.delete(MIRA, tea.id)
    await keep(store, fact("likes tea!"))
    with pytest.raises(StaleChange):
        await store.commit(MIRA, [back(tea)], ASKED_FOR)
    assert await texts(store) == ["likes tea!"]


async def test_nobody_else_can_take_it_back(store):
    (tea,) = await keep(store, fact("Likes tea"))
    await store.delete(MIRA, tea.id)
    for other in (replace(MIRA, user="noah"), replace(MIRA, project="other"), replace(MIRA, tenant="acme")):
        assert await store.memory_at_removal(other, tea.id) is None
        with pytest.raises(StaleChange):
            await store.commit(other, [back(tea)], ASKED_FOR)
        assert await texts(store, other) == []


async def test_after_a_delete_of_everything_no_word_is_left_and_nothing_comes_back(store, backend, tmp_path):
    gone = await learn(store, f"Owned a {SECRET}", "s1")
    await store.delete(MIRA, gone.id)
    (owned,) = await keep(store, fact(f"Owns a {SECRET}", metadata={"of": SECRET}))
    await store.commit(
        MIRA, [rewrite(owned, f"Sold a {SECRET}")], said_in("s2"), receipt=Receipt(key="k", request_hash="h")
    )
    noah = replace(MIRA, user="noah")
    await keep(store, fact("Likes tea", scope=noah), scope=noah)
    assert backend.encrypts or files_with(tmp_path, SECRET)
    assert await store.delete_all(MIRA) == 1
    assert files_with(tmp_path, SECRET) == []
    for memory in (gone, owned):
        assert await store.history(MIRA, memory.id) == []
        assert await store.memory_at_removal(MIRA, memory.id) is None
    assert await texts(store, noah) == ["Likes tea"]
    assert await store.redeem(MIRA, "k") is None


@pytest.mark.parametrize("kind", [fact, message])
async def test_what_was_deleted_does_not_come_back_once_its_session_is_forgotten(store, tmp_path, kind):
    said = kind(f"Owns a {SECRET}", metadata={"session_id": "s1", "note": SECRET})
    (applied,) = await store.commit(MIRA, [said], said_in("s1") if kind is fact else Provenance(reason="verbatim"))
    await store.delete(MIRA, applied.memory.id)
    await store.forget_session(MIRA, "s1")
    assert files_with(tmp_path, SECRET) == []
    assert await store.memory_at_removal(MIRA, applied.memory.id) is None


async def test_a_memory_taken_back_still_goes_with_its_session(store, tmp_path):
    owned = await learn(store, f"Owns a {SECRET}", "s1")
    await store.delete(MIRA, owned.id)
    await store.commit(MIRA, [back(owned)], ASKED_FOR)
    assert await store.forget_session(MIRA, "s1") == 1
    assert files_with(tmp_path, SECRET) == []


async def test_an_update_may_change_the_metadata_and_ask_for_a_time(store, clock):
    (tea,) = await keep(store, fact("Likes tea", metadata={"a": 1}))
    clock.move(hours=1)
    change = Update(
        target=tea.id, expected="Likes tea", text="Loves tea", entry=entry("Loves tea"), metadata={"b": 2},
        as_of=tea.updated_at,
    )  # fmt: skip
    (applied,) = await store.commit(MIRA, [change], ASKED_FOR)
    assert applied.memory == await store.get(MIRA, tea.id)
    assert (applied.memory.text, applied.memory.metadata) == ("Loves tea", {"b": 2})
    late = replace(change, expected="Loves tea", text="Hates tea")
    with pytest.raises(StaleChange):
        await store.commit(MIRA, [late], ASKED_FOR)
    none = replace(late, text="Loves tea", metadata=None, as_of=applied.memory.updated_at)
    (renewed,) = await store.commit(MIRA, [none], ASKED_FOR)
    assert (await store.get(MIRA, tea.id)).metadata is renewed.memory.metadata is None
