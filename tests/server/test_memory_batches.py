"""One change of several memories over the API: tags, a last day, another project, deletion; and its undo."""

import asyncio
import json
from pathlib import Path

import pytest

from mnemoir.search.indexing import Indexing
from tests.server.conftest import OpenServer
from tests.server.server_kit import Server, error_of, succeeded

MEMORIES = "/api/memories"
NOTHING = {"delete": (1, 1.0, None), "tags": (None, {}, {"add": [], "remove": []}), "project": (None,)}
TEXTS = ("Likes tea", "Rows", "Owns a boat")


@pytest.fixture(params=["sqlite", "file"])
async def server(request, open_server: OpenServer, tmp_path: Path) -> Server:
    return await open_server(
        {"storage.backend": request.param, "storage.workspace_root": str(tmp_path / "workspace")}, decay_days=None
    )


async def remember(server: Server, *texts: str, project: str = "default", **more: object) -> list[str]:
    """Facts of mira by way of an import; their ids."""
    lines = [
        {"id": f"mem_{n}", "memory": text, "user_id": "mira", "created_at": f"2026-01-{n:02}"} | more
        for n, text in enumerate(texts, start=1)
    ]
    body = "\n".join(json.dumps(line) for line in lines).encode()
    succeeded(await server.ask("POST", f"/api/import?project={project}", body))
    return [str(line["id"]) for line in lines]


async def listed(server: Server, query: str = "&hidden=with") -> dict[str, dict]:
    """The memories by their texts."""
    page = await server.get(f"{MEMORIES}?user_id=mira{query}")
    return {memory["memory"]: memory for memory in page["results"]}


async def batch(server: Server, ids: list[str], **what: object) -> list[dict]:
    answer = await server.post(f"{MEMORIES}/batch", {"user_id": "mira", "ids": ids} | what)
    changes: list[dict] = answer["changes"]
    return changes


async def undo(server: Server, changes: list[dict]) -> None:
    for change in changes:
        path = f"{MEMORIES}/changes/{change['id']}/undo?user_id=mira&project={change['project']}"
        succeeded(await server.ask("POST", path, {}))


def said(memories: dict[str, dict]) -> dict[str, dict]:
    """What they are but for the times of their changes."""
    return {text: {**memory, "updated_at": None} for text, memory in memories.items()}


async def test_tags_are_added_and_taken_away_and_other_metadata_stay(server):
    tea, rows, _ = await remember(server, *TEXTS, metadata={"topic": "life", "tags": ["old"]})
    before = await listed(server)
    [change] = await batch(server, [tea, rows], tags={"add": ["sea", "old"], "remove": []})
    assert change["memories"] == 2
    after = await listed(server)
    assert [after[text]["metadata"] for text in TEXTS] == [
        *[{"topic": "life", "tags": ["old", "sea"]}] * 2,
        {"topic": "life", "tags": ["old"]},
    ]
    assert await batch(server, [tea], tags={"add": ["sea"]}) == []
    await batch(server, [rows], tags={"remove": ["old", "sea"]})
    assert (await listed(server))["Rows"]["metadata"] == {"topic": "life"}
    tagged = await server.get(f'{MEMORIES}?user_id=mira&metadata={{"tags":["old","sea"]}}')
    assert [memory["memory"] for memory in tagged["results"]] == ["Likes tea"]
    (last,) = (await server.get(f"{MEMORIES}/changes?user_id=mira&limit=1"))["results"]
    await undo(server, [{"id": last["id"], "project": "default"}, change])
    assert said(await listed(server)) == said(before)


async def test_a_last_day_hides_memories_and_its_undo_shows_them(server):
    ids = await remember(server, *TEXTS)
    changes = await batch(server, ids[:2], expiration_date="2026-01-20")
    assert sorted(await listed(server, "&hidden=without")) == ["Owns a boat"]
    assert (await listed(server))["Rows"]["expiration_date"] == "2026-01-20"
    await undo(server, changes)
    assert sorted(await listed(server, "&hidden=without")) == sorted(TEXTS)
    assert "expiration_date" not in (await listed(server))["Rows"]
    await batch(server, ids[:1], expiration_date="2099-12-31")
    await batch(server, ids, expiration_date=None)
    assert not any("expiration_date" in memory for memory in (await listed(server)).values())


async def test_what_is_deleted_together_comes_back_together(server):
    ids = await remember(server, *TEXTS)
    before = await listed(server)
    [change] = await batch(server, ids[:2], delete=True)
    assert sorted(await listed(server)) == ["Owns a boat"]
    logged = (await server.get(f"{MEMORIES}/changes?user_id=mira&limit=1"))["results"][0]
    assert (logged["id"], len(logged["rows"])) == (change["id"], 2)
    await undo(server, [change])
    assert await listed(server) == before


async def test_no_time_shows_what_was_deleted(open_server):
    server = await open_server(decay_days=None)
    tea, *_ = await remember(server, *TEXTS)
    succeeded(await server.ask("PATCH", f"{MEMORIES}/{tea}?user_id=mira", {"memory": "Likes cocoa"}))
    assert len(await listed(server, "&at=2026-02-01")) == 3
    await batch(server, [tea], delete=True)
    assert sorted(await listed(server, "&at=2026-02-01")) == ["Owns a boat", "Rows"]


