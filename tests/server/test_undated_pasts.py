"""Chats whose files tell no time: what was said in them closes nothing that is current."""

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

from tests.server.pasts import USER, bring, chat, export, learn, memories, tell, user_says
from tests.server.server_kit import Server

JSON = dict[str, Any]
HOME = "I live in Linz."


def openai(*texts: str) -> bytes:
    return json.dumps([{"role": "user", "content": text} for text in texts]).encode()


def chatgpt(message: JSON | None = None, **times: object) -> JSON:
    """A chat of ChatGPT with one message; the message's time is that of the conversation without `create_time`."""
    made: JSON = chat("homes", ("user", "2022-03-01", HOME))
    del made["mapping"]["homes-0"]["message"]["create_time"]
    made["mapping"]["homes-0"]["message"] |= message or {}
    return made | times


CLAUDE: JSON = {"uuid": "c", "name": "c", "chat_messages": [{"uuid": "m", "sender": "human", "text": HOME}]}
WEBUI_MESSAGES: JSON = {"m": {"id": "m", "parentId": None, "childrenIds": [], "role": "user", "content": HOME}}
WEBUI: JSON = {"id": "w", "title": "w", "chat": {"history": {"messages": WEBUI_MESSAGES, "currentId": "m"}}}
OWN: list[JSON] = [
    {"format": "mnemoir-conversation", "version": 2, "session": {"id": "own"}},
    {"role": "user", "content": HOME},
]
SILLY: list[JSON] = [{"user_name": "Mira", "character_name": "Eddy"}, {"name": "Mira", "is_user": True, "mes": HOME}]
LIBRECHAT_MESSAGES = [{"messageId": "a", "isCreatedByUser": True, "text": HOME, "sender": "User"}]


def lines(values: Sequence[JSON]) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values)


UNDATED = {
    "openai": openai(HOME),
    "chatgpt": export(chatgpt()),
    "chatgpt of the future": export(chatgpt(message={"create_time": 4000000000})),
    "claude": json.dumps([CLAUDE]).encode(),
    "open-webui": json.dumps([WEBUI]).encode(),
    "librechat": json.dumps({"conversationId": "l", "title": "l", "messages": LIBRECHAT_MESSAGES}).encode(),
    "sillytavern": lines(SILLY),
    "own": lines(OWN),
    "own of the future": lines([OWN[0], OWN[1] | {"created_at": "2190-01-01T00:00:00Z"}]),
}


@pytest.mark.parametrize("program", UNDATED)
async def test_a_chat_without_times_closes_nothing_that_is_current(server, program):
    await tell(server, "I live in Graz.", "2021-05-01")
    told = await learn(server, await bring(server, UNDATED[program]))
    assert (told["turns_done"], told["failed"], await memories(server)) == (1, 0, ["Lives in Graz"])


DATED = {
    "chatgpt by its update": export(chatgpt(update_time=1577836800.5)),
    "chatgpt by a text": export(chatgpt(message={"create_time": "1577836800.5"})),
    "claude by its update": json.dumps([CLAUDE | {"updated_at": "2020-01-01T00:00:00Z"}]).encode(),
    "open-webui by its update": json.dumps([WEBUI | {"updated_at": 1577836800}]).encode(),
}


@pytest.mark.parametrize("program", DATED)
async def test_a_time_of_the_conversation_and_a_number_in_a_text_are_taken(server, program):
    await tell(server, "I live in Graz.", "2019-05-01")
    await learn(server, await bring(server, DATED[program]))
    assert await memories(server) == ["Lives in Linz"]
    await tell(server, "I live in Wels.", "2021-05-01")
    then = await server.get(f"/api/memories/{USER}?at=2020-06-01T00:00:00Z")
    assert [one["memory"] for one in then["results"]] == ["Lives in Linz"]


async def test_within_a_chat_without_times_what_was_said_last_holds(server):
    await learn(server, await bring(server, openai("I live in Graz.", "I work at Bosch.", "I moved to Linz.")))
    assert await memories(server) == ["Lives in Linz", "Works at Bosch"]


async def test_of_two_imports_without_times_the_second_closes_nothing_of_the_first(server):
    await learn(server, await bring(server, openai("I live in Graz.")))
    await learn(server, await bring(server, openai("I live in Linz.", "I work at Bosch.")))
    assert await memories(server) == ["Lives in Graz", "Works at Bosch"]


async def test_what_was_said_in_a_chat_without_times_gives_way_to_what_is_said_now(server):
    await learn(server, await bring(server, openai(HOME)))
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 5))
    said = {"messages": [{"role": "user", "content": "I live in Wels."}], "user_id": USER, "timestamp": now}
    await server.post("/api/memories", said)
    assert await memories(server) == ["Lives in Wels"]


async def test_a_dated_chat_beside_it_in_the_import_holds(server):
    dated = chat("dated", *user_says(("2022-03-01", "I live in Graz.")))
    await learn(server, await bring(server, export(chatgpt(), dated | {"id": "dated"})))
    assert await memories(server) == ["Lives in Graz"]


async def test_a_review_approves_it_as_a_past_state(open_server):
    server = await open_server({"memory.review": "all"})
    await tell(server, "I live in Graz.", "2021-05-01")
    await approve_all(server)
    await learn(server, await bring(server, openai(HOME)))
    await approve_all(server)
    assert await memories(server) == ["Lives in Graz"]


async def approve_all(server: Server) -> None:
    await server.post("/api/memories/proposals/approve", {"user_id": USER, "all": True})
    assert (await server.get(f"/api/memories/proposals?user_id={USER}"))["results"] == []
