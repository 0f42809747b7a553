"""Searches over HTTP, and what they find by links of names."""

import json

import pytest

from mnemoir.core.scope import Scope
from mnemoir.storage.sealing.key_ring import KeyRing
from tests.narrowing import instance
from tests.search.linked_users import user
from tests.server.test_encryption import serving, settled
from tests.storage.sealing_kit import a_key

MEMORIES = "/api/memories"
DAY = "2026-01-01T09:00:00.000Z"
FACTS = ["Sister is called Anna", "Anna works at Norlin", "Likes strong coffee", "Has a blue bicycle", "Reads novels"]
WHERE = "In which town does my sister work?"


async def keep(server, *texts, name="mira", **more):
    messages = [{"role": "user", "content": text} for text in texts]
    await server.post(MEMORIES, {"messages": messages, "user_id": name, "infer": False} | more)


async def find(server, query=WHERE, name="mira", **more):
    return await server.post(f"{MEMORIES}/search", {"query": query, "user_id": name, "limit": 10} | more)


def texts(found):
    return [one["memory"] for one in found["results"]]


async def test_a_linked_memory_is_found_and_tells_the_name_that_led_to_it(server):
    await keep(server, *FACTS, "Quorix pays Norlin", *(f"Does the {what} work" for what in ("odd", "old", "own")))
    found = await find(server, limit=5, explain=True)
    linked = {one["memory"]: one for one in found["results"] if "linked" in one["signals"]}
    assert linked["Quorix pays Norlin"]["linked_by"] == "Norlin"
    assert linked["Quorix pays Norlin"].get("likely", True)
    assert found["stages"]["links"]["skipped"] == ""
    assert not any("linked_by" in one or "signals" in one for one in (await find(server, limit=5))["results"])


async def test_of_results_bounded_by_tokens_the_last_that_fit_are_linked_ones(server):
    await keep(server, *FACTS, *(f"Does my {what} work in the town" for what in "abcdefghij"))
    found = await find(server, limit=0, max_tokens=40)
    assert {"Anna works at Norlin", "Sister is called Anna"} <= set(texts(found))
    assert len(found["results"]) < 10


async def test_without_links_nothing_is_linked_and_with_them_the_first_places_are_the_same(open_server, tmp_path):
    english = {"embedding.multilingual": "off"}
    on = await open_server(english)
    off = await open_server(english | {"storage.data_dir": str(tmp_path / "off"), "graph.links": False})
    facts, questions = user(1)
    for server in (on, off):
        await keep(server, *facts)
    for question, _ in questions:
        plain, linked = [await find(server, question, explain=True) for server in (off, on)]
        assert texts(linked)[:7] == texts(plain)[:7]
        assert "links" not in plain["stages"]
        assert not any("linked" in one["signals"] or "linked_by" in one for one in plain["results"])


async def test_other_words_of_a_first_one_take_no_place(server):
    said = [
        "Sister is called Anna",
        "Sister is named Anna",
        *FACTS[1:],
        *(f"Calls number {n}" for n in "1234"),
    ]
    lines = [json.dumps({"memory": text, "user_id": "mira", "created_at": DAY}) for text in said]
    assert (await server.ask("POST", "/api/import", "\n".join(lines).encode())).status == 200
    scope = Scope(project="default", user="mira")
    found = await server.parts.memory.facts.search(scope, "What is my sister called?", limit=5)
    kept = [hit.memory.text for hit in found.hits]
    assert len(kept) == 5
    assert len([text for text in kept if text.endswith("Anna")]) == 1
    assert "Anna works at Norlin" in kept


async def test_memories_of_conversations_are_not_linked(server):
    await keep(server, *FACTS, run_id="c1")
    found = await find(server, explain=True)
    assert not any("linked" in one["signals"] for one in found["results"])


@pytest.fixture
def encrypted(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(a_key())
    keys.chmod(0o600)
    return {"encryption.mode": "fields", "encryption.key_file": str(keys)}


@pytest.mark.parametrize("kept", ["plain", "encrypted", "files"])
async def test_names_of_an_erased_person_stand_in_no_file(open_server, tmp_path, encrypted, kept):
    files = {"storage.backend": "file", "storage.workspace_root": str(tmp_path / "work")}
    server = await open_server({"plain": {}, "encrypted": encrypted, "files": files}[kept])
    await keep(server, *FACTS)
    await find(server)
    found = b"".join(await names(server))
    keys = {found[at : at + 8] for at in range(0, len(found), 8)}
    assert len(keys) >= 4
    assert any(key in stored(tmp_path) for key in keys) is (kept != "encrypted")
    assert (await server.ask("DELETE", f"{MEMORIES}?user_id=mira")).status == 200
    assert not any(key in stored(tmp_path) for key in keys)


async def test_names_are_the_same_behind_encryption_a_new_key_and_plain_again(tmp_path, encrypted):
    seen = []
    async with serving(tmp_path, {}) as server:
        await keep(server, *FACTS)
        seen.append(await names(server))
    async with serving(tmp_path, encrypted) as server:
        await settled(server)
        seen.append(await names(server))
        instance(KeyRing, server.parts.upkeep.encryption.ring).rotate(("default", "default", "mira"))
        await settled(server)
        seen.append(await names(server))
    async with serving(tmp_path, encrypted | {"encryption.mode": "off"}) as server:
        await settled(server)
        seen.append(await names(server))
    assert seen == [seen[0]] * 4
    assert any(seen[0])


async def names(server):
    """The names of each row of the user, as search reads them."""
    rows = await server.parts.memory.store.reading(
        lambda view: view.rows_since(Scope(project="default", user="mira"), -1)
    )
    return [row.entry.names for row in rows]


def stored(folder):
    """All bytes of all files below a folder."""
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
