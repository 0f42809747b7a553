"""Memories and files of several users and projects: an id of another's is as unknown as one that nobody has."""

from pathlib import Path
from urllib.parse import quote

import pytest

from tests.server.conftest import OpenServer
from tests.server.conversation_targets import begin, of
from tests.server.route_table import every_route
from tests.server.server_kit import JSON, Server, error_of
from tests.server.sign_in.page import joined
from tests.server.test_conversation_attachments import PICTURE, sent

MEMORIES = "/api/memories"
OTHERS = ("user_id=otto", "user_id=mira&project=other", "user_id=otto&project=other", "project=other")
SECRET = "Zanzibarquince"
KEY = "a-key-of-sixteen-or-more"
# method, what stands behind the id, and a body that is right
ONE_MEMORY: tuple[tuple[str, str, dict[str, str] | None], ...] = (
    ("GET", "/history", None),
    ("GET", "/details", None),
    ("PATCH", "", {"memory": "Taken over"}),
    ("POST", "/restore", {}),
    ("DELETE", "", None),
)


async def remember(server: Server, text: str, user: str, project: str = "default") -> str:
    """The id of a memory with those words."""
    body = {"messages": [{"role": "user", "content": text}], "user_id": user, "infer": False}
    found: str = (await server.post(f"{MEMORIES}?project={project}", body))["results"][0]["id"]
    return found


async def listed(server: Server, query: str) -> list[JSON]:
    found: list[JSON] = (await server.get(f"{MEMORIES}?{query}"))["results"]
    return found


@pytest.fixture(params=["sqlite", "file"])
async def server(request, open_server: OpenServer, tmp_path: Path) -> Server:
    return await open_server(
        {"storage.backend": request.param, "storage.workspace_root": str(tmp_path / "workspace")}
    )


@pytest.mark.parametrize(("method", "below", "body"), ONE_MEMORY)
@pytest.mark.parametrize("others", OTHERS)
async def test_the_id_of_anothers_memory_is_unknown(server, method, below, body, others):
    mine, gone = [await remember(server, f"{SECRET} {n}", "mira") for n in range(2)]
    for user, project in (("otto", "default"), ("mira", "other"), ("otto", "other")):
        await remember(server, "Likes tea", user, project)
    await server.ask("DELETE", f"{MEMORIES}/{gone}?user_id=mira")
    before = await listed(server, "user_id=mira")
    for memory_id in (mine, gone):
        foreign = await server.ask(method, f"{MEMORIES}/{memory_id}{below}?{others}", body)
        unknown = await server.ask(method, f"{MEMORIES}/mem_unknown{below}?{others}", body)
        assert error_of(foreign) == error_of(unknown) == (404, "memory_not_found")
        assert SECRET.encode() not in foreign.body
    assert await listed(server, "user_id=mira") == before
    assert (await server.ask("POST", f"{MEMORIES}/{gone}/restore?user_id=mira", {})).status == 200


async def test_lists_duplicates_and_merges_are_of_one_user_in_one_project(server):
    mine = [await remember(server, f"{SECRET} {word}", "mira") for word in ("tea", "Tea.")]
    theirs = await remember(server, f"Likes {SECRET}", "otto")
    for others in OTHERS[:3]:
        for query in (f"{others}&id={mine[0]}", f"{others}&q={quote(SECRET)}&hidden=with"):
            assert not set(mine) & {memory["id"] for memory in await listed(server, query)}
        assert (await server.get(f"{MEMORIES}/duplicates?{others}"))["results"] == []
    for user, project, ids in (
        ("otto", "default", mine),
        ("otto", "default", [theirs, mine[0]]),
        ("mira", "default", [mine[0], theirs]),
        ("mira", "other", mine),
    ):
        merged = {"user_id": user, "ids": ids, "keep": ids[0], "memory": "Joined"}
        assert error_of(await server.ask("POST", f"{MEMORIES}/merge?project={project}", merged))[0] == 404
    assert {memory["id"] for memory in await listed(server, "user_id=mira")} == set(mine)
    assert [memory["memory"] for memory in await listed(server, "user_id=otto")] == [f"Likes {SECRET}"]