async def test_what_is_moved_is_in_the_other_project_and_its_undo_brings_it_back(server):
    ids = await remember(server, *TEXTS, metadata={"topic": "life"}, origin="person")
    await remember(server, "Rows", project="sea")
    before, there = await listed(server), await listed(server, "&project=sea")
    changes = await batch(server, ids[:2], project="sea")
    assert [(change["project"], change["memories"]) for change in changes] == [("default", 2), ("sea", 1)]
    assert sorted(await listed(server)) == ["Owns a boat"]
    moved = await listed(server, "&project=sea")
    assert sorted(moved) == ["Likes tea", "Rows"]
    kept = ("created_at", "metadata", "origin")
    assert [moved["Likes tea"][name] for name in kept] == [before["Likes tea"][name] for name in kept]
    found = await server.post(f"{MEMORIES}/search?project=sea", {"query": "tea?", "user_id": "mira"})
    assert found["results"][0]["memory"] == "Likes tea"
    await undo(server, changes)
    assert (await listed(server), await listed(server, "&project=sea")) == (before, there)


async def test_a_memory_that_two_moves_want_is_in_one_project(server):
    ids = await remember(server, *TEXTS)
    moves = [{"user_id": "mira", "ids": ids, "project": project} for project in ("sea", "lake", "sea")]
    answers = await asyncio.gather(*(server.ask("POST", f"{MEMORIES}/batch", move) for move in moves))
    assert sorted(answer.status for answer in answers)[0] == 200
    found = [await listed(server, f"&project={project}") for project in ("default", "sea", "lake")]
    assert sorted(text for memories in found for text in memories) == sorted(TEXTS)


async def test_a_move_needs_no_room_within_a_quota(open_server):
    server = await open_server({"quotas.user.memories": 3, "quotas.user.memory_bytes": 40}, decay_days=None)
    ids = await remember(server, *TEXTS)
    await batch(server, ids, project="sea")
    assert (await listed(server), sorted(await listed(server, "&project=sea"))) == ({}, sorted(TEXTS))


async def test_a_move_that_is_refused_leaves_nothing_behind(server, monkeypatch):
    tea, *others = await remember(server, *TEXTS)
    entries = Indexing.entries

    async def entries_after_a_tag(*args):
        monkeypatch.setattr(Indexing, "entries", entries)
        await batch(server, [tea], tags={"add": ["sea"]})
        return await entries(*args)

    monkeypatch.setattr(Indexing, "entries", entries_after_a_tag)
    refused = await server.ask(
        "POST", f"{MEMORIES}/batch", {"user_id": "mira", "ids": [tea, *others], "project": "sea"}
    )
    assert error_of(refused) == (409, "memory_changed")
    assert (sorted(await listed(server)), await listed(server, "&project=sea")) == (sorted(TEXTS), {})
    assert (await listed(server))["Likes tea"]["metadata"] == {"tags": ["sea"]}


async def test_a_batch_with_an_unknown_memory_or_no_one_thing_changes_nothing(server):
    ids = await remember(server, *TEXTS)
    before = await listed(server)
    asked = {"user_id": "mira", "ids": [*ids, "mem_none"], "delete": True}
    assert error_of(await server.ask("POST", f"{MEMORIES}/batch", asked)) == (404, "memory_not_found")
    for what in (
        *({}, {"delete": False}, {"delete": True, "project": "sea"}, {"project": "../x"}, {"tags": {"add": [" "]}}),
        *({"expiration_date": "soon"}, {"tags": {"add": ["x" * 65]}}, {"delete": True, "ids": []}, {"drop": True}),
    ):
        refused = await server.ask("POST", f"{MEMORIES}/batch", {"user_id": "mira", "ids": ids} | what)
        assert (refused.status in (400, 422), what) == (True, what)
    stays = await server.ask("POST", f"{MEMORIES}/batch", {"user_id": "mira", "ids": ids, "project": "default"})
    assert stays.status == 400
    assert await listed(server) == before


async def test_a_batch_that_asks_for_nothing_is_refused_by_the_name_of_its_member(open_server):
    server = await open_server()
    for member, values in NOTHING.items():
        for value in values:
            body = {"user_id": "mira", "ids": ["mem_1"], member: value}
            refused = await server.ask("POST", f"{MEMORIES}/batch", body)
            told = str(json.loads(refused.body)["detail"])
            assert (refused.status, member in told, "must" in told) == (422, True, True), (member, value, told)


async def test_tags_that_are_no_list_are_left_to_the_one_who_wrote_them(server):
    ids = await remember(server, "Likes tea", metadata={"tags": {"a": 1}})
    body = {"user_id": "mira", "ids": ids, "tags": {"add": ["sea"]}}
    refused = await server.ask("POST", f"{MEMORIES}/batch", body)
    assert (refused.status, b"tags" in refused.body) == (400, True)
