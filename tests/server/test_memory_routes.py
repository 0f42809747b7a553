"""`/api/memories` as the contract has it."""

import asyncio
from typing import Any

import pytest

from tests.server.server_kit import asks, error_of

MEMORIES = "/api/memories"


def said(*texts: str, user: str = "mira", **more):
    """The body of an add that keeps each text word for word."""
    return {"messages": [{"role": "user", "content": text} for text in texts], "user_id": user, "infer": False} | more


async def listed(server, user: str = "mira", query: str = "") -> list[str]:
    """The texts of a user's memories, newest first."""
    return [memory["memory"] for memory in (await server.get(f"{MEMORIES}/{user}{query}"))["results"]]


async def test_what_is_added_is_told_and_listed(server):
    answer = await server.post(MEMORIES, said("Lives in Graz", metadata={"source": "chat"}))
    assert answer["message"] == "Added 1 memories successfully"
    added = answer["results"][0]
    assert (added["memory"], added["event"]) == ("Lives in Graz", "ADD")
    (record,) = (await server.get(f"{MEMORIES}/mira"))["results"]
    assert record["id"] == added["id"]
    assert record["id"].startswith("mem_")
    assert record["user_id"] == "mira"
    assert record["metadata"] == {"source": "chat"}
    assert record["created_at"] == record["updated_at"]


async def test_facts_are_extracted_and_reconciled(open_server):
    server = await open_server()
    message = {"role": "user", "content": "I'm a vegetarian and allergic to nuts."}
    answer = await server.post(MEMORIES, {"messages": [message], "user_id": "mira", "include_usage": True})
    assert answer["message"] == f"Added {len(answer['results'])} memories successfully"
    assert answer["results"]
    assert set(answer["usage"]) == {"input_tokens", "output_tokens", "cached_tokens"}


async def test_nothing_to_remember_is_said(server):
    body = {"messages": [{"role": "system", "content": "Be brief."}], "user_id": "mira"}
    assert await server.post(MEMORIES, body) == {"results": [], "message": "No new information found to store"}


async def test_a_message_may_carry_its_own_speaker_time_and_metadata(server):
    own = {"role": "user", "name": "Caroline", "timestamp": "2023-05-07T10:00:00", "metadata": {"turn": "D1:3"}}
    await server.post(MEMORIES, said(metadata={"file": 1}) | {"messages": [own | {"content": "I went hiking"}]})
    (record,) = (await server.get(f"{MEMORIES}/mira"))["results"]
    assert record["created_at"] == "2023-05-07T10:00:00.000Z"
    assert record["name"] == "Caroline"
    assert record["metadata"]["turn"] == "D1:3"


async def test_text_parts_are_joined(server):
    parts = [
        {"type": "text", "text": "Rows"},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "daily"},
    ]
    await server.post(MEMORIES, said() | {"messages": [{"role": "user", "content": parts}]})
    assert await listed(server) == ["Rows\ndaily"]


async def test_search_finds_the_right_memory_first(server):
    await server.post(MEMORIES, said("Rows every morning", "Works at a bank"))
    found = await server.post(f"{MEMORIES}/search", {"query": "when does she row?", "user_id": "mira", "limit": 1})
    (hit,) = found["results"]
    assert hit["memory"] == "Rows every morning"
    assert 0 < hit["score"] <= 1
    assert "signals" not in hit


async def test_explain_shows_how_it_was_found(server):
    await server.post(MEMORIES, said("Rows every morning"))
    body = {"query": "row", "user_id": "mira", "explain": True}
    found = await server.post(f"{MEMORIES}/search", body)
    assert found["results"][0]["signals"]
    assert found["stages"]


async def test_an_unknown_user_has_nothing(server):
    assert await server.get(f"{MEMORIES}/nobody") == {"results": [], "total": 0}
    assert (await server.post(f"{MEMORIES}/search", {"query": "x", "user_id": "nobody"}))["results"] == []


async def test_one_memory_is_deleted_once(server):
    added = (await server.post(MEMORIES, said("Lives in Graz")))["results"][0]["id"]
    answer = await server.ask("DELETE", f"{MEMORIES}/{added}?user_id=mira")
    assert answer.status == 200
    assert await listed(server) == []
    assert error_of(await server.ask("DELETE", f"{MEMORIES}/{added}?user_id=mira")) == (404, "memory_not_found")


async def test_a_foreign_memory_is_as_unknown_as_none(server):
    added = (await server.post(MEMORIES, said("Lives in Graz")))["results"][0]["id"]
    for target in (f"{added}?user_id=otto", f"{added}?project=other", "mem_0?user_id=otto"):
        assert error_of(await server.ask("DELETE", f"{MEMORIES}/{target}")) == (404, "memory_not_found")
    assert await listed(server) == ["Lives in Graz"]