async def test_files_are_of_one_user_in_one_project(server):
    await begin(server, "tea", user_id="mira")
    answer = await server.ask("POST", of("tea", "/messages", user_id="mira"), {"messages": [sent(PICTURE)]})
    assert answer.status == 201
    await remember(server, SECRET, "mira")
    await remember(server, "Likes tea", "otto")
    (picture,) = (await server.get("/api/files?user_id=mira"))["attachments"]
    for others in OTHERS:
        page = await server.get(f"/api/files?{others}")
        assert page["attachments"] == []
        assert (await server.ask("GET", f"{picture['link']}?{others}")).status == 404
        kept = await server.ask("GET", f"/api/files/memories.json?{others}")
        assert SECRET.encode() not in kept.body


async def test_lists_of_what_a_key_is_not_for_are_empty_and_leave_nothing(server, tmp_path):
    mine = await remember(server, SECRET, "mira")
    make = server.parts.access.api_keys.create
    before = sorted(tmp_path.glob("workspace/**/*"))
    for bound, query in (
        ({"user": "otto"}, "user_id=mira"),
        ({"projects": ["kitchen"]}, "user_id=mira&project=default"),
    ):
        sent = {"x_api_key": make(role="read", by="test", **bound)[1]}
        for target in (MEMORIES, f"{MEMORIES}/changes", f"{MEMORIES}/duplicates", f"{MEMORIES}/proposals"):
            assert (await server.get(f"{target}?{query}", **sent))["results"] == []
        question = {"query": SECRET, "user_id": "mira"}
        project = query.partition("&")[2]
        assert (await server.post(f"{MEMORIES}/search?{project}", question, **sent))["results"] == []
        assert (await server.get(f"/api/files?{query}", **sent))["project"] == []
        assert (await server.ask("GET", f"/api/export?{query}", **sent)).body == b""
        assert (await server.ask("GET", f"{MEMORIES}/{mine}/history?{query}", **sent)).status == 404
    assert sorted(tmp_path.glob("workspace/**/*")) == before


async def test_a_key_of_one_user_changes_no_settings_of_all(server):
    make = server.parts.access.api_keys.create
    of_one = {"x_api_key": make(role="admin", user="otto", by="test")[1]}
    of_all = {"x_api_key": make(role="admin", projects=["default"], by="test")[1]}
    of_person = (await joined(server, "anna", role="admin")).sent
    for method, below, body in (
        ("PUT", "settings", {"memoriesDays": 1}),
        ("PUT", "extraction-prompt", {"prompt": "Nothing"}),
        ("DELETE", "extraction-prompt", None),
    ):
        refused = await server.ask(method, f"{MEMORIES}/{below}", body, **of_one)
        assert error_of(refused) == (403, "forbidden")
        for free in (of_all, of_person):
            assert (await server.ask(method, f"{MEMORIES}/{below}", body, **free)).status == 200


async def test_forgetting_everything_of_one_leaves_the_others(server):
    for user, project in (("mira", "default"), ("otto", "default"), ("mira", "other")):
        await remember(server, f"{user} in {project}", user, project)
    answer = await server.ask("DELETE", f"{MEMORIES}?user_id=mira")
    assert answer.status == 200
    assert await listed(server, "user_id=mira") == []
    assert [each["memory"] for each in await listed(server, "user_id=otto")] == ["otto in default"]
    assert [each["memory"] for each in await listed(server, "user_id=mira&project=other")] == ["mira in other"]


async def test_an_event_is_known_in_its_project_alone(server):
    body = {"messages": [{"role": "user", "content": SECRET}], "user_id": "mira", "infer": False}
    event = (await server.post(MEMORIES, body | {"async_mode": True}))["event_id"]
    assert error_of(await server.ask("GET", f"/api/events/{event}?project=other")) == (404, "event_not_found")
    assert (await server.get(f"/api/events/{event}"))["id"] == event


@pytest.mark.parametrize(
    "given", [{}, {"authorization": "Bearer wrong"}, {"x_api_key": "wrong"}, {"api_key": "wrong"}]
)
async def test_a_server_with_keys_tells_nothing_under_api_without_one(open_server, given):
    server = await open_server(api_keys=[KEY])
    guarded = [route for route in every_route(server) if route[1].startswith(("/api/", "/v1/"))]
    guarded = [route for route in guarded if not route[1].startswith("/api/auth")]  # by which one comes in
    told = {
        (method, target): answer.status
        for method, target in guarded
        if (answer := await server.ask(method, target, {}, **given)).status != 401
    }
    open_routes = [(method, f"/api/{name}") for method in ("GET", "HEAD") for name in ("health", "version")]
    open_routes.append(("GET", "/api/ui"))
    assert told == dict.fromkeys(open_routes, 200)  # none of them tells of anybody
    assert len(guarded) > 60
