"""The review queue in the database: written and settled with commits, bounded, ended, and erased to the byte."""

from dataclasses import replace
from typing import Any

import apsw
import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.ids import new_proposal_id
from mnemoir.core.memories import Provenance, SourceTurn
from mnemoir.core.proposals import Proposal, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import StaleChange
from mnemoir.ports.proposals import KEPT_DAYS, MOST_PROPOSALS
from mnemoir.storage.sql import SqlMemoryStore, SqlProposals
from mnemoir.storage.sqlite import open_database
from mnemoir.storage.sqlite.sealed_sql import sealing
from tests.contracts.test_forgotten_sessions import files_with
from tests.contracts.words import ASKED, DEMO, MIRA, NOW, SetClock, fact, keep, texts
from tests.failing_calls import failing_calls
from tests.storage.sealing_kit import cells_in
from tests.storage.sqlite.faulty_disk import faulty_disk

SECRET = "Zanzibarquince"
NOAH = Scope(project="demo", user="noah")


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def store(database, clock) -> SqlMemoryStore:
    return SqlMemoryStore(database, clock)


@pytest.fixture
def queue(database, clock) -> SqlProposals:
    return SqlProposals(database, clock)


def proposal(text: str, user: str = "mira", **members: object) -> Proposal:
    memory = replace(fact(text).memory, user=user)
    given: dict[str, Any] = {
        "event": "ADD",
        "memory": memory,
        "reason": "extracted",
        "proposed_at": to_text(NOW),
    } | members
    return Proposal(id=new_proposal_id(), **given)


async def propose(store, *proposals: Proposal, scope: Scope = MIRA, turn: str = "I said it.") -> None:
    said = Provenance(reason="extracted", model="m", turns=(SourceTurn(role="user", text=turn),), session="s1")
    await store.commit(scope, [], said, queue=QueueStep(proposed=proposals))


async def waiting(queue, scope: Scope = MIRA) -> list[str]:
    return [one.memory.text for one in await queue.all(scope)]


async def test_what_was_proposed_is_read_as_it_was(store, queue):
    memory = fact("Likes tea", metadata={"source": "chat"}, expires_on="2027-01-01").memory
    given = proposal("", memory=memory, model="m", session="s1")
    await propose(store, given)
    assert await queue.all(MIRA) == [replace(given, place=1)]
    assert await queue.find(DEMO, given.id) == (MIRA, replace(given, place=1))
    assert (await texts(store), await queue.total(), await queue.users(DEMO)) == ([], 1, [MIRA])


async def test_an_approved_proposal_gives_its_turns_and_its_model_to_the_history(store, queue):
    given = proposal("Likes tea")
    await propose(store, replace(given, model="m"))
    add = replace(fact("Likes tea"), memory=given.memory)
    await store.commit(MIRA, [add], Provenance(reason="approved"), queue=QueueStep(approved=[given]))
    (event,) = await store.history(MIRA, given.memory.id)
    assert ([turn.text for turn in event.turns], event.model, event.session) == (["I said it."], "m", "s1")
    assert await waiting(queue) == []


async def test_a_proposal_that_was_settled_or_edited_is_stale_and_nothing_is_written(store, queue):
    given = proposal("Likes tea")
    await propose(store, given)
    approval = QueueStep(approved=[given])
    assert await queue.rewrite(MIRA, given, "Likes rum")
    for wait in (["Likes rum"], []):
        with pytest.raises(StaleChange):
            await store.commit(MIRA, [fact("Likes tea")], ASKED, queue=approval)
        assert (await texts(store), await waiting(queue)) == ([], wait)
        await queue.drop(MIRA, [given.id])
    assert not await queue.rewrite(MIRA, given, "Likes gin")


async def test_beyond_a_thousand_the_oldest_are_dropped(store, queue):
    await propose(store, *(proposal(f"Likes {number}") for number in range(MOST_PROPOSALS)))
    await propose(store, proposal("Likes tea"), proposal("Likes rum"))
    found = await waiting(queue)
    assert (len(found), found[0], found[-1]) == (MOST_PROPOSALS, "Likes 2", "Likes rum")