async def test_delete_all_takes_one_users_memories_and_no_others(server):
    await server.post(MEMORIES, said("one", "two"))
    await server.post(MEMORIES, said("three", user="otto"))
    answer = await server.ask("DELETE", f"{MEMORIES}?user_id=mira")
    assert answer.body == b'{"success":true,"message":"Deleted 2 memories","deleted":2}'
    assert await listed(server, "otto") == ["three"]
    assert (await server.ask("DELETE", f"{MEMORIES}?user_id=mira")).status == 200


@pytest.mark.parametrize("query", ["", "?user_id=", "?user_id=%20"])
@pytest.mark.parametrize("method", ["DELETE", "GET"])
async def test_no_user_never_means_everybody(server, query, method):
    await server.post(MEMORIES, said("one"))
    assert error_of(await server.ask(method, f"{MEMORIES}{query}")) == (400, "missing_user_id")
    assert await listed(server) == ["one"]


@pytest.mark.parametrize("named", ["?project=atlas", "header"])
async def test_a_project_is_named_by_query_or_header_and_keeps_to_itself(server, named):
    query = "" if named == "header" else named
    headers = {"x_etienne_project": "atlas"} if named == "header" else {}
    await server.post(f"{MEMORIES}{query}", said("in atlas"), **headers)
    assert await listed(server) == []
    assert await listed(server, query="?project=atlas") == ["in atlas"]


@pytest.mark.parametrize(
    "name", ["..", ".", "", "a%2Fb", "..%5Cx", "%2Fetc", "C%3Ax", "x%00", "x" * 300, "%E2%80%AEx"]
)
async def test_a_project_with_a_dangerous_name_is_refused(server, name):
    assert error_of(await server.ask("GET", f"{MEMORIES}/mira?project={name}")) == (400, "invalid_project")


@pytest.mark.parametrize(
    "user", ["a/b", "a/b/history", "a//b", "ends/", "ü 🎉", "50%", "a?b#c", "search", "..", "x%2Fy"]
)
async def test_users_of_any_name_are_reached_by_path_and_by_query(server, user):
    from urllib.parse import quote

    await server.post(MEMORIES, said("mine", user=user))
    encoded = quote(user, safe="")
    assert [m["memory"] for m in (await server.get(f"{MEMORIES}?user_id={encoded}"))["results"]] == ["mine"]
    if user not in ("search", ".."):
        assert await listed(server, encoded) == ["mine"]


@pytest.mark.parametrize("target", ["/api/memories", "/api/memories/", "//api/memories//", "/api//memories"])
async def test_slashes_do_not_matter(server, target):
    assert (await server.ask("POST", target, said("one"))).status == 200


async def test_history_tells_where_a_memory_came_from(server):
    added = (await server.post(MEMORIES, said("Lives in Graz")))["results"][0]["id"]
    entries = (await server.get(f"{MEMORIES}/{added}/history?user_id=mira"))["results"]
    assert [(entry["event"], entry["new_memory"]) for entry in entries] == [("ADD", "Lives in Graz")]
    unknown = await server.ask("GET", f"{MEMORIES}/{added}/history?user_id=otto")
    assert error_of(unknown) == (404, "memory_not_found")


@pytest.mark.parametrize(
    ("limit", "count"), [("", 100), ("?limit=5", 5), ("?limit=0", 120), ("?limit=1000000000", 120)]
)
async def test_limits_have_a_default_and_are_clamped(server, limit, count):
    await server.post(MEMORIES, said(*(f"fact {n}" for n in range(120))))
    page = await server.get(f"{MEMORIES}/mira{limit}")
    assert (len(page["results"]), page["total"]) == (count, 120)


@pytest.mark.parametrize("limit", ["-1", "abc", "1.5", "1e99", "true", "", "%20", "5;drop"])
@pytest.mark.parametrize("name", ["limit", "offset"])
async def test_a_limit_in_the_query_is_a_whole_number(server, name, limit):
    assert error_of(await server.ask("GET", f"{MEMORIES}/mira?{name}={limit}")) == (422, "validation_error")


@pytest.mark.parametrize("limit", [-1, 1.5, "5", True, 1e99, [], {}])
async def test_a_limit_in_a_body_is_a_whole_number(server, limit):
    body = {"query": "x", "user_id": "mira", "limit": limit}
    assert error_of(await server.ask("POST", f"{MEMORIES}/search", body)) == (422, "validation_error")


async def test_offset_goes_on_where_the_page_ended(server):
    await server.post(MEMORIES, said("one", "two", "three"))
    whole = await listed(server)
    assert await listed(server, query="?limit=1&offset=1") == whole[1:2]
    assert await listed(server, query="?offset=1000000000") == []


