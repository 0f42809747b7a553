"""Records as hybrid search reads them: what changed is seen, what is stale is not."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mnemoir.core.discussions import BlockChanges, Discussion
from mnemoir.search import terms_of
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from tests.contracts.words import MIRA, NOW, SetClock, entry
from tests.storage.discussions.record_words import (
    THEN,
    asked,
    connected,
    file_of,
    record,
    remember_as_theirs,
    source,
    their_file_of_2026,
)


@pytest.fixture
def tea(tmp_path):
    return Discussion(root=tmp_path, id="tea")


@pytest.fixture
async def store():
    store = SqliteRecordStore(SetClock())
    yield store
    await store.aclose()


class Seen:
    """What one look at the rows gave."""

    def __init__(self, view, since):
        self.revision = view.revision(MIRA)
        self.rows = view.rows_since(MIRA, since)
        self.seqs = [row.seq for row in self.rows]
        self.live = view.live(MIRA)
        self.codes = view.token_codes(MIRA, [*self.live, 99])
        self.memories = view.memories(MIRA, [*self.live, 99])


async def seen(store, discussion, since=-1):
    return await store.rows(discussion).reading(lambda view: Seen(view, since))


async def test_no_file_has_no_rows_and_makes_none(store, tea):
    nothing = await seen(store, tea)
    assert (nothing.seqs, nothing.live, nothing.codes, nothing.memories) == ([], [], {}, {})
    assert list(tea.root.iterdir()) == []


async def test_a_record_is_a_fact_of_whoever_asks(store, tea):
    await store.append(tea, [replace(record("Likes tea"), entry=entry("Likes tea"))], source("one"))
    now = await seen(store, tea)
    (row,), memory = now.rows, now.memories[1]
    assert (row.is_message, row.said_at, row.effective_at, row.expires_at) == (
        False,
        NOW.timestamp(),
        NOW.timestamp(),
        math.inf,
    )
    assert row.entry == replace(entry("Likes tea"), token_codes=None)
    assert now.codes == {1: entry("Likes tea").token_codes}
    assert (memory.id, memory.text, memory.user, memory.metadata["summary"]) == (
        "1",
        "Likes tea",
        "mira",
        "Likes tea",
    )


async def test_a_record_without_an_entry_is_found_by_its_words(store, tea):
    await store.append(tea, [record("Likes tea")], source("one"))
    before = await seen(store, tea)
    assert before.rows[0].entry.terms == terms_of("Likes tea")
    await store.put_entries(tea, {1: replace(record("Likes tea"), entry=entry("x"))})
    after = await seen(store, tea, before.revision.changes)
    assert [row.entry.model for row in after.rows] == ["m1"]


async def test_only_what_changed_comes_again(store, tea):
    await store.append(tea, [record("Tea"), record("Rum")], source("one"))
    first = await seen(store, tea)
    await store.append(tea, [record("Gin")], source("two"))
    second = await seen(store, tea, first.revision.changes)
    assert (first.seqs, second.seqs, second.live) == ([1, 2], [3], [1, 2, 3])
    assert (await seen(store, tea, second.revision.changes)).seqs == []
    assert second.revision.epoch == first.revision.epoch
    assert second.revision.removals == first.revision.removals


async def test_a_stale_chunk_leaves_and_a_revived_one_comes_back(store, tea):
    await store.append(tea, [record("Tea")], source("one"))
    key = await store.append(tea, [record("Rum"), record("Gin")], source("two"))
    first = await seen(store, tea)
    await store.change(tea, BlockChanges(stale=frozenset([key])))
    gone = await seen(store, tea)
    assert (gone.live, gone.seqs, list(gone.memories)) == ([1], [1], [1])
    assert gone.revision.removals > first.revision.removals
    await store.change(tea, BlockChanges(revived=frozenset([key])))
    back = await seen(store, tea, gone.revision.changes)
    assert (back.seqs, back.live) == ([2, 3], [1, 2, 3])


async def test_what_another_program_writes_is_seen(store, tea):
    await store.append(tea, [record("Tea")], source("one"))
    first = await seen(store, tea)
    connection = connected(file_of(tea))
    remember_as_theirs(connection, "Sailed to Crete")
    connection.close()
    second = await seen(store, tea, first.revision.changes)
    assert [(row.seq, row.entry.terms) for row in second.rows] == [(2, terms_of("Sailed to Crete"))]
    asked(file_of(tea), "UPDATE memories SET memory_text = 'Sailed home' WHERE id = 2")
    third = await seen(store, tea, second.revision.changes)
    assert (third.seqs, third.memories[2].text) == ([2], "Sailed home")
    asked(file_of(tea), "DELETE FROM memories WHERE id = 1")
    fourth = await seen(store, tea, third.revision.changes)
    assert (fourth.seqs, fourth.live) == ([], [2])
    assert fourth.revision.removals > third.revision.removals


async def test_a_file_of_another_program_is_read_without_a_write(store, tea):
    their_file_of_2026(file_of(tea), ["Sailed to Crete"], [])
    content = file_of(tea).read_bytes()
    first = await seen(store, tea)
    assert (first.seqs, first.live, first.rows[0].said_at) == ([1], [1], datetime.fromisoformat(THEN).timestamp())
    assert file_of(tea).read_bytes() == content
    connection = connected(file_of(tea))
    remember_as_theirs(connection, "Sailed home")
    connection.close()
    second = await seen(store, tea, first.revision.changes)
    assert (second.seqs, second.revision.epoch) == ([2], first.revision.epoch)
    await store.begin(tea)
    third = await seen(store, tea)
    assert third.seqs == [1, 2]
    assert third.revision.epoch != second.revision.epoch


async def test_tables_that_another_process_adds_are_seen(store, tea):
    their_file_of_2026(file_of(tea), ["Sailed to Crete"], [])
    before = await seen(store, tea)
    assert await store.sources(tea) == {}
    other = SqliteRecordStore(SetClock())
    await other.append(tea, [record("Rum")], source("one"))
    await other.aclose()
    (chunk,) = await store.sources(tea)
    after = await seen(store, tea)
    assert (after.seqs, [block.hash for block in await store.blocks(tea)]) == ([1, 2], ["hash of one"])
    assert after.revision.epoch != before.revision.epoch
    assert [block.key for block in await store.blocks(tea)] == [chunk]


async def test_times_that_nobody_can_read_are_no_times(store, tea):
    their_file_of_2026(file_of(tea), ["Sailed to Crete"], [])
    asked(file_of(tea), "UPDATE memories SET date_added = 'long ago'")
    (row,) = (await seen(store, tea)).rows
    assert math.isnan(row.said_at)
    assert row.effective_at == math.inf


async def test_another_file_under_the_name_is_another_epoch(store, tea):
    made = Discussion(root=tea.root, id="made")
    await store.append(tea, [record("Tea")], source("one"))
    await store.append(made, [record("Rum")], source("one"))
    first = await seen(store, tea)
    await store.put_in_place(tea, made)
    second = await seen(store, tea)
    assert second.revision.epoch != first.revision.epoch
    assert second.memories[1].text == "Rum"
    assert datetime.fromisoformat(second.memories[1].created_at) == NOW.astimezone(UTC)
