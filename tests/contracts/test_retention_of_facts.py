"""What is too old goes, exactly what was counted before and nothing else, and no byte of it is left."""

from collections import Counter

from mnemoir.core.clock import to_text
from mnemoir.core.retention import KeptDays
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.write import retention
from mnemoir.memory.facts.write.retention import FactRetention
from tests.contracts.test_forgotten_sessions import files_with
from tests.contracts.words import ASKED, MIRA, fact, keep, rewrite, texts

GONE = "zanzibar-yellow"


async def aged(store, clock):
    """A store whose oldest things are a hundred days old."""
    old, _, held = await keep(
        store, fact(f"Owned a {GONE} tandem"), fact("Likes tea"), fact("Likes rowing", metadata={"keep": True})
    )
    (moved,) = await keep(store, fact(f"Lives at {GONE} street"))
    (dropped,) = await keep(store, fact(f"Has a {GONE} cat"))
    clock.move(days=10)
    await store.commit(MIRA, [rewrite(moved, "Lives in Graz")], ASKED)
    await store.delete(MIRA, dropped.id)
    clock.move(days=85)
    at = to_text(clock())
    await store.commit(MIRA, [rewrite(moved, "Lives in Linz", expected="Lives in Graz")], ASKED)
    await keep(store, fact("Is new", created_at=at, updated_at=at))
    clock.move(days=5)
    return old, moved, held


def retention_of(store, clock, **days: int) -> FactRetention:
    async def owners():
        return [MIRA]

    async def kept_of(owner: Scope) -> KeptDays:
        return KeptDays(**days)

    return FactRetention(store, owners, kept_of, clock)


async def test_memories_not_renewed_go_with_all_that_is_told_of_them(store, clock, tmp_path):
    old, *_ = await aged(store, clock)
    kept = retention_of(store, clock, memories=50)
    assert await kept.expire(True) == {"memories": 2}
    assert await kept.expire(False) == {"memories": 2}
    assert sorted(await texts(store)) == ["Is new", "Likes rowing", "Lives in Linz"]
    assert await store.history(MIRA, old.id) == []
    assert files_with(tmp_path, f"Owned a {GONE}") == []
    assert await kept.expire(True) == {}


async def test_history_goes_but_for_the_event_that_gave_the_present_text(store, clock):
    old, moved, _ = await aged(store, clock)
    kept = retention_of(store, clock, history=30)
    counted = Counter(await kept.expire(True))
    assert counted["history"] == 2
    assert Counter(await kept.expire(False)) == counted
    assert [event.new_text for event in await store.history(MIRA, moved.id)] == ["Lives in Linz"]
    assert [event.new_text for event in await store.history(MIRA, old.id)] == [f"Owned a {GONE} tandem"]


async def test_removed_and_replaced_memories_go(store, backend, clock, past_states, tmp_path):
    await aged(store, clock)
    assert backend.encrypts or files_with(tmp_path, f"{GONE} cat")
    kept = retention_of(store, clock, deleted=50)
    counted = Counter(await kept.expire(True))
    assert +counted == {"removed": 1, "replaced": 1}
    assert Counter(await kept.expire(False)) == counted
    assert +Counter(await kept.expire(True)) == {}
    assert files_with(tmp_path, f"{GONE} cat") == []


async def test_all_of_it_at_once_is_what_was_counted_in_pieces_of_any_size(store, clock, monkeypatch):
    await aged(store, clock)
    kept = retention_of(store, clock, memories=50, history=30, deleted=20)
    counted = Counter(await kept.expire(True))
    monkeypatch.setattr(retention, "_AT_ONCE", 1)
    assert Counter(await kept.expire(False)) == counted
    assert +Counter(await kept.expire(True)) == {}


async def test_nothing_goes_by_itself(store, clock):
    await aged(store, clock)
    clock.move(days=10_000)
    before = await texts(store)
    assert await retention_of(store, clock).expire(False) == {}
    assert await texts(store) == before
