"""How long the text of a memory may be that comes in; what is stored already may be longer, and stays as it is."""

import json

import orjson
import pytest

from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.ids import MemoryId, new_proposal_id
from mnemoir.core.memories import Add, IndexEntry, Memory, Provenance
from mnemoir.core.proposals import Proposal
from mnemoir.core.scope import Scope
from mnemoir.search.terms import own_terms, terms_and_forms_of
from tests.server.server_kit import error_of, succeeded

MEMORIES = "/api/memories"
MOST = 32 * 1024
ALLOWED = ["a" * MOST, "ü" * (MOST // 2), "漢" * (MOST // 3), "\U0001f375" * (MOST // 4), "tea " * (MOST // 4)]
TOO_LONG = ["a" * (MOST + 1), "ü" * (MOST // 2 + 1), "漢" * (MOST // 3 + 1), "\U0001f375" * (MOST // 4 + 1)]
MIRA = Scope(project="default", user="mira")


def adding(*texts: str, **more: object) -> dict:
    messages = [{"role": "user", "content": text} for text in texts]
    return {"messages": messages, "user_id": "mira", "infer": False, **more}


async def stored(server, text: str = "I row.") -> str:
    """The id of a memory that is stored, of any length."""
    memory = Memory(id=MemoryId(f"m{len(text)}"), text=text, user="mira", created_at=to_text(utc_now()))
    entry = IndexEntry(terms=terms_and_forms_of(text[:100]))
    await server.parts.memory.store.commit(MIRA, [Add(memory=memory, entry=entry)], Provenance(reason="request"))
    return memory.id


async def proposed(server, text: str = "I sail.") -> str:
    memory = Memory(id=MemoryId("p1"), text=text, user="mira", created_at="2026-01-01T00:00:00Z")
    at = to_text(utc_now())
    proposal = Proposal(id=new_proposal_id(), event="ADD", memory=memory, reason="extracted", proposed_at=at)
    await server.parts.memory.proposals.add(MIRA, [proposal])
    return proposal.id


async def texts(server) -> list[str]:
    return sorted(one["memory"] for one in (await server.get(f"{MEMORIES}?user_id=mira&limit=1000"))["results"])


@pytest.mark.slow
async def test_a_text_of_the_longest_length_is_stored_whole_in_any_script(server):
    for text in ALLOWED:
        await server.post(MEMORIES, adding(text))
    assert await texts(server) == sorted(ALLOWED)


async def test_a_longer_one_is_refused_with_its_size_and_the_setting_and_nothing_is_stored(server):
    id, proposal = await stored(server), await proposed(server)
    other = await stored(server, "I row well.")
    for text in TOO_LONG:
        for method, path, body in (
            ("POST", MEMORIES, adding("short", text)),
            ("POST", MEMORIES, adding(text, async_mode=True)),
            ("POST", MEMORIES, adding(text, dry_run=True)),
            ("PATCH", f"{MEMORIES}/{id}", {"memory": text}),
            ("POST", f"{MEMORIES}/merge", {"user_id": "mira", "ids": [id, other], "keep": id, "memory": text}),
            ("PATCH", f"{MEMORIES}/proposals/{proposal}", {"memory": text}),
        ):
            answer = await server.ask(method, path, body)
            assert (path, error_of(answer)) == (path, (413, "memory_too_long"))
            told = json.loads(answer.body)["detail"]
            assert f"{len(text.encode()):,} bytes" in told
            assert "memory.max_text_kib" in told
    assert await texts(server) == ["I row well.", "I row."]
    assert await server.parts.upkeep.jobs.tally() == []


async def test_all_texts_of_one_request_are_bounded_together(server):
    fits = [f"{number:02}" + "a" * (MOST - 2) for number in range(32)]
    refused = await server.ask("POST", MEMORIES, adding(*fits, "b"))
    assert error_of(refused) == (413, "memory_too_long")
    assert "1,048,577 bytes together" in json.loads(refused.body)["detail"]
    assert await texts(server) == []


async def test_with_inference_a_message_may_be_longer(server):
    long = "I like tea. " + "x" * 2 * MOST
    succeeded(await server.ask("POST", MEMORIES, adding(long) | {"infer": True}))


async def test_the_setting_moves_the_bound(open_server):
    server = await open_server({"memory.max_text_kib": 1})
    await server.post(MEMORIES, adding("a" * 1024))
    refused = await server.ask("POST", MEMORIES, adding("a" * 1025))
    assert "1,025 bytes, and one may have 1,024 (memory.max_text_kib)" in json.loads(refused.body)["detail"]


async def test_longer_lines_of_an_import_are_skipped_by_name_and_the_others_added(server):
    line = {"user_id": "mira", "created_at": "2026-01-01T00:00:00Z"}
    lines = [
        {**line, "id": "a", "memory": "I row."},
        {**line, "id": "b", "memory": "a" * (MOST + 1)},
        {**line, "memory": "ü" * MOST},
        {**line, "kind": "proposal", "event": "ADD", "memory": "c" * (MOST + 1)},
    ]
    sent = b"\n".join(map(orjson.dumps, lines))
    for query in ("?dry_run=true", ""):
        answer = succeeded(await server.ask("POST", f"/api/import{query}", sent))
        assert (answer["imported"], answer["skipped"]) == (1, 3)
        told = [(one["line"], one["id"] == "b", one["size_bytes"]) for one in answer["too_long"]]
        assert told == [(2, True, MOST + 1), (3, False, 2 * MOST), (4, False, MOST + 1)]
    again = succeeded(await server.ask("POST", "/api/import", orjson.dumps(lines[0])))
    assert ("too_long" in again, again["skipped"]) == (False, 1)
    assert await texts(server) == ["I row."]


@pytest.mark.parametrize("backend", ["sqlite", "file"])
async def test_what_is_stored_and_longer_is_read_confirmed_restored_undone_and_deleted(
    open_server, tmp_path, backend
):
    storage = {"storage.backend": backend, "storage.workspace_root": str(tmp_path / "work")}
    server = await open_server(storage)
    long = "tea " + "z" * 3 * MOST
    id = await stored(server, long)
    path = f"{MEMORIES}/{id}"
    found = await server.post(f"{MEMORIES}/search", {"query": "tea", "user_id": "mira"})
    assert [one["memory"] for one in found["results"]] == [long]
    assert long.encode() in (await server.ask("GET", "/api/export?user_id=mira")).body
    succeeded(await server.ask("PATCH", path, {"metadata": {"seen": True}}))
    succeeded(await server.ask("PATCH", path, {"memory": long}))
    succeeded(await server.ask("PATCH", path, {"memory": "short"}))
    [first, *_] = (await server.get(f"{path}/history"))["results"]
    succeeded(await server.ask("POST", f"{path}/restore", {"to": first["id"]}))
    assert await texts(server) == [long]
    succeeded(await server.ask("DELETE", path))
    succeeded(await server.ask("POST", f"{path}/restore?user_id=mira", {}))
    assert await texts(server) == [long]
    succeeded(await server.ask("DELETE", path))
    assert await texts(server) == []


async def test_a_proposal_that_waits_and_is_longer_is_approved(server):
    long = "z" * 3 * MOST
    proposal = await proposed(server, long)
    succeeded(await server.ask("POST", f"{MEMORIES}/proposals/{proposal}/approve"))
    assert await texts(server) == [long]


async def test_the_first_words_of_a_long_text_are_searched_for(open_server):
    server = await open_server({"memory.max_text_kib": 1024})
    text = f"walrus {'ab ' * 7998}otter beaver"
    await server.post(MEMORIES, adding(text))
    rows = await server.parts.memory.database.read(None, lambda sql: sql.rows("SELECT terms FROM entries"))
    assert [own_terms(terms) for (terms,) in rows] == [8000]
    assert await texts(server) == [text]


MOST_METADATA = 16 * 1024


def metadata_of(size: int, letter: str = "a") -> dict[str, str]:
    """Metadata of so many bytes."""
    return {"note": letter * ((size - len('{"note":""}')) // len(letter.encode()))}


async def test_metadata_of_the_largest_size_are_stored_and_larger_ones_refused_with_their_size(server):
    id = await stored(server)
    for letter in ("a", "漢"):
        fits, over = metadata_of(MOST_METADATA, letter), metadata_of(MOST_METADATA + 3, letter)
        for method, path, body in (
            ("POST", MEMORIES, adding("I sail.")),
            ("POST", MEMORIES, adding("I sail.", infer=True)),
            ("POST", MEMORIES, adding("I sail.", async_mode=True)),
            ("PATCH", f"{MEMORIES}/{id}", {}),
        ):
            refused = await server.ask(method, path, body | {"metadata": over})
            assert (path, error_of(refused)) == (path, (413, "metadata_too_large"))
            size = len(json.dumps(over, ensure_ascii=False, separators=(",", ":")).encode())
            assert f"metadata has {size:,} bytes" in json.loads(refused.body)["detail"]
        succeeded(await server.ask("PATCH", f"{MEMORIES}/{id}", {"metadata": fits}))
    assert await texts(server) == ["I row."]


async def test_metadata_that_each_message_gets_count_with_its_own_and_for_each(server):
    half = metadata_of(MOST_METADATA // 2)
    body = adding("One.", "Two.", metadata=half)
    body["messages"][1]["metadata"] = {"other": half["note"] + "x" * 40}
    refused = await server.ask("POST", MEMORIES, body)
    assert error_of(refused) == (413, "metadata_too_large")
    assert "messages.1.metadata has" in json.loads(refused.body)["detail"]
    many = adding(*(f"Number {number}." for number in range(65)), metadata=metadata_of(MOST_METADATA))
    assert error_of(await server.ask("POST", MEMORIES, many)) == (413, "memory_too_long")
    assert await texts(server) == []


async def test_a_message_that_is_not_kept_may_be_of_any_length(server):
    body = adding("I row.")
    body["messages"].insert(0, {"role": "system", "content": "Be kind. " * 200_000})
    await server.post(MEMORIES, body)
    assert await texts(server) == ["I row."]


async def test_a_line_of_an_import_with_larger_metadata_is_skipped_by_name(server):
    line = {"id": "m1", "memory": "I row.", "user_id": "mira", "created_at": "2026-01-01T00:00:00Z"}
    lines = [line | {"metadata": metadata_of(MOST_METADATA + 1)}, line | {"id": "m2", "memory": "I sail."}]
    answer = await server.ask("POST", "/api/import", b"\n".join(map(orjson.dumps, lines)))
    told = succeeded(answer)
    assert (told["imported"], told["too_long"][0]["line"], told["too_long"][0]["id"]) == (1, 1, "m1")
    assert await texts(server) == ["I sail."]


@pytest.mark.parametrize("storage", ["sqlite", "file"])
async def test_metadata_count_for_the_quota_of_bytes(open_server, tmp_path, storage):
    where = {"storage.backend": storage, "storage.workspace_root": str(tmp_path / "workspace")}
    server = await open_server(where | {"quotas.user.memory_bytes": 1000})
    refused = await server.ask("POST", MEMORIES, adding("I row.", metadata=metadata_of(1000)))
    assert error_of(refused) == (403, "quota_exceeded")
    added = await server.post(MEMORIES, adding("I row.", metadata=metadata_of(600)))
    used = [one["used"] for one in (await server.get("/api/usage"))["results"] if one["what"] == "memory_bytes"]
    assert used == [606, 606]  # of the user, and of the tenant
    edit = f"{MEMORIES}/{added['results'][0]['id']}"
    assert error_of(await server.ask("PATCH", edit, {"metadata": metadata_of(1000)})) == (403, "quota_exceeded")
    succeeded(await server.ask("PATCH", edit, {"metadata": metadata_of(900)}))