async def test_a_key_sent_twice_adds_once(server):
    first = await server.post(MEMORIES, said("one"), idempotency_key="k1")
    again = await asyncio.gather(*(server.post(MEMORIES, said("one"), idempotency_key="k1") for _ in range(8)))
    assert again == [first] * 8
    assert await listed(server) == ["one"]
    other = await server.ask("POST", MEMORIES, said("two"), idempotency_key="k1")
    assert error_of(other) == (409, "idempotency_mismatch")


async def test_filters_narrow_by_agent_and_run_and_nothing_else_is_dropped_silently(server):
    await server.post(MEMORIES, said("Rows with the team", agent_id="coach"))
    await server.post(MEMORIES, said("Rows alone"))
    body = {"query": "rows", "user_id": "mira", "filters": {"agent_id": "coach"}}
    found = await server.post(f"{MEMORIES}/search", body)
    assert [hit["memory"] for hit in found["results"]] == ["Rows with the team"]
    unfit: list[dict[str, object]] = [
        {"user_id": "otto"},
        {"OR": []},
        {"agent_id": {"ne": "x"}},
        {"agent_id": "*"},
        {"1=1; --": "x"},
    ]
    for filters in unfit:
        refused = await server.ask("POST", f"{MEMORIES}/search", body | {"filters": filters})
        assert error_of(refused) == (400, "invalid_filter")


async def test_members_a_client_may_not_set_are_ignored(server):
    planted: dict[str, Any] = {
        "id": "mem_planted",
        "created_at": "1999-01-01",
        "is_admin": True,
        "score": 1,
        "project": "other",
    }
    await server.post(MEMORIES, said("one", **planted))
    (record,) = (await server.get(f"{MEMORIES}/mira"))["results"]
    assert record["id"] != "mem_planted"
    assert not record["created_at"].startswith("1999")


async def test_a_projects_settings_are_merged_over_the_servers(open_server):
    server = await open_server(decay_days=90.0)
    target = f"{MEMORIES}/settings?project=atlas"
    assert await server.get(target) == {
        "memoryEnabled": True,
        "decayDays": 90,
        "searchLimit": 5,
        "review": "off",
        "piiFacts": "off",
        "piiMessages": "off",
        "piiModels": "off",
        "memoriesDays": 0,
        "historyDays": 0,
        "deletedDays": 0,
        "timeZone": None,
        "retention": {"own": {}, "otherwise": {"memoriesDays": 0, "historyDays": 0, "deletedDays": 0}},
    }
    changes = (
        {"memoryEnabled": False},
        {"decayDays": 6},
        {"searchLimit": 0},
        {"review": "all"},
        {"piiModels": "tag"},
        {"deletedDays": 30},
    )
    for change in changes:
        assert (await server.ask("PUT", target, change)).status == 200
    assert await server.get(target) == {
        "memoryEnabled": False,
        "decayDays": 6,
        "searchLimit": 0,
        "review": "all",
        "piiFacts": "off",
        "piiMessages": "off",
        "piiModels": "tag",
        "memoriesDays": 0,
        "historyDays": 0,
        "deletedDays": 30,
        "timeZone": None,
        "retention": {
            "own": {"deletedDays": 30},
            "otherwise": {"memoriesDays": 0, "historyDays": 0, "deletedDays": 0},
        },
    }
    assert (await server.get(f"{MEMORIES}/settings"))["memoryEnabled"] is True


async def test_a_project_may_have_its_own_extraction_prompt(server):
    target = f"{MEMORIES}/extraction-prompt"
    default = await server.get(target)
    assert default["isCustom"] is False
    await server.ask("PUT", target, {"prompt": "Keep only places."})
    assert await server.get(target) == {"prompt": "Keep only places.", "isCustom": True}
    for _ in range(2):
        answer = await server.ask("DELETE", target)
        assert answer.status == 200
    assert await server.get(target) == default


async def test_an_add_put_off_is_answered_at_once_and_can_be_asked_after(open_server, llm):
    server = await open_server(asks(llm))
    llm.default = llm.default.__class__(silent=True)
    answer = await server.post(MEMORIES, said("one") | {"async_mode": True, "infer": True})
    assert answer["status"] == "PENDING"
    event = await server.get(f"/api/events/{answer['event_id']}")
    assert (event["id"], event["event_type"]) == (answer["event_id"], "ADD")
    foreign = await server.ask("GET", f"/api/events/{answer['event_id']}?project=other")
    assert error_of(foreign) == (404, "event_not_found")
    llm.release()


async def test_a_model_that_refuses_is_the_gateways_trouble_here(open_server, llm):
    from tests.scripted_llm import failure

    server = await open_server(asks(llm))
    body = {"messages": [{"role": "user", "content": "I live in Graz."}], "user_id": "mira"}
    for status, code in ((401, "llm_auth_failed"), (400, "llm_bad_request"), (500, "llm_unavailable")):
        llm.queue(failure(status))
        assert error_of(await server.ask("POST", MEMORIES, body)) == (502, code)
    assert await listed(server) == []
