"""What a person changes in the memories over the API: edits, restored deletions, merged duplicates."""

import asyncio
import json
from pathlib import Path

import orjson
import pytest

from tests.server.conftest import OpenServer
from tests.server.server_kit import Server, error_of, succeeded

MEMORIES = "/api/memories"


@pytest.fixture(params=["sqlite", "file"])
async def server(request, open_server: OpenServer, tmp_path: Path) -> Server:
    return await open_server(
        {"storage.backend": request.param, "storage.workspace_root": str(tmp_path / "workspace")}
    )


async def remember(server: Server, *texts: str, user: str = "mira", **more: object) -> list[str]:
    """Facts as they are, by way of an import; their ids in the order of the texts."""
    lines = [
        {"id": f"mem_{user}_{n}_{len(text)}", "memory": text, "user_id": user, "created_at": f"2026-01-{n:02}"}
        for n, text in enumerate(texts, start=1)
    ]
    body = "\n".join(json.dumps(line | more) for line in lines).encode()
    assert succeeded(await server.ask("POST", "/api/import", body))["imported"] == len(texts)
    return [line["id"] for line in lines]


async def told(server: Server, user: str = "mira") -> list[str]:
    return [memory["memory"] for memory in (await server.get(f"{MEMORIES}/{user}"))["results"]]


async def edit(server: Server, memory_id: str, body: dict, user: str = "mira"):
    return await server.ask("PATCH", f"{MEMORIES}/{memory_id}?user_id={user}", body)


async def restore(server: Server, memory_id: str, user: str = "mira", **body: str):
    return await server.ask("POST", f"{MEMORIES}/{memory_id}/restore?user_id={user}", body)


async def test_an_edit_is_listed_searched_and_told_in_the_history(server):
    (tea,) = await remember(server, "Likes tea", metadata={"source": "chat"})
    edited = succeeded(await edit(server, tea, {"memory": "Collects old fountain pens"}))
    assert (edited["memory"], edited["metadata"]) == ("Collects old fountain pens", {"source": "chat"})
    found = await server.post(f"{MEMORIES}/search", {"query": "which pens?", "user_id": "mira"})
    assert [(hit["id"], hit["memory"]) for hit in found["results"]] == [(tea, "Collects old fountain pens")]
    history = await server.get(f"{MEMORIES}/{tea}/history")
    last = history["results"][-1]
    assert (last["event"], last["reason"]) == ("UPDATE", "edit")
    assert (last["old_memory"], last["new_memory"]) == ("Likes tea", "Collects old fountain pens")


async def test_of_two_who_edit_what_they_saw_the_second_is_told(server):
    (tea,) = await remember(server, "Likes tea")
    seen = (await server.get(f"{MEMORIES}/mira"))["results"][0]["updated_at"]
    first = await edit(server, tea, {"memory": "Likes rum", "updated_at": seen})
    second = await edit(server, tea, {"memory": "Likes gin", "updated_at": seen})
    assert (first.status, error_of(second)) == (200, (409, "memory_changed"))
    assert await told(server) == ["Likes rum"]


async def test_of_many_edits_at_once_none_is_lost_silently(server):
    (tea,) = await remember(server, "Likes tea")
    answers = await asyncio.gather(*(edit(server, tea, {"memory": f"Likes drink {n}"}) for n in range(8)))
    events = (await server.get(f"{MEMORIES}/{tea}/history"))["results"]
    assert sum(answer.status == 200 for answer in answers) == len(events) - 1
    assert {answer.status for answer in answers} <= {200, 409}


