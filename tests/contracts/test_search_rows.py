"""What search reads: rows by revision, and the vectors that are filled in later."""

import asyncio
import math
from dataclasses import replace
from datetime import timedelta

from mnemoir.core.memories import IndexEntry
from mnemoir.memory.names.reading import names_of
from mnemoir.ports.search_rows import SearchRow
from tests.contracts.words import ALL, ASKED, MIRA, NOW, entry, fact, keep, message, remove, rewrite, texts, within

NOAH = replace(MIRA, user="noah")


async def rows(store, changes: int = -1, scope=MIRA) -> list[SearchRow]:
    return list(await store.reading(lambda view: view.rows_since(scope, changes)))


async def revision(store, scope=MIRA) -> tuple[int, int]:
    found = await store.reading(lambda view: view.revision(scope))
    return found.changes, found.removals


async def live(store, scope=MIRA) -> list[int]:
    return list(await store.reading(lambda view: view.live(scope)))


async def shown(store, seqs, scope=MIRA) -> dict[int, str]:
    found = await store.reading(lambda view: view.memories(scope, seqs))
    return {seq: memory.text for seq, memory in found.items()}


def stored_entry(text: str, model: str | None = "m1") -> IndexEntry:
    """The entry of a fact as a store gives it: without token codes, and with the names of its text."""
    return replace(entry(text, model), token_codes=None, names=names_of(fact(text).memory))


async def test_rows_are_read_in_pages_by_their_number(store):
    [first, *_] = await keep(store, *(fact(f"Likes number {number}") for number in range(7)))
    await keep(store, fact("Likes tea", user="noah"), scope=NOAH)
    await store.commit(MIRA, [rewrite(first, "Likes nothing")], ASKED)

    async def page(after: int) -> list[SearchRow]:
        return list(await store.reading(lambda view: view.rows_after(MIRA, after, 3)))

    read = await page(-1)
    while more := await page(read[-1].seq):
        read += more
    assert read == await rows(store)
    assert len(read) == 7


async def test_a_row_holds_what_search_keeps_and_no_token_codes(store):
    await keep(
        store,
        message("I like tea.", agent="a", app="p", conversation="c1", created_at="2026-01-21T09:30:00Z"),
        fact("Likes tea", created_at="garbage", updated_at=None, expires_on="2026-01-21", conversation="c1"),
        fact("Likes rum", model=None),
    )
    first, second, third = await rows(store)
    assert first == SearchRow(
        seq=first.seq,
        is_message=True,
        speaker="Mira",
        agent="a",
        app="p",
        conversation="c1",
        effective_at=NOW.timestamp(),
        said_at=(NOW - timedelta(hours=1)).timestamp(),
        expires_at=math.inf,
        entry=replace(entry("I like tea."), token_codes=None),
    )
    assert (second.is_message, second.effective_at, second.conversation) == (False, math.inf, "c1")
    assert math.isnan(second.said_at)
    assert second.expires_at == (NOW + timedelta(hours=13, minutes=30)).timestamp()
    assert third.entry == stored_entry("Likes rum", None)
    assert first.seq < second.seq < third.seq


async def test_rows_come_once_and_again_when_they_are_rewritten(store):
    tea, rum = await keep(store, fact("Likes tea"), fact("Likes rum"))
    (first, second) = await rows(store)
    (seen, removals) = await revision(store)
    assert await rows(store, seen) == []
    await store.commit(MIRA, [rewrite(tea, "Likes green tea"), rewrite(rum, "Likes rum"), fact("Likes gin")], ASKED)
    again = await rows(store, seen)
    assert [row.seq for row in again][:2] == [first.seq, second.seq]
    assert [row.entry.terms for row in again] == [
        entry(t).terms for t in ("Likes green tea", "Likes rum", "Likes gin")
    ]
    assert (await revision(store))[0] > seen
    assert (await revision(store))[1] == removals
    assert await rows(store, (await revision(store))[0]) == []


async def test_a_row_that_goes_moves_the_removals_and_leaves_the_live_ones(store):
    tea, _, gin, _ = await keep(store, fact("Likes tea"), fact("Likes rum"), fact("Likes gin"), message("Hi"))
    before = await live(store)
    assert before == sorted(before)
    assert len(before) == 4
    assert (await revision(store))[1] == 0
    await store.commit(MIRA, [remove(tea)], ASKED)
    assert (await revision(store))[1] == 1
    await store.delete(MIRA, gin.id)
    assert (await revision(store))[1] == 2
    assert await live(store) == [before[1], before[3]]
    assert [row.seq for row in await rows(store)] == [before[1], before[3]]
    assert await shown(store, before) == {before[1]: "Likes rum", before[3]: "Hi"}
    await store.delete_all(MIRA)
    assert (await live(store), await rows(store), await revision(store)) == ([], [], (await revision(store)))
    assert (await revision(store))[1] == 4


async def test_a_new_row_never_takes_the_place_of_one_that_went(store):
    (tea,) = await keep(store, fact("Likes tea"))
    (before,) = await live(store)
    await store.delete(MIRA, tea.id)
    await keep(store, fact("Likes rum"))
    assert await live(store) > [before]


