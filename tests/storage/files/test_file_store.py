"""The file store and its file: what a change leaves alone, and what it makes of edits by others."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemoir.core.errors import Conflict, InvalidRequest, NotSupported, StorageUnavailable
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry, Provenance, Remove, SourceTurn, Update
from mnemoir.ports.memory_store import Project, Receipt, Visible
from mnemoir.storage.files import FileMemoryStore
from tests.decay_table import DECAY_TABLE
from tests.narrowing import present
from tests.storage.files.file_parts import ASKED, MIRA, NOON, fact, record, words_only

NOW = datetime(2026, 1, 21, 10, 30, tzinfo=UTC)
EVERYTHING = Visible(now=datetime(2026, 3, 4, 12, tzinfo=UTC))


async def texts(store, scope=MIRA):
    return [memory.text for memory in await store.page(scope, EVERYTHING, limit=1000)]


def update(target, expected, text):
    return Update(target=target, expected=expected, text=text, entry=words_only(text))


async def test_reading_creates_no_folder(store, workspace):
    assert await texts(store) == []
    assert await store.delete_all(MIRA) == 0
    assert await store.delete(MIRA, "mem_1") is None
    assert not workspace.root.exists()


async def test_a_change_leaves_all_other_records_as_they_were(store, workspace):
    others = [
        record("old", mood="glad", nested={"a": [1, 2.5, None]}, categories=["x"]),
        record("theirs", user_id="tom", updated_at="sometime", created_at=17),
        {"note": "no memory at all"},
        {"id": 5, "memory": "numbered", "user_id": "mira"},
    ]
    workspace.put(*others)
    added = await store.commit(MIRA, [fact("new")], ASKED)
    assert workspace.records()[:-1] == others
    assert workspace.records()[-1]["id"] == added[0].memory.id


async def test_an_update_keeps_unknown_members_and_the_place_in_the_file(store, workspace):
    workspace.put(record("first", mood="glad"), record("second"))
    applied = await store.commit(MIRA, [update("x-first", "first", "changed")], ASKED)
    first, second = workspace.records()
    assert first == record("first", memory="changed", mood="glad", updated_at=applied[0].memory.updated_at)
    assert second == record("second")


async def test_a_record_without_updated_at_stays_without(store, workspace):
    workspace.put(record("old"))
    await store.commit(MIRA, [fact("new")], ASKED)
    assert "updated_at" not in workspace.records()[0]
    assert (await store.get(MIRA, "x-old")).updated_at is None


async def test_a_removed_memory_is_gone_from_the_file_and_keeps_its_history(store, workspace):
    workspace.put(record("old"))
    turns = [SourceTurn(role="user", text="not any more")]
    removed = await store.commit(
        MIRA,
        [Remove(target=MemoryId("x-old"), expected="old")],
        Provenance(reason="extracted", model="m", turns=turns),
    )
    assert workspace.records() == []
    assert [(one.event, one.memory.text) for one in removed] == [("DELETE", "old")]
    (entry,) = await store.history(MIRA, "x-old")
    assert (entry.event, entry.old_text, entry.new_text, list(entry.turns)) == ("DELETE", "old", None, turns)


@pytest.mark.parametrize("content", [b"{}", b'[{"id": "x', b"[1]"])
async def test_a_damaged_file_fails_every_request_until_it_is_repaired(store, workspace, content):
    workspace.put_bytes(content)
    for request in (
        lambda: texts(store),
        lambda: store.commit(MIRA, [fact("new")], ASKED),
        lambda: store.delete_all(MIRA),
        lambda: store.reading(lambda snapshot: snapshot.revision(MIRA)),
    ):
        with pytest.raises(StorageUnavailable, match="is damaged"):
            await request()
    assert workspace.file().read_bytes() == content
    workspace.put(record("repaired"))
    assert await texts(store) == ["repaired"]


async def test_an_edit_by_another_program_is_seen_at_once(store, workspace):
    await store.commit(MIRA, [fact("ours")], ASKED)
    before = await store.reading(lambda snapshot: snapshot.revision(MIRA))
    workspace.put(*workspace.records(), record("theirs"))
    assert sorted(await texts(store)) == ["ours", "theirs"]
    assert (await store.reading(lambda snapshot: snapshot.revision(MIRA))).epoch != before.epoch


async def test_our_own_change_is_no_edit_by_another_program(store):
    await store.commit(MIRA, [fact("first")], ASKED)
    before = await store.reading(lambda snapshot: snapshot.revision(MIRA))
    await store.commit(MIRA, [fact("second")], ASKED)
    after = await store.reading(lambda snapshot: snapshot.revision(MIRA))
    assert (after.epoch, after.changes) == (before.epoch, before.changes + 1)


async def test_a_file_taken_away_is_no_memories(store, workspace):
    await store.commit(MIRA, [fact("ours")], ASKED)
    workspace.file().unlink()
    assert await texts(store) == []
    assert await store.backlog("m1") == (0, 0)


async def test_fifty_adds_at_once_lose_nothing(store, workspace):
    wanted = [f"fact {number}" for number in range(50)]
    await asyncio.gather(*(store.commit(MIRA, [fact(text)], ASKED) for text in wanted))
    assert sorted(kept["memory"] for kept in workspace.records()) == sorted(wanted)


async def test_fifty_adds_through_two_stores_of_one_workspace_lose_nothing(store, workspace, database):
    other = FileMemoryStore(workspace.root, database)
    wanted = [f"fact {number}" for number in range(50)]
    stores = [store, other] * 25
    await asyncio.gather(*(s.commit(MIRA, [fact(text)], ASKED) for s, text in zip(stores, wanted, strict=True)))
    await other.aclose()
    assert sorted(kept["memory"] for kept in workspace.records()) == sorted(wanted)


async def test_the_same_fact_told_at_once_is_stored_once(store, workspace):
    tellings = ["Likes tea", "likes  TEA.", "Likes tea!"] * 3
    applied = await asyncio.gather(*(store.commit(MIRA, [fact(text)], ASKED) for text in tellings))
    assert len(workspace.records()) == 1
    assert sum(len(one) for one in applied) == 1


async def test_a_receipt_outlives_the_process_and_answers_a_repeat(store, workspace, database):
    receipt = Receipt(key="k", request_hash="h")
    first = await store.commit(MIRA, [fact("Likes tea")], ASKED, receipt=receipt)
    await store.aclose()
    again = FileMemoryStore(workspace.root, database)
    assert await again.commit(MIRA, [fact("Likes coffee")], ASKED, receipt=receipt) == first
    assert present(await again.redeem(MIRA, "k")).applied == first
    with pytest.raises(Conflict):
        await again.commit(MIRA, [], ASKED, receipt=replace(receipt, request_hash="other"))
    assert workspace.texts() == ["Likes tea"]
    await again.aclose()


async def test_a_text_that_another_fact_has_already_leaves_one_of_them(store, workspace):
    workspace.put(record("Likes tea"), record("Likes coffee"))
    applied = await store.commit(MIRA, [update("x-Likes coffee", "Likes coffee", "likes tea.")], ASKED)
    assert [(one.event, one.memory.id) for one in applied] == [
        ("DELETE", "x-Likes coffee"),
        ("UPDATE", "x-Likes tea"),
    ]
    assert workspace.texts() == ["Likes tea"]


async def test_renewing_a_memory_keeps_its_vector(store):
    (added,) = await store.commit(MIRA, [fact("Likes tea")], ASKED)
    await store.commit(MIRA, [update(added.memory.id, "Likes tea", "Likes tea")], ASKED)
    assert await store.backlog("m1") == (0, 1)
    assert (await store.get(MIRA, added.memory.id)).updated_at > NOON


async def test_a_change_goes_on_when_its_caller_is_cancelled(store, workspace):
    asking = asyncio.create_task(store.commit(MIRA, [fact("kept")], ASKED))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await store.aclose()
    assert [kept["memory"] for kept in workspace.records()] == ["kept"]


async def test_a_closed_store_refuses_changes(store):
    await store.aclose()
    with pytest.raises(StorageUnavailable, match="closed"):
        await store.commit(MIRA, [fact("late")], ASKED)


@pytest.mark.parametrize(("created_at", "updated_at", "visible"), [*DECAY_TABLE, (None, 17, True)])
async def test_decay_follows_the_table(store, workspace, created_at, updated_at, visible):
    times = {"created_at": created_at, "updated_at": updated_at}
    workspace.put(record("kept", **{name: time for name, time in times.items() if time is not None}))
    shown = Visible(now=NOW, horizon=NOW - timedelta(days=6))
    assert await store.count(MIRA, shown) == len(await store.page(MIRA, shown, limit=9)) == int(visible)
    assert await store.get(MIRA, "x-kept") is not None


async def test_an_expired_memory_is_hidden_after_its_last_day(store, workspace):
    workspace.put(record("yesterday", expiration_date="2026-01-20"), record("today", expiration_date="2026-01-21"))
    assert [memory.text for memory in await store.page(MIRA, Visible(now=NOW), limit=9)] == ["today"]


async def test_an_earlier_state_cannot_be_shown(store, workspace):
    workspace.put(record("kept"))
    with pytest.raises(NotSupported, match="STORAGE_BACKEND=sqlite"):
        await store.page(MIRA, Visible(now=NOW, at=NOW), limit=9)


async def test_odd_times_come_back_as_they_were_and_sort_last(store, workspace):
    workspace.put(record("odd", created_at="last spring"), record("usual"))
    page = await store.page(MIRA, EVERYTHING, limit=9)
    assert [(memory.text, memory.created_at) for memory in page] == [("usual", NOON), ("odd", "last spring")]


async def test_a_second_record_under_one_id_is_hidden_kept_and_removed_with_the_first(store, workspace):
    workspace.put(record("first", id="x"), record("second", id="x"))
    assert await texts(store) == ["first"]
    await store.commit(MIRA, [fact("new")], ASKED)
    assert [kept["memory"] for kept in workspace.records()] == ["first", "second", "new"]
    await store.delete(MIRA, "x")
    assert [kept["memory"] for kept in workspace.records()] == ["new"]


async def test_one_id_of_two_users_is_two_memories(store, workspace):
    workspace.put(record("hers", id="x"), record("his", id="x", user_id="tom"))
    tom = replace(MIRA, user="tom")
    assert [(await store.get(scope, "x")).text for scope in (MIRA, tom)] == ["hers", "his"]
    assert (await store.delete(tom, "x")).text == "his"
    assert await texts(store) == ["hers"]
    assert await store.backlog("m1") == (1, 1)


async def test_tenants_never_share_a_project(store, workspace):
    theirs = replace(MIRA, tenant="acme")
    await store.commit(MIRA, [fact("ours")], ASKED)
    await store.commit(theirs, [fact("theirs")], ASKED)
    assert (await texts(store), await texts(store, theirs)) == (["ours"], ["theirs"])
    assert await store.users(Project(tenant="acme", project="demo")) == [theirs]


async def test_a_memory_of_another_user_is_refused(store, workspace):
    with pytest.raises(InvalidRequest, match="another user"):
        await store.commit(MIRA, [fact("wrong", user="tom")], ASKED)
    assert not workspace.file().exists()


async def test_a_failing_commit_writes_none_of_its_changes(store, workspace):
    workspace.put(record("old"))
    before = workspace.file().read_bytes()
    bad = fact("bad", metadata={"text": "\ud800"}, entry=IndexEntry(terms=b""))
    with pytest.raises(InvalidRequest, match="JSON"):
        await store.commit(MIRA, [fact("good"), bad], ASKED)
    assert workspace.file().read_bytes() == before
    assert await texts(store) == ["old"]
