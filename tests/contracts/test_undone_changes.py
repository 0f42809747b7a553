"""An undo makes the past what it was without the change, writes all or nothing, and leaves no traces of what is
forgotten."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.errors import Conflict, NotFound
from mnemoir.memory.facts.write.undoing import Undoing
from mnemoir.ports.memory_store import Visible
from mnemoir.search.indexing import Indexing
from tests.contracts.test_forgotten_sessions import SECRET, files_with, learn, said_in
from tests.contracts.words import DEMO, MIRA, NOW, fact, keep, remove, rewrite, texts
from tests.search.hashed_words import HashedWords


async def change(store, number: int = 0):
    """One of the last changes, 0 is the newest."""
    return (await store.changes(MIRA, limit=20)).changes[number]


async def undo(store, number: int = 0):
    return await Undoing(store, Indexing(HashedWords())).undo(DEMO, (await change(store, number)).id)


async def was(store, hours: float) -> list[str]:
    visible = Visible(now=NOW + timedelta(days=3650), at=NOW + timedelta(hours=hours))
    return [memory.text for memory in await store.page(MIRA, visible, limit=100)]


@pytest.mark.usefixtures("past_states")
async def test_a_text_that_was_undone_never_held_and_holds_again_when_the_undo_is_undone(store, clock):
    (tea,) = await keep(store, fact("Likes tea"))
    for text in ("Likes rum", "Likes gin"):
        clock.move(hours=10)
        await store.commit(MIRA, [rewrite(tea, text, expected=(await texts(store))[0])], said_in(None))
    held = [["Likes tea"], ["Likes rum"], ["Likes gin"]]
    for _ in range(2):
        clock.move(hours=10)
        assert [await was(store, hours) for hours in (5, 15, 25)] == held
        await undo(store)
        assert [await was(store, hours) for hours in (5, 15, 25)] == [["Likes tea"], ["Likes rum"], ["Likes rum"]]
        await undo(store)
    assert [await was(store, hours) for hours in (5, 15, 25)] == held
    told = [(event.old_text, event.new_text) for event in await store.history(MIRA, tea.id)]
    assert told[-2:] == [("Likes gin", "Likes rum"), ("Likes rum", "Likes gin")]


@pytest.mark.usefixtures("past_states")
async def test_what_was_added_and_undone_was_never_there_and_what_was_deleted_ended_when_it_was_deleted(store, clock):
    (works,) = await keep(store, fact("Works at A"))
    clock.move(hours=10)
    await store.commit(MIRA, [fact("Works alone"), remove(works, replaced_by=0)], said_in(None))
    clock.move(hours=10)
    await undo(store)
    assert [await was(store, hours) for hours in (5, 15)] == [["Works at A"], ["Works at A"]]
    clock.move(hours=10)
    await undo(store)
    clock.move(hours=10)
    assert await was(store, 15) == ["Works alone"]
    await undo(store)
    assert [await was(store, hours) for hours in (5, 15, 35)] == [["Works at A"]] * 3


@pytest.mark.usefixtures("past_states")
async def test_a_past_state_that_was_told_late_is_undone_and_told_again(store, clock):
    (works,) = await keep(store, fact("Works at A"))
    ended: dict[str, Any] = {"valid_to": to_text(NOW - timedelta(hours=5)), "replaced_by": works.id}
    (late,) = await keep(store, fact("Studies", created_at=to_text(NOW - timedelta(hours=20)), **ended))
    clock.move(hours=1)
    for _ in range(2):
        assert await was(store, -10) == ["Studies"]
        await undo(store)
        assert [await was(store, hours) for hours in (-10, 1)] == [[], ["Works at A"]]
        await undo(store)
    assert await store.get(MIRA, late.id) == late
    assert [await was(store, hours) for hours in (-10, 1)] == [["Studies"], ["Works at A"]]


async def test_the_words_of_a_forgotten_session_are_in_no_change_and_in_no_file(store, tmp_path):
    owned = await learn(store, f"Owns a {SECRET}", "s1")
    await store.commit(MIRA, [rewrite(owned, "Owns a red tandem"), fact("Rows")], said_in("s2", "red tandem"))
    learned = await change(store, 1)
    await undo(store)
    await undo(store)
    await keep(store, fact("Likes tea"))
    await store.forget_session(MIRA, "s1")
    assert files_with(tmp_path, SECRET) == []
    assert [row.new_text for row in (await change(store)).rows] == ["Likes tea"]
    assert len((await store.changes(MIRA, limit=20)).changes) == 1
    with pytest.raises(NotFound):
        await Undoing(store, Indexing(HashedWords())).undo(DEMO, learned.id)


async def test_metadata_that_named_a_forgotten_session_are_not_given_back(store, tmp_path):
    tea = await learn(store, "Likes tea", None)
    for metadata in ({"session_id": "s1", "said": SECRET}, {}):
        await store.commit(MIRA, [replace(rewrite(tea, tea.text), metadata=metadata)], said_in(None, "tea"))
    await store.forget_session(MIRA, "s1")
    assert files_with(tmp_path, SECRET) == []
    assert await texts(store) == ["Likes tea"]
    assert [event.reason for event in await store.history(MIRA, tea.id)] == ["extracted"] * 3


@pytest.mark.parametrize("change_of_it", [{"memory": "Likes gin"}, {"metadata": {"mine": True}}])
async def test_a_record_that_another_program_changed_is_not_undone(store, backend, tmp_path, change_of_it):
    if backend.keeps_past_states:
        pytest.skip("its memories are in the database alone")
    await keep(store, fact("Likes tea"))
    (file,) = tmp_path.rglob("memories.json")
    (record,) = json.loads(file.read_text())
    file.write_text(json.dumps([record | change_of_it]))
    with pytest.raises(Conflict, match="another program"):
        await undo(store)
    assert len(await texts(store)) == 1


class _Overtaken:
    """The store, in which the same change is undone behind the first look at a memory."""

    def __init__(self, store, change):
        self._store, self._change, self._is_first = store, change, True

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def get(self, scope, memory_id):
        found = await self._store.get(scope, memory_id)
        if self._is_first:
            self._is_first = False
            await Undoing(self._store, Indexing(HashedWords())).undo(DEMO, self._change.id)
        return found


async def test_an_undo_that_another_overtakes_is_refused_and_changes_nothing(store):
    await keep(store, fact("Likes tea"))
    added = await change(store)
    with pytest.raises(Conflict):
        await Undoing(_Overtaken(store, added), Indexing(HashedWords())).undo(DEMO, added.id)
    assert len((await store.changes(MIRA, limit=20)).changes) == 2
    assert await texts(store) == []
