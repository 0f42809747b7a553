"""A chat's memories are read in the zone of its person: by a header, or where the request says that they are."""

import pytest

from tests.server.server_kit import asks, hello
from tests.server.test_run_learning import written

CHAT = "/v1/chat/completions"
TOKYO = {"type": "approximate", "timezone": "Asia/Tokyo"}


async def shown_time(server, llm, body, headers):
    """The end of the time that the model is shown which learns from the chat."""
    sent = hello(messages=[{"role": "user", "content": "I fly tomorrow."}], memoryEnabled=True) | body
    answer = await server.ask("POST", CHAT, sent, **headers)
    await written(server, answer.headers["x-workflow-run-id"])
    asked = next(one.prompt for one in reversed(llm.requests) if "conversation_date" in one.prompt)
    return asked.split('conversation_date\\":\\"')[1].split('\\"')[0][23:]


@pytest.mark.parametrize(
    ("body", "headers", "offset"),
    [
        ({}, {"X-Timezone": "Asia/Tokyo"}, "+09:00"),
        ({"user_location": TOKYO}, {}, "+09:00"),
        ({"web_search_options": {"user_location": {"type": "approximate", "approximate": TOKYO}}}, {}, "+09:00"),
        ({"tools": [{"type": "web_search", "user_location": TOKYO}]}, {}, "+09:00"),
        ({"user_location": TOKYO}, {"X-Timezone": "-03:00"}, "-03:00"),
        ({"user_location": {"timezone": "Nowhere/Land"}}, {}, "+05:30"),
        ({"user_location": "Tokyo", "web_search_options": 3, "tools": []}, {"X-Timezone": "UTC"}, "Z"),
    ],
)
async def test_a_turn_is_learned_from_at_the_local_time_of_its_person(open_server, llm, body, headers, offset):
    server = await open_server(asks(llm) | {"memory.time_zone": "+05:30"})
    llm.default = llm.default.__class__(text='{"facts": []}')
    assert await shown_time(server, llm, body, headers) == offset
