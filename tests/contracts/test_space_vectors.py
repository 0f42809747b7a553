"""Vectors in a further space: who needs them, and when they are renewed."""

from dataclasses import replace

from mnemoir.core.memories import IndexEntry, Space
from tests.contracts.words import ASKED, MIRA, entry, fact, keep, message, rewrite

MODEL = "many/1"
MANY = Space("multilingual", MODEL)
NOAH = replace(MIRA, user="noah")


def foreign(text):
    """A fact in another language, which asks for a multilingual vector itself."""
    add = fact(text)
    return replace(add, entry=replace(add.entry, waits=frozenset(("multilingual",))))


def many(store):
    return store.in_space("multilingual")


async def waiting(store):
    return [one.text for one in await many(store).without_vector(MODEL, limit=9)]


async def fill(store):
    found = await many(store).without_vector(MODEL, limit=9)
    made = IndexEntry(terms=b"", model=MODEL, vector=b"\0\x3c")
    return await many(store).put_vectors(MODEL, [(one, made) for one in found])


async def further_of(store, scope=MIRA):
    rows = await store.reading(lambda view: view.rows_since(scope, -1))
    return [row.entry.vectors for row in rows]


async def test_a_user_of_english_alone_needs_none(store):
    await keep(store, fact("Likes tea"))
    assert await further_of(store) == [{}]
    assert (await waiting(store), await many(store).backlog(MODEL)) == ([], (0, 0))


async def test_a_first_text_in_another_language_has_one_made_of_every_fact_of_its_user(store):
    await keep(store, fact("Likes tea"))
    await keep(store, fact("Likes gin", scope=NOAH), scope=NOAH)
    await keep(store, foreign("Trinkt gern Rum"))
    await keep(store, fact("Likes ale"))
    assert await waiting(store) == ["Likes tea", "Trinkt gern Rum", "Likes ale"]
    assert await fill(store) == 3
    assert await further_of(store) == [{MANY: b"\0\x3c"}] * 3
    assert await further_of(store, NOAH) == [{}]
    assert await many(store).backlog(MODEL) == (0, 3)


async def test_a_question_has_them_made_once(store):
    await keep(store, fact("Likes tea"))
    assert await many(store).want(MIRA)
    assert not await many(store).want(MIRA)
    assert await waiting(store) == ["Likes tea"]


async def test_a_user_without_memories_is_marked_for_those_to_come(store):
    assert await many(store).want(MIRA)
    await keep(store, fact("Likes tea"))
    assert await waiting(store) == ["Likes tea"]


async def test_a_vector_of_the_main_model_leaves_the_further_one(store):
    await keep(store, fact("Likes tea"))
    await many(store).want(MIRA)
    await fill(store)
    found = await store.without_vector("m2", limit=9)
    assert await store.put_vectors("m2", [(one, entry(one.text, "m2")) for one in found]) == 1
    assert await further_of(store) == [{MANY: b"\0\x3c"}]


async def test_a_new_text_needs_a_new_one(store):
    (tea,) = await keep(store, fact("Likes tea"))
    await many(store).want(MIRA)
    await fill(store)
    await store.commit(MIRA, [rewrite(tea, "Likes green tea")], ASKED)
    assert await waiting(store) == ["Likes green tea"]
    assert await further_of(store) == [{}]


async def test_a_vector_of_a_text_that_changed_meanwhile_is_not_kept(store):
    (tea,) = await keep(store, fact("Likes tea"))
    await many(store).want(MIRA)
    found = await many(store).without_vector(MODEL, limit=9)
    await store.commit(MIRA, [rewrite(tea, "Likes green tea")], ASKED)
    made = IndexEntry(terms=b"", model=MODEL, vector=b"\0\x3c")
    assert await many(store).put_vectors(MODEL, [(one, made) for one in found]) == 0


async def test_another_version_of_the_model_makes_them_anew(store):
    await keep(store, fact("Likes tea"))
    await many(store).want(MIRA)
    await fill(store)
    assert [one.text for one in await many(store).without_vector("many/2", limit=9)] == ["Likes tea"]


async def test_a_user_whose_memories_were_deleted_has_none_left(store):
    await keep(store, fact("Likes tea"), message("Hallo"))
    await many(store).want(MIRA)
    await fill(store)
    await store.delete_all(MIRA)
    assert await many(store).backlog(MODEL) == (0, 0)
