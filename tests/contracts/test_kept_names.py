"""The names of statements in every back-end: whatever happens to memories, the index has those of their texts."""

import asyncio
import tempfile
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemoir.core.clock import to_text
from mnemoir.core.memories import IndexEntry, Memory, Provenance, Restore, Revert
from mnemoir.memory.names.reading import names_of
from mnemoir.ports.memory_store import Old, StaleChange
from mnemoir.search.index import ScopeIndex
from mnemoir.search.resident import Resident
from tests.contracts.words import ALL, ASKED, MIRA, NOW, SetClock, entry, fact, keep, message, remove, rewrite

TEXTS = ["Sister is called Anna", "Anna works at Norlin", "Schwester heißt Berta", "Likes tea", "Name is Mira"]
NTH, TEXT = st.integers(0, 5), st.sampled_from(TEXTS)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["add", "import", "say", "update", "update", "revert"]), NTH, TEXT),
    st.tuples(st.sampled_from(["remove", "restore", "delete", "merge", "expunge"]), NTH, TEXT),
    st.tuples(st.sampled_from(["forget", "age", "embed", "other length"]), NTH, TEXT),
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=14))
def test_names_are_those_of_a_fresh_index_after_any_order_of_changes(backend, steps):
    asyncio.run(play(backend, steps))


async def play(backend, steps) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clock = SetClock()
        removed: list[Memory] = []
        async with backend.open(Path(folder), clock) as store:
            followed = Resident(MIRA, lambda: ScopeIndex("m1", None), None)
            for step in steps:
                clock.move(hours=1)
                with suppress(StaleChange):
                    await make(store, clock, removed, *step)
                await compare(store, followed)


async def make(store, clock, removed, step, nth, text) -> None:
    """One step; one that needs a memory does nothing where there is none."""
    memories = await store.page(MIRA, ALL, limit=99)
    target: Any = memories[nth % len(memories)] if memories else None
    told = Provenance(reason="extracted", turns=ASKED.turns, session=f"s{nth}")
    match step:
        case "add":
            await store.commit(MIRA, [fact(text, metadata={"session_id": f"s{nth}"})], told)
        case "import" if target:
            began, ended = to_text(NOW - timedelta(days=1)), to_text(NOW)
            await store.commit(MIRA, [fact(text, replaced_by=target.id, created_at=began, valid_to=ended)], ASKED)
        case "say":
            await keep(store, message(text, speaker=None if nth % 2 else "Mira"))
        case "update" if target:
            await store.commit(MIRA, [rewrite(target, text)], ASKED)
        case "revert" if target:
            back = Revert(target=target.id, expected=target.text, text=text, entry=entry(text), updated_at=None)
            await store.commit(MIRA, [back], ASKED)
        case "remove" if target:
            removed.append(target)
            await store.commit(MIRA, [remove(target)], ASKED)
        case "restore" if removed:
            gone = removed.pop()
            await store.commit(MIRA, [Restore(target=gone.id, expected=gone.text, entry=entry(gone.text))], ASKED)
        case "merge" if len(memories) > 1:
            other = memories[(nth + 1) % len(memories)]
            await store.commit(MIRA, [remove(other), rewrite(target, text)], ASKED)
        case "delete" if target:
            await store.delete(MIRA, target.id)
        case "expunge" if target:
            await store.expunge(MIRA, [target.id])
        case "forget":
            await store.forget_session(MIRA, f"s{nth}")
        case "age":
            before = clock.now - timedelta(hours=nth)
            await store.age(MIRA, Old(told_before=before, removed_before=before), limit=9)
        case "embed":
            waiting = await store.without_vector("m2", limit=9)
            await store.put_vectors("m2", [(one, replace(entry(one.text), model="m2")) for one in waiting])
        case "other length":
            await store.forget_other_lengths("m1", 3)


async def compare(store, followed: Resident) -> None:
    def look(view):
        rows = view.rows_since(MIRA, -1)
        fresh = ScopeIndex("m1", None)
        fresh.put(rows)
        with followed.up_to_date(view) as index:
            return rows, view.memories(MIRA, [row.seq for row in rows]), by_seq(index), by_seq(fresh)

    rows, memories, kept, fresh = await store.reading(look)
    assert {row.seq: row.entry.names for row in rows} == {seq: names_of(one) for seq, one in memories.items()}
    assert kept == fresh


def by_seq(index: ScopeIndex) -> dict[int, list[int]]:
    """The names that link each living row."""
    slots = index.alive.nonzero()[0]
    keys, place = index.names.of(slots)
    return {int(index.seqs[slot]): keys[place == at].tolist() for at, slot in enumerate(slots)}


async def test_closed_states_keep_the_names_of_their_texts(past_states, store, clock):
    [lives] = await keep(store, fact("Sister is called Anna"))
    clock.move(hours=1)
    await store.commit(MIRA, [rewrite(lives, "Sister is called Berta")], ASKED)

    def look(view):
        rows = view.rows_since(MIRA, -1)
        return [(row.entry.names, view.memories(MIRA, [row.seq])[row.seq]) for row in rows]

    states = await store.of_all_times.reading(look)
    assert [names for names, _ in states] == [names_of(memory) for _, memory in states]
    assert len({names for names, _ in states}) == 2


async def test_what_a_caller_says_of_names_does_not_count(store):
    given_names = IndexEntry(terms=b"12345678", names=b"87654321")
    await keep(store, replace(fact("Anna works at Norlin"), entry=given_names))
    [row] = await store.reading(lambda view: view.rows_since(MIRA, -1))
    assert row.entry.names == names_of(fact("Anna works at Norlin").memory)


async def test_names_outlive_a_restart(store_factory):
    await keep(await store_factory(), fact("Anna works at Norlin"))
    [row] = await (await store_factory()).reading(lambda view: view.rows_since(MIRA, -1))
    assert row.entry.names == names_of(fact("Anna works at Norlin").memory)
