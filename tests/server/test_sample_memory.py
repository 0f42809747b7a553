"""The sample memory over the API: it comes whole, tells two years, goes whole, and touches no user of the server."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemoir.core.clock import from_text
from tests.server.conftest import OpenServer
from tests.server.server_kit import Server, error_of, succeeded
from tests.upkeep.cut_kit import ERASING, Cut, Point, cut

SAMPLE = "/api/sample"
MINE = "user_id=sample"


@pytest.fixture(params=["sqlite", pytest.param("file", marks=pytest.mark.slow)])
async def server(request, open_server: OpenServer, tmp_path: Path) -> Server:
    return await open_server(
        {"storage.backend": request.param, "storage.workspace_root": str(tmp_path / "workspace")}
    )


@pytest.mark.costly("200 memories and 47 chats are stored, and erased again")
async def test_the_sample_comes_with_its_story_and_goes_as_a_whole(server):
    await server.post("/api/memories", {"messages": [{"role": "user", "content": "I row."}], "user_id": "mira"})
    before = await server.get("/api/memories/mira")
    assert await server.get(SAMPLE) == {"user_id": "sample", "state": "none"}
    stored = succeeded(await server.ask("POST", SAMPLE))
    assert stored == {"user_id": "sample", "memories": 200, "chats": 47}
    assert (await server.get(SAMPLE))["state"] == "there"
    assert error_of(await server.ask("POST", SAMPLE)) == (409, "sample_there")

    told = (await server.get(f"/api/memories?{MINE}&limit=500"))["results"]
    learned = [datetime.fromisoformat(one["created_at"]) for one in told]
    assert timedelta(days=700) < max(learned) - min(learned) < timedelta(days=740)
    assert max(learned) <= datetime.now(UTC)
    assert {one["origin"] for one in told} == {"user", "import", "api", "person", "document"}
    changed = [one for one in told if one["updated_at"] != one["created_at"]]
    assert {"Has a dog called Bram", "Keeps a hive of bees on the allotment"} <= {one["memory"] for one in changed}
    assert "Drinks four coffees a day" not in {one["memory"] for one in told}
    assert (await server.get(f"/api/memories/proposals?{MINE}"))["total"] == 2

    removed = succeeded(await server.ask("DELETE", SAMPLE))
    assert removed["counts"]["memories"] >= 200  # and what they were before
    assert (await server.get(f"/api/memories?{MINE}&hidden=with"))["total"] == 0
    assert (await server.get(f"/api/conversations?{MINE}"))["results"] == []
    assert await server.get(SAMPLE) == {"user_id": "sample", "state": "none"}
    assert error_of(await server.ask("DELETE", SAMPLE)) == (404, "sample_not_found")
    assert await server.get("/api/memories/mira") == before


@pytest.mark.slow
async def test_a_memory_of_the_sample_tells_when_and_where_it_was_said(open_server):
    server = await open_server()
    succeeded(await server.ask("POST", SAMPLE))
    told = (await server.get(f"/api/memories?{MINE}&limit=500"))["results"]
    bram = next(one for one in told if one["memory"].startswith("Bram takes two thyroid tablets"))
    story = await server.get(f"/api/memories/{bram['id']}/details?{MINE}")
    assert [event["event"] for event in story["history"]] == ["ADD", "UPDATE"]
    began, changed = (present_time(event["created_at"]) for event in story["history"])
    assert timedelta(days=360) < changed - began < timedelta(days=370)
    assert {source["session"] for source in story["sources"]} == {"sample-22", "sample-45"}
    assert all(source["message_id"] for source in story["sources"])
    past = await server.get(f"/api/memories?{MINE}&limit=1000&at={(changed - timedelta(days=30)).strftime('%F')}")
    texts = {one["memory"] for one in past["results"]}
    assert "Bram takes a thyroid tablet every morning" in texts
    assert bram["memory"] not in texts


@pytest.mark.slow
async def test_a_sample_that_went_can_come_again_and_real_users_keep_their_name(open_server):
    server = await open_server()
    succeeded(await server.ask("POST", SAMPLE))
    succeeded(await server.ask("DELETE", SAMPLE))
    line = b'{"memory": "Likes tea", "user_id": "sample", "created_at": "2026-01-01"}'
    assert succeeded(await server.ask("POST", "/api/import", line))["imported"] == 1
    assert (await server.get(SAMPLE))["state"] == "taken"
    assert error_of(await server.ask("POST", SAMPLE)) == (409, "sample_taken")
    assert error_of(await server.ask("DELETE", SAMPLE)) == (404, "sample_not_found")
    assert (await server.get("/api/memories/sample"))["total"] == 1


@pytest.mark.costly("100 memories and 47 chats are stored, and taken back")
async def test_of_a_sample_beyond_a_quota_nothing_is_stored(open_server):
    server = await open_server({"quotas.user.memories": 100})
    assert error_of(await server.ask("POST", SAMPLE))[1] == "quota_exceeded"
    assert await server.get(SAMPLE) == {"user_id": "sample", "state": "none"}
    assert (await server.get(f"/api/memories?{MINE}"))["total"] == 0
    assert (await server.get(f"/api/conversations?{MINE}"))["results"] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ERASING)
@pytest.mark.parametrize("when", ["before", "behind"])
async def test_a_removal_that_was_cut_ends_when_it_is_repeated(open_server, name, when):
    server = await open_server()
    if name not in {one.name for one in server.parts.upkeep.holdings}:
        pytest.skip("a toy of other tests")
    succeeded(await server.ask("POST", SAMPLE))
    cut(server.parts, Point(name, "erase", when), end_here)
    assert (await server.ask("DELETE", SAMPLE)).status == 500
    if (name, when) == ("conversation", "behind"):  # nothing tells any more whose the name was
        assert (await server.get(SAMPLE))["state"] == "taken"
        succeeded(await server.ask("POST", "/api/subjects/sample/erase"))
        assert (await server.get(SAMPLE))["state"] == "none"
        return
    assert (await server.get(SAMPLE))["state"] == "there"
    assert error_of(await server.ask("POST", SAMPLE)) == (409, "sample_there")
    succeeded(await server.ask("DELETE", SAMPLE))
    assert (await server.get(SAMPLE))["state"] == "none"
    assert (await server.get(f"/api/conversations?{MINE}"))["results"] == []


def end_here() -> None:
    raise Cut


async def test_a_user_of_its_name_in_another_project_is_not_in_its_way(open_server):
    server = await open_server()
    line = b'{"memory": "Likes tea", "user_id": "sample", "created_at": "2026-01-01"}'
    succeeded(await server.ask("POST", "/api/import?project=tea", line))
    assert (await server.get(f"{SAMPLE}?project=tea"))["state"] == "taken"
    assert (await server.get(SAMPLE))["state"] == "none"
    refusal = await server.ask("POST", f"{SAMPLE}?project=tea")
    assert error_of(refusal) == (409, "sample_taken")


def present_time(text: str) -> datetime:
    found = from_text(text)
    assert found is not None
    return found
