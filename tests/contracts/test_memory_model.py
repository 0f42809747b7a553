"""Random commits against a dictionary: after each, every read of the store agrees with it."""

import asyncio
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Change
from mnemoir.core.text import normalise
from mnemoir.ports.memory_store import StaleChange
from tests.contracts.words import ALL, ASKED, MIRA, SetClock, entry, fact, remove, rewrite

TEXTS = ["Tea", "tea!", "Rum", "Gin", "Ale"]
STEPS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(TEXTS)),
    st.tuples(st.just("update"), st.integers(0, 3), st.sampled_from(TEXTS)),
    st.tuples(st.just("remove"), st.integers(0, 3)),
    st.tuples(st.just("stale"), st.integers(0, 3)),
)
DELETES = st.tuples(st.just("delete"), st.integers(0, 3))


@dataclass
class Model:
    """Texts by id, in the order they were first stored."""

    facts: dict[MemoryId, str]

    def same(self, text: str) -> MemoryId | None:
        return next((one for one, said in self.facts.items() if normalise(said) == normalise(text)), None)

    def make(self, step: tuple, ids: list[MemoryId]) -> Change | None:
        """The change for a step, made here as well; `ids` are those the commit began with."""
        if step[0] == "add":
            add = fact(step[1])
            if self.same(step[1]) is None:
                self.facts[add.memory.id] = step[1]
            return add
        if not ids:
            return None
        target = ids[step[1] % len(ids)]
        before = self.facts.get(target)
        if before is None or step[0] == "stale":
            raise _Stale(rewrite(target, "x", expected="never said"))
        if step[0] == "remove":
            del self.facts[target]
            return remove(replace(fact(before).memory, id=target))
        other = self.same(step[2])
        if other in (None, target):
            self.facts[target] = step[2]
        else:
            del self.facts[target]
        return rewrite(target, step[2], expected=before)


class _Stale(Exception):
    def __init__(self, change: Change) -> None:
        self.change = change


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(commits=st.lists(st.one_of(st.lists(STEPS, min_size=1, max_size=4), DELETES), max_size=8))
def test_every_read_agrees_with_a_dictionary_after_random_commits(backend, commits):
    asyncio.run(play(backend, commits))


async def play(backend, commits) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with backend.open(Path(folder), SetClock()) as store:
            model = Model({})
            for steps in commits:
                if isinstance(steps, tuple):
                    await play_delete(store, model, steps[1])
                else:
                    model = await play_commit(store, model, steps)
                await compare(store, model)


async def play_delete(store, model: Model, which: int) -> None:
    ids = list(model.facts)
    target = ids[which % len(ids)] if ids else MemoryId("mem_none")
    deleted = await store.delete(MIRA, target)
    assert (None if deleted is None else deleted.text) == model.facts.pop(target, None)


async def play_commit(store, model: Model, steps) -> Model:
    following, ids = Model(dict(model.facts)), list(model.facts)
    changes: list[Change] = []
    try:
        for step in steps:
            change = following.make(step, ids)
            changes += [change] if change is not None else []
    except _Stale as stale:
        try:
            await store.commit(MIRA, [*changes, stale.change], ASKED)
        except StaleChange:
            return model
        raise AssertionError("a stale change went through") from None
    await store.commit(MIRA, changes, ASKED)
    return following


async def compare(store, model: Model) -> None:
    page = {memory.id: memory.text for memory in await store.page(MIRA, ALL, limit=99)}
    assert page == model.facts

    def look(view):
        rows = view.rows_since(MIRA, -1)
        return view.live(MIRA), rows, view.memories(MIRA, [row.seq for row in rows])

    live, rows, memories = await store.reading(look)
    assert [row.seq for row in rows] == list(live)
    assert {memory.id: memory.text for memory in memories.values()} == model.facts
    assert [row.entry.terms for row in rows] == [entry(memories[row.seq].text).terms for row in rows]
    pending, texts = await store.backlog("m1")
    assert (pending, texts >= len(model.facts)) == (0, True)  # some back-ends count closed memories too