async def test_metadata_is_replaced_or_taken_away_and_the_text_stays(server):
    (tea,) = await remember(server, "Likes tea", metadata={"a": 1})
    assert succeeded(await edit(server, tea, {"metadata": {"b": 2}}))["metadata"] == {"b": 2}
    cleared = succeeded(await edit(server, tea, {"metadata": None}))
    assert (cleared["metadata"], cleared["memory"]) == (None, "Likes tea")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"memory": "  "}, (422, "validation_error")),
        ({"memory": 7}, (422, "validation_error")),
        ({"memory": "x", "updated_at": "yesterday"}, (422, "validation_error")),
        ({"memory": "likes RUM."}, (409, "memory_exists")),
    ],
)
async def test_an_edit_that_cannot_be_changes_nothing(server, body, expected):
    tea, _ = await remember(server, "Likes tea", "Likes rum")
    assert error_of(await edit(server, tea, body)) == expected
    assert sorted(await told(server)) == ["Likes rum", "Likes tea"]


async def test_nobody_edits_restores_or_merges_what_is_anothers(server):
    (tea,) = await remember(server, "Likes tea")
    (rum,) = await remember(server, "Likes rum", user="noah")
    assert error_of(await edit(server, tea, {"memory": "x"}, user="noah")) == (404, "memory_not_found")
    assert error_of(await server.ask("PATCH", f"{MEMORIES}/{tea}?project=other", {"memory": "x"}))[0] == 404
    merged = {"user_id": "noah", "ids": [tea, rum], "keep": rum}
    assert error_of(await server.ask("POST", f"{MEMORIES}/merge", merged)) == (404, "memory_not_found")
    await server.ask("DELETE", f"{MEMORIES}/{tea}")
    assert error_of(await restore(server, tea, user="noah")) == (404, "memory_not_found")
    assert (await told(server), await told(server, "noah")) == ([], ["Likes rum"])
    details = await server.ask("GET", f"{MEMORIES}/{tea}/details?user_id=noah")
    assert error_of(details) == (404, "memory_not_found")


async def test_a_deleted_memory_is_taken_back_whole(server):
    (tea,) = await remember(server, "Likes tea", metadata={"a": 1}, run_id="c1")
    before = (await server.get(f"{MEMORIES}/mira"))["results"]
    await server.ask("DELETE", f"{MEMORIES}/{tea}")
    deleted = await server.get(f"{MEMORIES}/{tea}/details?user_id=mira")
    assert deleted["memory"]["state"] == "deleted"
    assert succeeded(await restore(server, tea)) == before[0]
    assert (await server.get(f"{MEMORIES}/mira"))["results"] == before
    found = await server.post(f"{MEMORIES}/search", {"query": "tea", "user_id": "mira"})
    assert [hit["id"] for hit in found["results"]] == [tea]
    assert error_of(await restore(server, tea)) == (409, "memory_not_deleted")


async def test_an_earlier_text_is_taken_back_of_a_current_and_of_a_deleted_memory(server):
    (tea,) = await remember(server, "Likes tea")
    first = (await server.get(f"{MEMORIES}/{tea}/history"))["results"][0]["id"]
    await edit(server, tea, {"memory": "Likes rum"})
    assert succeeded(await restore(server, tea, to=first))["memory"] == "Likes tea"
    await edit(server, tea, {"memory": "Likes gin"})
    await server.ask("DELETE", f"{MEMORIES}/{tea}")
    assert succeeded(await restore(server, tea, to=first))["memory"] == "Likes tea"
    assert await told(server) == ["Likes tea"]
    assert error_of(await restore(server, tea, to="hist_0")) == (404, "history_not_found")


async def test_nothing_is_taken_back_beside_a_fact_that_says_the_same(server):
    (tea,) = await remember(server, "Likes tea")
    await server.ask("DELETE", f"{MEMORIES}/{tea}")
    await remember(server, "likes tea.")
    assert error_of(await restore(server, tea)) == (409, "memory_exists")


async def test_after_forgetting_everything_nothing_can_be_taken_back(server):
    tea, rum = await remember(server, "Likes tea", "Likes rum")
    await server.ask("DELETE", f"{MEMORIES}/{rum}")
    assert succeeded(await server.ask("DELETE", f"{MEMORIES}?user_id=mira"))["deleted"] == 1
    for memory_id in (tea, rum):
        assert error_of(await restore(server, memory_id)) == (404, "memory_not_found")
        assert error_of(await server.ask("GET", f"{MEMORIES}/{memory_id}/history?user_id=mira"))[0] == 404


