"""The log of a user's changes, and undo: one whole change is taken back, or nothing is."""

import asyncio
from pathlib import Path

import pytest

from mnemoir.ports.memory_store import Project
from tests.server.conftest import OpenServer
from tests.server.server_kit import Server, error_of, succeeded
from tests.server.test_memory_curation import MEMORIES, edit, remember, restore, told

LOG = f"{MEMORIES}/changes"
_DEMO = Project(tenant="default", project="default")


@pytest.fixture(params=["sqlite", "file"])
async def server(request, open_server: OpenServer, tmp_path: Path) -> Server:
    return await open_server(
        {"storage.backend": request.param, "storage.workspace_root": str(tmp_path / "workspace")}
    )


async def log(server: Server, user: str = "mira") -> list[dict]:
    found: list[dict] = (await server.get(f"{LOG}?user_id={user}"))["results"]
    return found


async def undo(server: Server, change: dict | str, user: str = ""):
    change_id = change if isinstance(change, str) else change["id"]
    return await server.ask("POST", f"{LOG}/{change_id}/undo" + (f"?user_id={user}" if user else ""))


async def undone(server: Server, change: dict | str) -> list[tuple[str, str]]:
    answer = succeeded(await undo(server, change))
    assert (await log(server))[0]["id"] == answer["id"]
    return [(each["event"], each["memory"]) for each in answer["results"]]


async def refusal(server: Server, change: dict | str, user: str = "") -> tuple[int, str, str]:
    answer = await undo(server, change, user)
    return (*error_of(answer), answer.body.decode())


async def merge(server: Server, *ids: str, **more: object):
    body = {"user_id": "mira", "ids": list(ids), "keep": ids[0]} | more
    return await server.ask("POST", f"{MEMORIES}/merge", body)


async def test_the_log_shows_each_commit_with_its_rows_newest_first(server):
    tea, _ = await remember(server, "Likes tea", "Rows")
    succeeded(await edit(server, tea, {"memory": "Likes rum"}))
    succeeded(await server.ask("DELETE", f"{MEMORIES}/{tea}"))
    await remember(server, "Likes snow", user="noah")
    deleted, edited, imported = await log(server)
    assert [
        [(row["event"], row["old_memory"], row["new_memory"]) for row in change["rows"]]
        for change in (deleted, edited, imported)
    ] == [
        [("DELETE", "Likes rum", None)],
        [("UPDATE", "Likes tea", "Likes rum")],
        [("ADD", None, "Likes tea"), ("ADD", None, "Rows")],
    ]
    assert {row["memory_id"] for row in edited["rows"]} == {tea}
    assert [row["reason"] for row in imported["rows"]] == ["import", "import"]
    assert deleted["id"].startswith("chg_")
    assert len(deleted["id"]) == 36


async def test_the_log_comes_in_pages(server):
    for number in range(5):
        await remember(server, "x" * (number + 1))
    whole = [change["id"] for change in await log(server)]
    paged, cursor = [], ""
    while cursor is not None:
        page = await server.get(f"{LOG}?user_id=mira&limit=2{cursor and f'&cursor={cursor}'}")
        paged += [change["id"] for change in page["results"]]
        cursor = page["next"]
    assert paged == whole
    assert len(whole) == 5
    assert error_of(await server.ask("GET", f"{LOG}?user_id=mira&cursor=x")) == (400, "invalid_cursor")
    assert error_of(await server.ask("GET", LOG)) == (400, "missing_user_id")


async def test_an_import_is_undone_as_a_whole_and_its_undo_is_undone(server):
    await remember(server, "Likes tea", "Rows", metadata={"a": 1})
    before = (await server.get(f"{MEMORIES}/mira"))["results"]
    (imported,) = await log(server)
    assert await undone(server, imported) == [("DELETE", "Rows"), ("DELETE", "Likes tea")]
    assert await told(server) == []
    assert await undone(server, (await log(server))[0]) == [("ADD", "Likes tea"), ("ADD", "Rows")]
    assert (await server.get(f"{MEMORIES}/mira"))["results"] == before
    again, first, original = await log(server)
    assert (first["undo_of"], first["undone_by"]) == (original["id"], again["id"])
    assert (again["undo_of"], again["undone_by"], original["undone_by"]) == (first["id"], None, None)
    assert {row["reason"] for row in first["rows"]} == {"undone"}