async def test_rows_of_other_users_are_out_of_reach(store):
    await keep(store, fact("Likes tea"))
    await keep(store, fact("Likes rum", scope=NOAH), scope=NOAH)
    (mine,), (theirs,) = await live(store), await live(store, NOAH)
    assert len(await rows(store)) == 1
    assert await shown(store, [mine, theirs]) == {mine: "Likes tea"}
    codes = await store.reading(lambda view: view.token_codes(MIRA, [mine, theirs]))
    assert codes == {mine: entry("Likes tea").token_codes}
    unknown = replace(MIRA, project="unknown")
    assert (await revision(store, unknown), await rows(store, -1, unknown)) == ((0, 0), [])


async def test_the_rows_of_a_snapshot_do_not_change_under_it(store):
    await keep(store, fact("Likes tea"))

    loop = asyncio.get_running_loop()

    def look(view):
        before = view.revision(MIRA)
        asyncio.run_coroutine_threadsafe(keep(store, fact("Likes rum")), loop).result(10)
        return before == view.revision(MIRA), len(view.rows_since(MIRA, -1)), len(view.live(MIRA))

    assert await store.reading(look) == (True, 1, 1)
    assert len(await rows(store)) == 2


async def test_what_lacks_a_vector_is_told_oldest_first_and_filled_in(store):
    await keep(store, fact("Likes tea", model=None), fact("Likes rum"), fact("Likes gin", model="old"))
    await keep(store, fact("Likes ale", scope=NOAH, model=None), scope=NOAH)
    assert await store.backlog("m1") == (3, 4)
    waiting = await store.without_vector("m1", limit=9)
    assert [(one.scope, one.text, one.context) for one in waiting] == [
        (MIRA, "Likes tea", ""),
        (MIRA, "Likes gin", ""),
        (NOAH, "Likes ale", ""),
    ]
    assert [one.text for one in await store.without_vector("m1", limit=2)] == ["Likes tea", "Likes gin"]
    seen, _ = await revision(store)
    assert await store.put_vectors("m1", [(one, entry(one.text)) for one in waiting]) == 3
    assert (await store.backlog("m1"), await store.without_vector("m1", limit=9)) == ((0, 4), [])
    again = await rows(store, seen)
    assert [row.entry for row in again] == [stored_entry(t) for t in ("Likes tea", "Likes gin")]
    codes = await store.reading(lambda view: view.token_codes(MIRA, [row.seq for row in again]))
    assert list(codes.values()) == [entry("Likes tea").token_codes, entry("Likes gin").token_codes]


async def test_a_vector_of_a_text_that_changed_or_went_meanwhile_is_not_kept(store):
    tea, rum, gin = await keep(store, *(fact(f"Likes {drink}", model=None) for drink in ("tea", "rum", "gin")))
    waiting = await store.without_vector("m1", limit=9)
    await store.commit(MIRA, [rewrite(tea, "Likes green tea")], ASKED)
    for gone in (rum, gin):
        await store.delete(MIRA, gone.id)
    assert await store.put_vectors("m1", [(one, entry(one.text)) for one in waiting]) == 0
    assert [row.entry for row in await rows(store)] == [stored_entry("Likes green tea")]


async def test_a_vector_of_another_model_is_not_kept(store):
    await keep(store, fact("Likes tea", model=None))
    (waiting,) = await store.without_vector("m1", limit=9)
    assert await store.put_vectors("m1", [(waiting, entry("Likes tea", "other"))]) == 0
    assert await store.put_vectors("m1", [(waiting, IndexEntry(terms=b""))]) == 0
    assert await store.backlog("m1") == (1, 1)


async def test_a_message_waits_with_what_was_said_just_before_it_in_its_conversation(store):
    said = [message(f"{n}", conversation="c1", model=None) for n in range(3)]
    late = message("next day", conversation="c1", model=None, created_at="2026-01-22T10:30:00Z")
    others = [message("elsewhere", conversation="c2", model=None), message("noise", conversation="c1", agent="a")]
    await keep(store, said[0], others[0], said[1], others[1], said[2], late)
    waiting = await store.without_vector("m1", limit=9)
    assert {one.text: one.context for one in waiting} == {
        "0": "",
        "elsewhere": "",
        "1": "0",
        "2": "0 1",
        "next day": "",
    }
    assert waiting[0].scope == within(MIRA, conversation="c1")


async def test_revision_moves_with_nothing_that_changes_no_row(store):
    await keep(store, fact("Likes tea"))
    before = await revision(store)
    await keep(store, fact("likes tea"))
    assert await store.delete(MIRA, "mem_unknown") is None
    await texts(store, visible=ALL)
    assert await revision(store) == before


async def test_vectors_of_another_length_are_to_be_made_anew_and_rows_tell_so(store):
    await keep(store, fact("Likes tea"), fact("Likes rum", model="other"), fact("Likes gin"))
    length = len(entry("Likes tea").vector or b"") // 2
    assert await store.forget_other_lengths("m1", length) == 0
    assert await store.backlog("m1") == (1, 3)
    seen, _ = await revision(store)
    assert await store.forget_other_lengths("m1", length + 1) == 2
    assert await store.backlog("m1") == (3, 3)
    again = await rows(store, seen)
    assert [(row.entry.model, row.entry.vector) for row in again] == [(None, None)] * 2
    assert await store.forget_other_lengths("m1", length + 1) == 0
