"""Relative days are read in the zone of the person who says them."""

from datetime import datetime, timedelta

import pytest
from pydantic import TypeAdapter

from mnemoir.core.scope import Scope
from mnemoir.memory.facts import AddRequest, Turn
from mnemoir.server.memories.later import payload_of
from tests.server.server_kit import asks, error_of, succeeded

MEMORIES = "/api/memories"
SETTINGS = "/api/memories/settings"
ROME = {"role": "user", "content": "I'm flying to Rome tomorrow"}
LATE = "2024-02-28T16:30:00Z"  # half past one on 29 February in Tokyo


async def facts_of(server, headers=None, **body):
    sent = {"messages": [ROME], "user_id": "mira", "timestamp": LATE} | body
    answer = await server.ask("POST", MEMORIES, sent, **(headers or {}))
    return [one["memory"] for one in succeeded(answer)["results"]]


@pytest.mark.parametrize(
    ("body", "header", "day"),
    [
        ({"timestamp": "2024-02-29T01:30:00+09:00", "timezone": "America/Toronto"}, "-08:00", "2024-03-01"),
        ({"timezone": "Asia/Tokyo"}, "-08:00", "2024-03-01"),
        ({"timestamp": "2024-02-28T16:30:00+00:00", "timezone": "+09:00"}, None, "2024-03-01"),
        ({"timestamp": "2024-02-28T16:30:00-00:00"}, "Asia/Tokyo", "2024-03-01"),
        ({"timestamp": 1709137800}, "Asia/Tokyo", "2024-03-01"),
        ({"timezone": "Mars/Olympus"}, "Asia/Tokyo", "2024-03-01"),
        ({}, "no zone", "2024-02-29"),
        ({}, None, "2024-02-29"),
    ],
)
async def test_tomorrow_is_the_speakers_by_the_first_zone_that_is_known(open_server, body, header, day):
    server = await open_server({"memory.time_zone": "Europe/Vienna"})
    headers = {"X-Timezone": header} if header else {}
    assert await facts_of(server, headers, **body) == [f"Flying to Rome on {day}"]


async def test_a_message_has_an_offset_of_its_own(open_server):
    server = await open_server({"memory.time_zone": "Europe/Vienna"})
    told = ROME | {"timestamp": "2024-02-29T01:30:00+09:00"}
    assert await facts_of(server, messages=[told]) == ["Flying to Rome on 2024-03-01"]


async def test_a_project_has_a_zone_of_its_own_before_the_servers(open_server):
    server = await open_server({"memory.time_zone": "Europe/Vienna"})
    assert (await server.get(SETTINGS))["timeZone"] == "Europe/Vienna"
    succeeded(await server.ask("PUT", SETTINGS, {"timeZone": "Asia/Tokyo"}))
    assert (await server.get(SETTINGS))["timeZone"] == "Asia/Tokyo"
    assert await facts_of(server) == ["Flying to Rome on 2024-03-01"]
    wrong = await server.ask("PUT", SETTINGS, {"timeZone": "Mars/Olympus"})
    assert error_of(wrong) == (422, "validation_error")


async def test_the_model_is_shown_the_local_time_and_answers_stay_utc(open_server, llm):
    server = await open_server(asks(llm))
    llm.reply_json({"facts": ["Flies to Rome on 1 March 2024"]})
    assert await facts_of(server, timestamp="2024-02-29T01:30:00+09:00") == ["Flies to Rome on 1 March 2024"]
    assert "2024-02-29T01:30:00.000+09:00" in llm.requests[0].prompt
    listed = await server.get(f"{MEMORIES}/mira")
    assert [one["created_at"] for one in listed["results"]] == ["2024-02-28T16:30:00.000Z"]


def test_an_add_that_is_worked_off_later_keeps_its_zone_and_the_offset_of_its_time():
    said_at = datetime.fromisoformat("2024-02-29T01:30:00+09:00")
    request = AddRequest(turns=[Turn(role="user", text="Hi")], said_at=said_at, zone="Asia/Tokyo")
    payload = payload_of(Scope(project="default", user="mira"), request)
    kept = TypeAdapter(AddRequest).validate_python(payload["request"])
    assert kept.said_at is not None
    assert (kept.zone, kept.said_at.utcoffset()) == ("Asia/Tokyo", timedelta(hours=9))