async def test_an_edit_is_undone_with_its_metadata_and_time_and_found_again(server):
    (pens,) = await remember(server, "Collects old fountain pens", metadata={"a": 1})
    before = (await server.get(f"{MEMORIES}/mira"))["results"]
    succeeded(await edit(server, pens, {"memory": "Likes rum", "metadata": {"b": 2}}))
    assert await undone(server, (await log(server))[0]) == [("UPDATE", "Collects old fountain pens")]
    assert (await server.get(f"{MEMORIES}/mira"))["results"] == before
    found = await server.post(f"{MEMORIES}/search", {"query": "which pens?", "user_id": "mira"})
    assert [hit["id"] for hit in found["results"]] == [pens]
    assert await undone(server, (await log(server))[0]) == [("UPDATE", "Likes rum")]
    assert (await server.get(f"{MEMORIES}/mira"))["results"][0]["metadata"] == {"b": 2}


async def test_a_change_of_metadata_alone_is_undone(server):
    (tea,) = await remember(server, "Likes tea", metadata={"a": 1})
    succeeded(await edit(server, tea, {"metadata": None}))
    await undone(server, (await log(server))[0])
    assert (await server.get(f"{MEMORIES}/mira"))["results"][0]["metadata"] == {"a": 1}
    status, code, _ = await refusal(server, (await log(server))[1])
    assert (status, code) == (409, "change_conflict")


async def test_a_merge_is_undone_as_a_whole(server):
    tea, green, _ = await remember(server, "Likes tea", "Likes green tea", "Rows")
    succeeded(await merge(server, tea, green, memory="Likes green tea"))
    assert sorted(await told(server)) == ["Likes green tea", "Rows"]
    assert len(await undone(server, (await log(server))[0])) == 2
    assert sorted(await told(server)) == ["Likes green tea", "Likes tea", "Rows"]
    assert len(await undone(server, (await log(server))[0])) == 2
    assert sorted(await told(server)) == ["Likes green tea", "Rows"]


async def test_a_deletion_and_a_restoring_are_undone(server):
    (tea,) = await remember(server, "Likes tea")
    succeeded(await server.ask("DELETE", f"{MEMORIES}/{tea}"))
    assert await undone(server, (await log(server))[0]) == [("ADD", "Likes tea")]
    succeeded(await server.ask("DELETE", f"{MEMORIES}/{tea}"))
    succeeded(await restore(server, tea))
    assert await undone(server, (await log(server))[0]) == [("DELETE", "Likes tea")]
    assert await told(server) == []


async def test_a_change_is_undone_after_later_changes_of_other_memories(server):
    await remember(server, "Likes tea")
    (added,) = await log(server)
    await remember(server, "Likes snow and ice")
    await undone(server, added)
    assert await told(server) == ["Likes snow and ice"]


async def test_a_later_change_of_the_same_memory_is_named_until_it_is_undone(server):
    (tea,) = await remember(server, "Likes tea")
    (added,) = await log(server)
    for text in ("Likes rum", "Likes gin"):
        succeeded(await edit(server, tea, {"memory": text}))
    gin, rum, _ = await log(server)
    for earlier in (added, rum):
        status, code, body = await refusal(server, earlier)
        assert (status, code) == (409, "change_conflict")
        assert gin["id"] in body
    assert await told(server) == ["Likes gin"]
    for change in (gin, rum, added):
        await undone(server, change)
    assert await told(server) == []