async def test_what_is_too_old_is_not_there_and_leaves_no_byte_once_it_expired(store, queue, clock, tmp_path):
    await propose(store, proposal(f"Owns a {SECRET}"), turn=f"My {SECRET}.")
    clock.move(days=KEPT_DAYS - 1)
    await propose(store, proposal("Likes tea", proposed_at=to_text(clock())))
    assert await queue.expire() == 0
    clock.move(days=2)
    assert (await waiting(queue), await queue.count(MIRA), await queue.total()) == (["Likes tea"], 1, 1)
    assert (await queue.page(MIRA, limit=5)).proposals == await queue.all(MIRA)
    assert await queue.expire() == 1
    assert files_with(tmp_path, SECRET) == []


@pytest.mark.parametrize("user", [MIRA, replace(MIRA, agent="a1")])
async def test_proposals_are_erased_with_the_memories_of_their_scope(store, queue, tmp_path, user):
    memory = fact(f"Owns a {SECRET}", scope=user).memory
    await propose(store, proposal("", memory=memory), scope=user, turn=f"My {SECRET}.")
    await propose(store, proposal("Likes tea", user="noah"), scope=NOAH)
    await store.delete_all(user)
    assert (await waiting(queue, user), await waiting(queue, NOAH)) == ([], ["Likes tea"])
    await queue.forget(user)
    assert files_with(tmp_path, SECRET) == []


async def test_turns_stay_as_long_as_something_came_from_them(store, queue, tmp_path):
    first, second = proposal("Likes tea"), proposal("Likes rum")
    await propose(store, first, second, turn=SECRET)
    await queue.forget(MIRA, [first.id])
    assert files_with(tmp_path, SECRET) != []
    await queue.forget(MIRA, [second.id])
    assert files_with(tmp_path, SECRET) == []


async def test_with_encryption_no_word_of_a_proposal_is_stored_as_it_is(path, clock, tmp_path):
    database = open_database(path, sealing(cells_in(tmp_path / "keys")))
    store, queue = SqlMemoryStore(database, clock), SqlProposals(database, clock)
    given = proposal(f"Owns a {SECRET}", previous_text=SECRET)
    await propose(store, given)
    assert await queue.all(MIRA) == [replace(given, place=1)]
    await database.aclose()
    assert files_with(path.parent, SECRET) == []


@failing_calls
async def test_an_approval_that_fails_at_any_write_or_sync_approves_nothing_and_the_next_works(path, clock, failing):
    with faulty_disk() as disk:
        database = open_database(path)
        store, queue = SqlMemoryStore(database, clock), SqlProposals(database, clock)

        async def approve(given: Proposal) -> None:
            add = replace(fact(given.memory.text), memory=given.memory)
            await store.commit(MIRA, [add], ASKED, queue=QueueStep(approved=[given]))

        first, second = proposal("Likes tea"), proposal("Likes rum")
        await propose(store, first, second)
        with disk.noting() as calls:
            await approve(first)
        for attempt in failing(disk, calls, apsw.IOError):
            connection = apsw.Connection(str(path))
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
            with attempt:
                await approve(second)
            if attempt.struck:
                assert (await texts(store), await waiting(queue)) == (["Likes tea"], ["Likes rum"])
        assert (len(await texts(store)), await waiting(queue)) == (2, [])
        assert await database.check_integrity() == []
        await database.aclose()


async def test_a_proposal_that_fails_to_be_written_takes_the_memories_beside_it_along(path, clock):
    with faulty_disk() as disk:
        database = open_database(path)
        store, queue = SqlMemoryStore(database, clock), SqlProposals(database, clock)
        await keep(store, fact("Likes tea"))
        disk.arm(1, apsw.FullError)
        step = QueueStep(proposed=[proposal("Likes rum")])
        with pytest.raises(Exception, match="full"):
            await store.commit(MIRA, [fact("Likes gin")], ASKED, queue=step)
        disk.disarm()
        assert (await texts(store), await waiting(queue)) == (["Likes tea"], [])
        await database.aclose()
