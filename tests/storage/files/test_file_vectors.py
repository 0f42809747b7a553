"""Index entries of project files: they outlive the process, follow edits by others and are filled in when missing."""

from dataclasses import replace
from datetime import date

import pytest

from mnemoir.storage.files import FileMemoryStore
from tests.storage.files.file_parts import ASKED, MIRA, embedded, fact, record, words_only


async def rows(store, scope=MIRA, since=-1):
    return await store.reading(lambda snapshot: list(snapshot.rows_since(scope, since)))


async def entries(store):
    return [row.entry for row in await rows(store)]


async def fill(store, model="m1"):
    waiting = await store.without_vector(model, limit=100)
    return await store.put_vectors(model, [(one, embedded(one.text, model)) for one in waiting])


async def codes(store):
    return await store.reading(lambda snapshot: snapshot.token_codes(MIRA, snapshot.live(MIRA)))


async def test_vectors_survive_a_restart(store, workspace, database):
    await store.commit(MIRA, [fact("kept")], ASKED)
    await store.aclose()
    again = FileMemoryStore(workspace.root, database)
    assert await entries(again) == [replace(embedded("kept"), token_codes=None)]
    assert list((await codes(again)).values()) == [embedded("kept").token_codes]
    assert await again.backlog("m1") == (0, 1)
    await again.aclose()


async def test_records_of_another_program_are_found_by_words_and_wait_for_a_vector(store, workspace):
    workspace.put(record("one"), record("two"))
    assert await entries(store) == [words_only("one"), words_only("two")]
    assert await store.backlog("m1") == (2, 2)
    assert [one.text for one in await store.without_vector("m1", limit=1)] == ["one"]


async def test_filled_vectors_come_to_search_as_rewritten_rows(store, workspace):
    workspace.put(record("one"), record("two"))
    before = await store.reading(lambda snapshot: snapshot.revision(MIRA))
    assert await fill(store) == 2
    assert [row.entry.model for row in await rows(store, since=before.changes)] == ["m1", "m1"]
    assert await store.backlog("m1") == (0, 2)


async def test_times_follow_edits_by_others(store, workspace):
    await store.commit(MIRA, [fact("one"), fact("two")], ASKED)
    assert await store.additions_by_day(date(2026, 1, 1)) == {"2026-03-04": 2}
    one, two = workspace.records()
    workspace.put(one | {"created_at": "2026-03-07T12:00:00Z"}, two)
    assert await store.additions_by_day(date(2026, 1, 1)) == {"2026-03-04": 1, "2026-03-07": 1}
    assert (await store.backlog("m1"), len(await codes(store))) == ((0, 2), 2)


async def test_a_text_changed_by_hand_loses_its_vector_and_gets_a_new_one(store, workspace):
    await store.commit(MIRA, [fact("before"), fact("untouched")], ASKED)
    changed, untouched = workspace.records()
    workspace.put(changed | {"memory": "after"}, untouched)
    assert await entries(store) == [words_only("after"), replace(embedded("untouched"), token_codes=None)]
    assert len(await codes(store)) == 1
    assert [one.text for one in await store.without_vector("m1", limit=9)] == ["after"]


async def test_a_vector_of_a_text_that_changed_meanwhile_is_not_kept(store, workspace):
    workspace.put(record("before", id="x"))
    waiting = await store.without_vector("m1", limit=9)
    workspace.put(record("after", id="x"))
    assert await store.put_vectors("m1", [(one, embedded(one.text)) for one in waiting]) == 0
    assert await entries(store) == [words_only("after")]


async def test_entries_of_records_taken_out_by_hand_are_dropped(store, workspace):
    await store.commit(MIRA, [fact("gone"), fact("kept")], ASKED)
    workspace.put(workspace.records()[1])
    assert await store.backlog("m1") == (0, 1)


async def test_entries_of_deleted_memories_are_dropped_with_them(store):
    applied = await store.commit(MIRA, [fact("gone"), fact("kept")], ASKED)
    await store.delete(MIRA, applied[0].memory.id)
    assert await store.backlog("m1") == (0, 1)
    await store.delete_all(MIRA)
    assert await store.backlog("m1") == (0, 0)


async def test_another_model_makes_every_vector_wait(store):
    await store.commit(MIRA, [fact("one"), fact("two")], ASKED)
    assert await store.backlog("m2") == (2, 2)
    assert await fill(store, "m2") == 2
    assert {entry.model for entry in await entries(store)} == {"m2"}


async def test_a_damaged_project_does_not_keep_the_others_waiting(store, workspace):
    workspace.put(record("fine"), project="fine")
    workspace.put(record("early"), project="broken")
    assert await store.backlog("m1") == (2, 2)
    workspace.put_bytes(b"[", project="broken")
    assert [one.text for one in await store.without_vector("m1", limit=1)] == ["fine"]


async def test_a_message_is_embedded_with_the_two_said_before_it(store, workspace):
    said = [("a", "s1"), ("b", "s2"), ("c", "s1"), ("d", "s1"), ("e", "s1")]
    workspace.put(*(record(text, kind="message", run_id=run) for text, run in said), record("fact"))
    waiting = await store.without_vector("m1", limit=9)
    assert [(one.text, one.context) for one in waiting] == [
        *(("a", ""), ("b", ""), ("c", "a"), ("d", "a c"), ("e", "c d"), ("fact", ""))
    ]


async def test_search_reads_the_rows_of_one_user_only(store, workspace):
    workspace.put(record("hers"), record("his", user_id="tom"))
    row, other = [(await rows(store, replace(MIRA, user=user)))[0] for user in ("mira", "tom")]
    assert (row.entry, other.entry) == (words_only("hers"), words_only("his"))
    shown = await store.reading(lambda snapshot: snapshot.memories(MIRA, [row.seq, other.seq]))
    assert [memory.text for memory in shown.values()] == ["hers"]


async def test_what_search_raises_comes_back(store):
    with pytest.raises(ZeroDivisionError):
        await store.reading(lambda snapshot: 1 // 0)
