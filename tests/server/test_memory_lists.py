"""`GET /api/memories` with its conditions, `GET /api/projects`, and answers that are what OpenAPI says of them."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from mnemoir.server.memories.transfer import ExportedMemory
from tests.server.conftest import OpenServer
from tests.server.server_kit import Server, error_of, succeeded

MEMORIES = "/api/memories"
DAYS = 30 * 365.0  # a decay that reaches back to about 1996


@pytest.fixture(params=["sqlite", "file"])
async def server(request, open_server: OpenServer, tmp_path: Path) -> Server:
    return await open_server(
        {"storage.backend": request.param, "storage.workspace_root": str(tmp_path / "workspace")}, decay_days=None
    )


async def remember(server: Server, *lines: dict, project: str = "default") -> None:
    body = "\n".join(json.dumps({"user_id": "mira", "created_at": "2026-01-01"} | line) for line in lines).encode()
    succeeded(await server.ask("POST", f"/api/import?project={project}", body))


async def listed(server: Server, query: str = "") -> list[str]:
    page = await server.get(f"{MEMORIES}?user_id=mira{query}")
    return [memory["memory"] for memory in page["results"]]


async def test_conditions_narrow_the_list_and_combine(server):
    await remember(
        server,
        {"memory": "Likes tea", "created_at": "2026-01-01", "updated_at": "2026-03-01"},
        {"memory": "Rows", "created_at": "2026-02-01", "metadata": {"session_id": "boats"}},
        {"memory": "I row.", "created_at": "2026-02-02", "role": "user"},
        {"memory": "Over", "created_at": "2026-02-03", "expiration_date": "2026-02-04"},
    )
    assert await listed(server) == ["I row.", "Rows", "Likes tea"]
    assert await listed(server, "&kind=message") == ["I row."]
    assert await listed(server, "&q=ROW") == ["I row.", "Rows"]
    assert await listed(server, "&q=row&kind=fact") == ["Rows"]
    assert await listed(server, "&source=boats") == ["Rows"]
    assert await listed(server, "&since=2026-02-02") == ["I row."]
    assert await listed(server, "&order=updated_desc&since=2026-02-15") == ["Likes tea"]
    assert await listed(server, "&order=created_asc&until=2026-02-02") == ["Likes tea", "Rows"]
    assert await listed(server, "&hidden=only") == ["Over"]
    assert len(await listed(server, "&hidden=with")) == 4
    assert await listed(server, "&offset=1&limit=1") == ["Rows"]


async def found(server: Server, **conditions: object) -> list[str]:
    body = {"query": "row the boat", "user_id": "mira", "explain": True} | conditions
    page = await server.post(f"{MEMORIES}/search", body)
    return [memory["memory"] for memory in page["results"]]


async def test_a_search_at_a_time_finds_what_a_list_of_that_time_shows(server, request):
    await remember(server, {"memory": "Lives in Bergen", "created_at": "2026-01-01"})
    page = await server.get(f"{MEMORIES}?user_id=mira")
    moved = await server.ask(
        "PATCH", f"{MEMORIES}/{page['results'][0]['id']}?user_id=mira", {"memory": "Lives in Graz"}
    )
    succeeded(moved)
    question = {"query": "Where does she live?", "user_id": "mira"}
    asked = [
        await server.ask("GET", f"{MEMORIES}?user_id=mira&at=2026-01-02"),
        await server.ask("POST", f"{MEMORIES}/search?at=2026-01-02", question),
        await server.ask("POST", f"{MEMORIES}/search", question | {"at": "2026-01-02"}),
    ]
    if "file" in request.node.name:
        assert [answer.status for answer in asked] == [501] * 3
        return
    assert [[memory["memory"] for memory in succeeded(answer)["results"]] for answer in asked] == [
        ["Lives in Bergen"]
    ] * 3
    assert all("valid_to" in succeeded(answer)["results"][0] for answer in asked)
    assert await found(server, query="Where does she live?") == ["Lives in Graz"]
    for condition in ({"kind": "fact"}, {"since": "2026-01-01"}, {"q": "Bergen"}, {"hidden": "with"}):
        refused = await server.ask("POST", f"{MEMORIES}/search", question | {"at": "2026-01-02"} | condition)
        assert error_of(refused) == (400, "invalid_filter")


async def test_conditions_narrow_a_list_of_the_past(open_server):
    server = await open_server(decay_days=None)
    for text, day in (("Likes tea", "01-01"), ("Rows a boat", "02-01"), ("Owns a boat", "03-01")):
        await remember(server, {"memory": text, "created_at": f"2026-{day}", "metadata": {"about": text[-4:]}})
    (tea,) = (await server.get(f"{MEMORIES}?user_id=mira&q=tea"))["results"]
    succeeded(await server.ask("PATCH", f"{MEMORIES}/{tea['id']}?user_id=mira", {"memory": "Likes cocoa"}))
    then = "&at=2026-02-15"
    assert await listed(server, then) == ["Rows a boat", "Likes tea"]
    assert await listed(server, then + "&q=tea") == ["Likes tea"]
    assert await listed(server, then + "&until=2026-02-01") == ["Likes tea"]
    assert await listed(server, then + '&metadata={"about":"boat"}') == ["Rows a boat"]
    page = await server.get(f"{MEMORIES}?user_id=mira&limit=1{then}")
    assert (page["total"], page["results"][0]["memory"]) == (2, "Rows a boat")
    assert await listed(server, f"{then}&cursor={page['next']}") == ["Likes tea"]
    refused = await server.ask("GET", f"{MEMORIES}?user_id=mira&source=boats{then}")
    assert error_of(refused) == (400, "invalid_filter")


async def test_weeks_count_what_was_learned_in_them_by_origin_and_what_was_changed(server):
    await remember(
        server,
        {"memory": "Likes tea", "created_at": "2026-01-05", "updated_at": "2026-03-01T23:59:59Z"},
        {"memory": "Rows", "created_at": "2026-01-11T23:59:59Z", "origin": "person"},
        {"memory": "I row.", "created_at": "2026-01-12T00:00:00Z", "role": "user"},
        {"memory": "Swims", "created_at": "1969-12-31"},
        {"memory": "Sings", "created_at": "0001-01-01T00:00:00Z"},
    )
    await remember(server, {"memory": "Of another project"}, project="other")
    path = f"{MEMORIES}/mira/timeline"
    assert await server.get(path) == {
        "weeks": [
            {"week": "0001-01-01", "learned": {"import": 1}, "changed": 0},
            {"week": "1969-12-29", "learned": {"import": 1}, "changed": 0},
            {"week": "2026-01-05", "learned": {"import": 1, "person": 1}, "changed": 0},
            {"week": "2026-01-12", "learned": {"import": 1}, "changed": 0},
            {"week": "2026-02-23", "learned": {}, "changed": 1},
        ],
        "total": 5,
        "undated": 0,
    }
    assert (await server.get(f"{path}?kind=message"))["total"] == 1
    assert (await server.get(f"{path}?since=2026-01-01&q=rows"))["weeks"][0]["learned"] == {"person": 1}
    assert await server.get(f"{MEMORIES}/nobody/timeline") == {"weeks": [], "total": 0, "undated": 0}


async def test_weeks_of_the_past_count_what_held_then(open_server):
    server = await open_server(decay_days=None)
    await remember(server, {"memory": "Likes tea", "created_at": "2026-01-05"}, {"memory": "Rows"})
    (tea,) = (await server.get(f"{MEMORIES}?user_id=mira&q=tea"))["results"]
    succeeded(await server.ask("PATCH", f"{MEMORIES}/{tea['id']}?user_id=mira", {"memory": "Likes cocoa"}))
    then = await server.get(f"{MEMORIES}/mira/timeline?at=2026-01-03")
    assert [week["week"] for week in then["weeks"]] == ["2025-12-29"]
    refused = await server.ask("GET", f"{MEMORIES}/mira/timeline?at=soon")
    assert error_of(refused) == (422, "validation_error")


async def test_conditions_narrow_a_search_as_they_narrow_a_list(server):
    await remember(
        server,
        {"memory": "Rows a boat", "created_at": "2026-01-01", "updated_at": "2026-03-01"},
        {"memory": "Owns a boat", "created_at": "2026-02-01", "metadata": {"session_id": "boats"}},
        {"memory": "I row the boat.", "created_at": "2026-02-02", "role": "user"},
        {"memory": "Rowed a boat", "created_at": "2026-02-03", "expiration_date": "2026-02-04"},
    )
    everything = await found(server)
    assert sorted(everything) == ["I row the boat.", "Owns a boat", "Rows a boat"]
    assert await found(server, kind="message") == ["I row the boat."]
    assert sorted(await found(server, kind="fact", limit=2)) == ["Owns a boat", "Rows a boat"]
    assert await found(server, source="boats") == ["Owns a boat"]
    assert await found(server, q="ROW fact") == []
    assert await found(server, q="ROWS") == ["Rows a boat"]
    assert await found(server, since="2026-02-02") == ["I row the boat."]
    assert await found(server, since="2026-02-15", by="updated") == ["Rows a boat"]
    assert await found(server, until="2026-01-15") == ["Rows a boat"]
    assert await found(server, hidden="only") == ["Rowed a boat"]
    assert len(await found(server, hidden="with")) == 4
    (owned,) = [id for id in await ids_of(server) if await found(server, id=[id]) == ["Owns a boat"]]
    assert await found(server, id=[owned], kind="message") == []
    nothing = dict.fromkeys(("kind", "since", "until", "by", "source", "q", "id", "hidden"))
    assert await found(server, **nothing, unknown="x") == everything


async def ids_of(server: Server) -> list[str]:
    return [memory["id"] for memory in (await server.get(f"{MEMORIES}?user_id=mira"))["results"]]


@pytest.mark.parametrize(
    "condition",
    [{"kind": "dream"}, {"since": "someday"}, {"hidden": "all"}, {"by": "upwards"}, {"id": "mem_a"}, {"q": 7}],
)
async def test_a_condition_that_cannot_be_met_is_refused_and_not_dropped(server, condition):
    body = {"query": "row the boat", "user_id": "mira"} | condition
    assert error_of(await server.ask("POST", f"{MEMORIES}/search", body)) == (422, "validation_error")


@pytest.mark.parametrize("order", ["created_desc", "created_asc", "updated_desc", "updated_asc"])
async def test_pages_follow_each_other_by_their_cursor_and_belong_to_one_order(server, order):
    await remember(server, *({"memory": f"Fact {n}", "created_at": f"2026-01-{n % 3 + 1:02}"} for n in range(7)))
    target, seen, cursor = f"{MEMORIES}?user_id=mira&limit=3&order={order}", [], ""
    while True:
        page = await server.get(target + cursor)
        seen += [memory["id"] for memory in page["results"]]
        assert page["total"] == 7
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert len(seen) == len(set(seen)) == 7
    other = "updated_asc" if order != "updated_asc" else "created_asc"
    answer = await server.ask("GET", f"{MEMORIES}?user_id=mira&order={other}{cursor}")
    assert error_of(answer) == (400, "invalid_cursor")


async def test_a_memory_tells_how_it_stands_with_decay(server):
    assert succeeded(await server.ask("PUT", f"{MEMORIES}/settings", {"decayDays": DAYS}))
    await remember(
        server, {"memory": "Fading", "created_at": "2000-01-01"}, {"memory": "Hidden", "created_at": "1990-01-01"}
    )
    await remember(server, {"memory": "Fresh"})
    page = await server.get(f"{MEMORIES}?user_id=mira&hidden=with")
    states = {memory["memory"]: memory["state"] for memory in page["results"]}
    assert states == {"Fresh": "current", "Fading": "fading", "Hidden": "hidden"}
    assert all(memory["decays_at"] for memory in page["results"])
    fading = next(memory for memory in page["results"] if memory["memory"] == "Fading")
    succeeded(await server.ask("PATCH", f"{MEMORIES}/{fading['id']}?user_id=mira", {"memory": "Fading"}))
    renewed = await server.get(f"{MEMORIES}/{fading['id']}/details?user_id=mira")
    assert renewed["memory"]["state"] == "current"
    assert renewed["history"][-1]["reason"] == "confirmed"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", (400, "missing_user_id")),
        ("user_id=mira&kind=dream", (422, "validation_error")),
        ("user_id=mira&since=lately", (422, "validation_error")),
        ("user_id=mira&order=random", (422, "validation_error")),
        ("user_id=mira&cursor=WyJ4Il0", (400, "invalid_cursor")),
        ("user_id=mira&" + "&".join(f"id=m{n}" for n in range(201)), (422, "validation_error")),
    ],
)
async def test_a_condition_that_cannot_be_met_is_refused(server, query, expected):
    assert error_of(await server.ask("GET", f"{MEMORIES}?{query}")) == expected


async def test_projects_are_told_with_their_users(server):
    await remember(server, {"memory": "Likes tea"}, {"memory": "Likes rum", "user_id": "a/b"})
    await remember(server, {"memory": "Likes gin", "updated_at": "2026-05-01"}, project="atlas")
    found = await server.get("/api/projects")
    told = {
        project["project"]: {user["user_id"]: user["memories"] for user in project["users"]}
        for project in found["results"]
    }
    assert told == {"atlas": {"mira": 1}, "default": {"a/b": 1, "mira": 1}}
    assert found["results"][0]["changed_at"] == "2026-05-01T00:00:00.000Z"


async def test_every_answer_is_what_openapi_says(server):
    said = {"messages": [{"role": "user", "content": "I row every morning in Graz."}], "user_id": "mira"}
    asked: list[tuple[str, str, object]] = [
        ("POST", f"{MEMORIES}?include_usage=true", said),
        ("POST", MEMORIES, said | {"async_mode": True}),
        ("POST", f"{MEMORIES}/search", {"query": "row", "user_id": "mira", "explain": True}),
        ("GET", f"{MEMORIES}/mira", None),
        ("GET", f"{MEMORIES}/extraction-prompt", None),
        ("GET", f"{MEMORIES}/settings", None),
        ("PUT", f"{MEMORIES}/settings", {"searchLimit": 8}),
        ("DELETE", f"{MEMORIES}/extraction-prompt", None),
    ]
    for method, target, body in asked:
        succeeded(await server.ask(method, target, body))  # its shape is checked
    (memory, *_) = (await server.get(f"{MEMORIES}/mira"))["results"]
    await server.get(f"{MEMORIES}/{memory['id']}/history")
    line = TypeAdapter(ExportedMemory)
    for exported in (await server.ask("GET", "/api/export")).body.splitlines():
        line.validate_json(exported)
    succeeded(await server.ask("DELETE", f"{MEMORIES}/{memory['id']}"))
    succeeded(await server.ask("DELETE", f"{MEMORIES}?user_id=mira"))
    described = await server.get("/openapi.json")
    for path, operations in described["paths"].items():
        if path.startswith((MEMORIES, "/api/projects", "/api/import")):
            for operation in operations.values():
                assert operation["responses"]["200"]["content"]["application/json"]["schema"], path