async def test_a_confirmed_text_is_no_conflict_and_changed_metadata_are(server):
    (tea,) = await remember(server, "Likes tea")
    succeeded(await edit(server, tea, {"memory": "Likes rum"}))
    changed = (await log(server))[0]
    succeeded(await edit(server, tea, {"memory": "Likes rum"}))
    await undone(server, changed)
    assert await told(server) == ["Likes tea"]
    (added,) = [change for change in await log(server) if change["rows"][0]["event"] == "ADD"]
    succeeded(await edit(server, tea, {"metadata": {"b": 2}}))
    _, code, body = await refusal(server, added)
    assert code == "change_conflict"
    assert (await log(server))[0]["id"] in body


async def test_a_text_that_another_memory_has_by_now_is_not_given_back(server):
    (tea,) = await remember(server, "Likes tea")
    succeeded(await edit(server, tea, {"memory": "Likes rum"}))
    edited = (await log(server))[0]
    succeeded(
        await server.ask("POST", "/api/import", b'{"memory":"likes tea","user_id":"mira","created_at":"2026-01-01"}')
    )
    status, code, body = await refusal(server, edited)
    assert (status, code) == (409, "change_conflict")
    assert (await log(server))[0]["id"] in body
    assert sorted(await told(server)) == ["Likes rum", "likes tea"]


async def test_a_search_of_the_past_finds_what_held_without_the_change(open_server):
    server = await open_server()
    (pens,) = await remember(server, "Collects old fountain pens")
    succeeded(await edit(server, pens, {"memory": "Collects rare postage stamps"}))
    edited = (await log(server))[0]

    async def found() -> list[str]:
        asked = {"query": "what does she collect?", "user_id": "mira", "at": edited["created_at"]}
        return [hit["memory"] for hit in (await server.post(f"{MEMORIES}/search", asked))["results"]]

    assert await found() == ["Collects rare postage stamps"]
    await undone(server, edited)
    assert await found() == ["Collects old fountain pens"]
    await undone(server, (await log(server))[0])
    assert await found() == ["Collects rare postage stamps"]


async def test_of_many_undos_at_once_one_is_made(server):
    await remember(server, "Likes tea", "Rows")
    (added,) = await log(server)
    answers = await asyncio.gather(*(undo(server, added) for _ in range(6)))
    assert sorted(answer.status for answer in answers) == [200] + [409] * 5
    assert len(await log(server)) == 2
    assert await told(server) == []


async def test_unknown_changes_and_those_of_others_are_not_found(server):
    await remember(server, "Likes tea")
    (added,) = await log(server)
    unknown = ("chg_0", "chg_" + "f" * 32, "chg_" + "0" * 31 + "1", "chg_" + "0" * 32, "%20", added["id"].upper())
    for change in unknown:
        assert (await refusal(server, change))[:2] == (404, "change_not_found"), change
    assert (await refusal(server, added, "noah"))[:2] == (404, "change_not_found")
    elsewhere = await server.ask("POST", f"{LOG}/{added['id']}/undo?project=other")
    assert error_of(elsewhere) == (404, "change_not_found")
    assert await log(server, "noah") == []
    assert await told(server) == ["Likes tea"]


async def test_forgotten_words_are_in_no_change_and_such_a_change_cannot_be_undone(server):
    await remember(server, "Likes tea", metadata={"session_id": "s1"})
    (of_session,) = await log(server)
    (both,) = await remember(server, "Likes snow and ice")
    succeeded(await edit(server, both, {"memory": "Likes snow"}))
    await server.parts.memory.facts.forget_session((await server.parts.memory.store.users(_DEMO))[0], "s1")
    assert len(await log(server)) == 2
    assert (await refusal(server, of_session))[:2] == (404, "change_not_found")
    edited = (await log(server))[0]
    succeeded(await server.ask("DELETE", f"{MEMORIES}?user_id=mira"))
    assert await log(server) == []
    assert (await refusal(server, edited))[:2] == (404, "change_not_found")