async def test_duplicates_are_grouped_and_differing_numbers_denials_and_users_are_not(server):
    texts = ["Rows every morning", "Rows each morning", "Has 2 cats", "Has 3 cats", "Likes tea", "Does not like tea"]
    await remember(server, *texts, "Works as a baker in Graz")
    await remember(server, "Rows every morning", user="noah")
    found = await server.get(f"{MEMORIES}/duplicates?user_id=mira")
    groups = [{memory["memory"] for memory in group["memories"]} for group in found["results"]]
    assert (groups, found["total"], found["compared"]) == ([{"Rows every morning", "Rows each morning"}], 1, 7)
    assert error_of(await server.ask("GET", f"{MEMORIES}/duplicates")) == (400, "missing_user_id")


async def test_merged_memories_become_one_and_each_can_be_restored(server):
    one, two, three = await remember(server, "Rows daily", "Rows every morning", "Likes tea")
    body = {"user_id": "mira", "ids": [one, two], "keep": one, "memory": "Rows every morning"}
    merged = await server.post(f"{MEMORIES}/merge", body)
    assert (merged["memory"]["id"], merged["memory"]["memory"]) == (one, "Rows every morning")
    assert sorted(await told(server)) == ["Likes tea", "Rows every morning"]
    gone = (await server.get(f"{MEMORIES}/{two}/history?user_id=mira"))["results"][-1]
    assert (gone["event"], gone["reason"]) == ("DELETE", f"merged into {one}")
    first = (await server.get(f"{MEMORIES}/{one}/history"))["results"][0]["id"]
    succeeded(await restore(server, one, to=first))
    succeeded(await restore(server, two))
    assert sorted(await told(server)) == ["Likes tea", "Rows daily", "Rows every morning"]
    assert error_of(await server.ask("POST", f"{MEMORIES}/merge", body | {"ids": [two, three]}))[0] == 422


@pytest.mark.parametrize("way", ["metadata", "said"])
async def test_details_tell_where_the_words_stand_in_their_conversation(server, way):
    said = [{"role": "user", "content": "I row every morning."}, {"role": "assistant", "content": "Every morning?"}]
    conversation = succeeded_or_created(
        await server.ask("POST", "/api/conversations?user_id=mira", {"id": "boats", "messages": said})
    )
    assert conversation["id"] == "boats"
    known = "boats" if way == "metadata" else "elsewhere"
    await server.post(MEMORIES, {"messages": said, "user_id": "mira", "metadata": {"session_id": known}})
    (memory,) = (await server.get(f"{MEMORIES}?user_id=mira&source={known}"))["results"]
    details = await server.get(f"{MEMORIES}/{memory['id']}/details?user_id=mira")
    source = details["sources"][0]
    assert (source["content"], source["session"]) == ("I row every morning.", known)
    messages = await server.get("/api/conversations/boats/messages?user_id=mira")
    place = messages["results"][0]["id"] if way == "metadata" else None
    assert source["message_id"] == place


def succeeded_or_created(answer):
    assert answer.status in (200, 201), answer.body
    return orjson.loads(answer.body)


async def test_a_line_of_an_unknown_kind_is_refused_by_its_number_and_nothing_is_imported(server):
    line = {"memory": "Likes tea", "user_id": "mira", "created_at": "2026-01-01"}
    for kind in ("propposal", "", "memory_type"):
        body = b"\n".join(map(orjson.dumps, (line, {**line, "kind": kind})))
        answer = await server.ask("POST", "/api/import", body)
        assert (error_of(answer), b"kind" in answer.body) == ((422, "validation_error"), True), answer.body
    assert await told(server) == []
