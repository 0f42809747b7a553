"""What a model may answer when asked for facts: it is read, refused or cut, and stored nowhere else."""

import asyncio
import json

import pytest
import structlog

from tests.remembering_model import DECISION, learn_every_turn
from tests.server.server_kit import asks, error_of

MEMORIES = "/api/memories"
MOST_FACTS = 100
FACTS = json.dumps({"facts": ["Lives in Graz"]})
ENDLESS = "x" * 1_048_576


def told(text: str = "I live in Graz.", user: str = "mira") -> dict:
    return {"messages": [{"role": "user", "content": text}], "user_id": user}


def extracts(llm) -> dict:
    """Settings of a server that asks `llm` for everything."""
    return asks(llm) | {"embedding.provider": "openai"}


async def stored(server, user: str = "mira") -> list[str]:
    """The texts of a user's memories, newest first."""
    listed = await server.get(f"{MEMORIES}/{user}?limit=1000")
    return [memory["memory"] for memory in listed["results"]]


@pytest.mark.parametrize("nonsense", ["I found nothing.", "", "7", '{"facts": 7}', '{"facts": ["Lives in Gr'])
async def test_an_answer_that_is_no_list_of_facts_is_told_and_stores_nothing(open_server, llm, nonsense):
    server = await open_server(extracts(llm))
    llm.reply(nonsense)
    llm.reply(nonsense)
    assert error_of(await server.ask("POST", MEMORIES, told())) == (502, "llm_invalid_output")
    assert await stored(server) == []
    llm.reply(FACTS)
    await server.post(MEMORIES, told())
    assert await stored(server) == ["Lives in Graz"]


@pytest.mark.parametrize(
    "wrapped",
    [
        f"```json\n{FACTS}\n```",
        f"Here is what I found:\n\n{FACTS}\n\nAnything else?",
        '{"facts": [{"fact": "Lives in Graz"}, 7, null, ["x"], ""]}',
        "{'facts': ['Lives in Graz',]}",
    ],
    ids=["fenced", "prose", "mixed types", "loose quotes"],
)
async def test_facts_in_a_wrapping_are_unwrapped(open_server, llm, wrapped):
    server = await open_server(extracts(llm))
    llm.reply(wrapped)
    await server.post(MEMORIES, told())
    assert await stored(server) == ["Lives in Graz"]


async def test_ten_thousand_facts_are_cut_and_the_cut_is_logged_with_its_conversation_and_without_words(
    open_server, llm
):
    server = await open_server(extracts(llm))
    llm.reply_json({"facts": [f"Owns book number {n}" for n in range(10_000)]})
    with structlog.testing.capture_logs() as log:
        async with asyncio.timeout(60):
            await server.post(MEMORIES, told("I own many books."))
    assert len(await stored(server)) == MOST_FACTS
    (line,) = [line for line in log if line["event"] == "facts dropped"]
    assert line["too_many"] == 10_000 - MOST_FACTS
    assert len(line["conversation"]) == 8
    assert "book" not in repr(log)


async def test_a_fact_of_a_mebibyte_is_dropped_and_the_others_kept(open_server, llm):
    server = await open_server(extracts(llm))
    llm.reply_json({"facts": [ENDLESS, "Lives in Graz"]})
    with structlog.testing.capture_logs() as log:
        await server.post(MEMORIES, told())
    assert await stored(server) == ["Lives in Graz"]
    assert [line["too_long"] for line in log if line["event"] == "facts dropped"] == [1]


async def test_a_decision_over_ids_it_was_not_shown_touches_no_memory(open_server, llm):
    server = await open_server(extracts(llm))
    entries: list[dict] = []
    llm.rule(lambda asked: DECISION in asked.prompt, lambda asked: json.dumps({"memory": entries}))
    learn_every_turn(llm)
    await server.post(MEMORIES, told("Likes tea", user="tom"))
    await server.post(MEMORIES, told("Likes green tea"))
    (foreign,) = (await server.get(f"{MEMORIES}/tom"))["results"]
    wanted = ["7", "-1", "0x0", "", None, True, foreign["id"], f"../{foreign['id']}"]
    entries += [{"id": name, "text": "Owned", "event": "UPDATE", "old_memory": "Likes tea"} for name in wanted]
    entries += [{"id": name, "text": "", "event": "DELETE", "old_memory": None} for name in wanted]
    await server.post(MEMORIES, told("Likes green tea with milk"))
    assert await stored(server, "tom") == ["Likes tea"]
    assert await stored(server) == ["Likes green tea with milk", "Likes green tea"]
    shown = [asked.prompt for asked in llm.requests if DECISION in asked.prompt]
    assert shown
    assert "Likes tea" not in " ".join(shown)  # what another user told is not even shown
