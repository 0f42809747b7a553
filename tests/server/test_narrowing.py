"""Agent, application, run and metadata narrow lists, searches, exports and deletions alike, in both storages."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.server.conftest import OpenServer
from tests.server.server_kit import JSON, Server, error_of, succeeded

MEMORIES = "/api/memories"
TOLD = (
    {"memory": "Likes tea", "run_id": "r1", "metadata": {"topic": "food", "level": 1, "tags": ["hot", "leaf"]}},
    {"memory": "Likes coffee", "agent_id": "cook", "metadata": {"topic": "food", "level": True}},
    {"memory": "Likes water", "app_id": "shop", "agent_id": "cook", "metadata": {"topic": None}},
    {"memory": "Likes milk", "metadata": {"topic": "farm", "level": 1.0}},
    {"memory": "Likes juice"},
)
ALL = {one["memory"] for one in TOLD}
# a condition of a query, and what it names
PARTS: dict[str, set[str]] = {
    "run_id=r1": {"Likes tea"},
    "run_id=r2": set(),
    "agent_id=cook": {"Likes coffee", "Likes water"},
    "agent_id=cook&app_id=shop": {"Likes water"},
    "agent_id=cook&run_id=r1": set(),
    'metadata={"topic":"food"}': {"Likes tea", "Likes coffee"},
    'metadata={"topic":["farm","food"],"level":1}': {"Likes tea", "Likes milk"},
    'metadata={"level":true}': {"Likes coffee"},
    'metadata={"topic":null}': {"Likes water"},
    'metadata={"tags":["hot","leaf"]}': {"Likes tea"},
    'metadata={"tags":"hot"}': set(),
    'metadata={"topic":[]}': set(),
    'metadata={"topic":"food"}&agent_id=cook': {"Likes coffee"},
}


@pytest.fixture(params=["sqlite", "file"])
async def server(request, open_server: OpenServer, tmp_path: Path) -> Server:
    settings = {"storage.backend": request.param, "storage.workspace_root": str(tmp_path / "workspace")}
    served = await open_server(settings, decay_days=None)
    lines = [json.dumps({"user_id": "mira", "created_at": "2026-01-01"} | one) for one in TOLD]
    succeeded(await served.ask("POST", "/api/import", "\n".join(lines).encode()))
    return served


TOPIC = quote('metadata={"topic":"food"}', safe="=")


def sent(condition: str) -> str:
    return quote(condition, safe="=&")


async def listed(server: Server, condition: str = "hidden=with") -> set[str]:
    page = await server.get(f"{MEMORIES}?user_id=mira&{sent(condition)}")
    assert page["total"] == len(page["results"])
    return {memory["memory"] for memory in page["results"]}


async def test_both_lists_and_the_export_give_the_part_that_is_named(server):
    for condition, named in PARTS.items():
        by_path = await server.get(f"{MEMORIES}/mira?{sent(condition)}")
        assert (await listed(server, condition), condition) == (named, condition)
        assert ({memory["memory"] for memory in by_path["results"]}, by_path["total"]) == (named, len(named))
        for user in ("user_id=mira&", ""):
            lines = (await server.ask("GET", f"/api/export?{user}{sent(condition)}")).body.splitlines()
            assert ({json.loads(line)["memory"] for line in lines}, condition) == (named, condition)


async def test_a_search_finds_the_part_that_is_named(server):
    asked = {"query": "what does she like?", "user_id": "mira", "limit": 0}
    for more, named in (
        ({"metadata": {"topic": "food"}}, {"Likes tea", "Likes coffee"}),
        ({"filters": {"metadata": {"topic": ["farm"]}}}, {"Likes milk"}),
        ({"filters": {"agent_id": "cook"}, "metadata": {"topic": "food"}}, {"Likes coffee"}),
        ({"metadata": {}, "unknown": True}, ALL),
    ):
        page = await server.post(f"{MEMORIES}/search", asked | more)
        assert ({memory["memory"] for memory in page["results"]}, more) == (named, more)
    wrong: list[JSON] = [{"even": True}, {"metadata": "food"}, {"topic": "food"}, {"metadata": []}]
    for filters in wrong:
        refused = await server.ask("POST", f"{MEMORIES}/search", asked | {"filters": filters})
        assert (error_of(refused), filters) == ((400, "invalid_filter"), filters)


@pytest.mark.parametrize("condition", list(PARTS))
async def test_a_deletion_takes_the_part_that_is_named_and_nothing_else(server, condition):
    named = PARTS[condition]
    answer = succeeded(await server.ask("DELETE", f"{MEMORIES}?user_id=mira&{sent(condition)}"))
    assert answer["deleted"] == len(named)
    assert await listed(server) == ALL - named
    told = await server.ask("GET", f"{MEMORIES}/changes?user_id=mira&limit=0")
    assert not [text for text in named if text.encode() in told.body]


async def test_a_deletion_that_names_no_part_takes_nothing(server):
    for condition, code in (
        *(("run_id=", 422), ("agent_id=%20", 422), ("app_id=%00", 422), ("metadata=", 400), ("metadata={}", 400)),
        *(("metadata=food", 400), ("metadata=[1]", 400), ("metadata=null", 400), ("metadata={'a':1}", 400)),
    ):
        refused = await server.ask("DELETE", f"{MEMORIES}?user_id=mira&{quote(condition, safe='=%')}")
        assert (refused.status, condition) == (code, condition)
    assert await listed(server) == ALL


async def test_a_part_can_be_listed_as_it_was(server, request):
    for path in (f"{MEMORIES}/mira?at=2030-02-01&{TOPIC}", f"{MEMORIES}?user_id=mira&at=2030-02-01&{TOPIC}"):
        then = await server.ask("GET", path)
        if "file" in request.node.name:
            assert then.status == 501
            continue
        assert succeeded(then)["results"]
        assert succeeded(then)["total"] == (await server.get(path.replace("at=2030-02-01&", "")))["total"]


async def test_what_waits_to_be_added_to_the_part_goes_with_it(server):
    said = {"messages": [{"role": "user", "content": "Likes cocoa"}], "user_id": "mira", "infer": False}
    later = [await server.post(MEMORIES, said | {"run_id": run, "async_mode": True}) for run in ("r1", "r2")]
    succeeded(await server.ask("DELETE", f"{MEMORIES}?user_id=mira&run_id=r1"))
    gone = await server.ask("GET", f"/api/events/{later[0]['event_id']}")
    assert error_of(gone)[0] == 404
    assert (await server.ask("GET", f"/api/events/{later[1]['event_id']}")).status == 200


async def test_a_search_with_two_times_is_refused(server):
    asked = {"query": "what does she like?", "user_id": "mira", "at": "2026-02-01T00:00:00Z"}
    refused = await server.ask("POST", f"{MEMORIES}/search?at=2020-01-01", asked)
    assert (error_of(refused), b"two times" in refused.body) == ((400, "invalid_filter"), True)
    for same in ("2026-02-01T00:00:00Z", "2026-02-01T01:00:00%2B01:00"):
        answer = await server.ask("POST", f"{MEMORIES}/search?at={same}", asked)
        assert answer.status in (200, 501)  # of files, which keep no past
