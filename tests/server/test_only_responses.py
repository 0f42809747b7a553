"""With the OpenAI provider everything goes over `/responses`, chat and memory alike, and nothing is kept there."""

import pytest

from tests.scripted_llm import Answer
from tests.server.server_kit import asks, error_of, hello

CHAT, MEMORIES = "/v1/chat/completions", "/api/memories"
SAID = {"messages": [{"role": "user", "content": "I live in Graz."}], "user_id": "mira"}


@pytest.fixture
async def server(open_server, llm):
    """One whose model is OpenAI's, played by the scripted server."""
    return await open_server(asks(llm) | {"llm.provider": "openai-responses", "llm.model": "gpt-5-mini"})


async def test_chats_and_memory_call_responses_and_nothing_else(server, llm):
    llm.reply_json({"facts": ["Lives in Graz"]})
    await server.post(MEMORIES, SAID)
    llm.reply_json({"facts": ["Lives in Rome"]})
    change = {"id": "0", "text": "Lives in Rome", "event": "UPDATE", "old_memory": "Lives in Graz"}
    llm.reply_json({"memory": [change]})
    await server.post(MEMORIES, SAID)
    await server.post(f"{MEMORIES}/search", {"query": "where?", "user_id": "mira"})
    for path in (CHAT, "/api/chat", "/api/generate"):
        for stream in (False, True):
            asked = hello(stream=stream, prompt="Hello", temperature=0.7, top_p=0.9, options={"temperature": 0.7})
            assert (await server.ask("POST", path, asked)).status == 200
    bodies = [asked.body for asked in llm.requests]
    assert [asked.path for asked in llm.requests] == ["/v1/responses"] * 9
    assert {asked.headers["Authorization"] for asked in llm.requests} == {"Bearer sk-canary-3141592653"}
    assert [(body["model"], body["store"]) for body in bodies] == [("gpt-5-mini", False)] * 9
    assert not [body for body in bodies if {"temperature", "top_p", "messages", "response_format"} & body.keys()]
    formats = [body["text"]["format"] for body in bodies[:3]]
    assert [form["name"] for form in formats] == ["memory_facts", "memory_facts", "memory_changes"]
    for form in formats:
        assert (form["type"], form["strict"]) == ("json_schema", True)
        assert_strict(form["schema"])


def assert_strict(schema: dict) -> None:
    """Every object of the schema lists all of its members as required and allows no other."""
    if schema.get("type") == "object":
        assert schema["additionalProperties"] is False
        assert sorted(schema["required"]) == sorted(schema["properties"])
    for inner in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else ())):
        assert_strict(inner)


async def test_reasoning_in_front_of_the_message_is_passed_over(server, llm):
    llm.reply_json({"facts": ["Lives in Graz"]}, thinking="They say where they live.")
    added = await server.post(MEMORIES, SAID)
    assert [entry["memory"] for entry in added["results"]] == ["Lives in Graz"]


async def test_a_truncated_answer_is_asked_for_again_with_twice_the_budget(server, llm):
    llm.queue(Answer(text='{"facts": ["Lives in Gr', reason="length"))
    llm.reply_json({"facts": ["Lives in Graz"]})
    added = await server.post(MEMORIES, SAID)
    assert [entry["memory"] for entry in added["results"]] == ["Lives in Graz"]
    first, again = (asked.body["max_output_tokens"] for asked in llm.requests)
    assert again == 2 * first


async def test_an_answer_truncated_every_time_is_an_error_and_not_no_facts(server, llm):
    llm.default = Answer(text='{"facts": []', reason="length")
    assert error_of(await server.ask("POST", MEMORIES, SAID)) == (502, "llm_invalid_output")
    assert (await server.get(f"{MEMORIES}/mira"))["results"] == []


async def test_no_candidate_of_another_user_is_shown_to_the_model(server, llm):
    for user in ("otto", "mira"):
        llm.reply_json({"facts": ["Lives in Vaduz"]})
        added = await server.post(MEMORIES, SAID | {"user_id": user})
        assert [entry["event"] for entry in added["results"]] == ["ADD"]
    assert len(llm.requests) == 2  # mira has nothing of her own, so there is nothing to decide
    llm.reply_json({"facts": ["Lives in Rome"]})
    llm.reply_json({"memory": []})
    await server.post(MEMORIES, SAID)
    llm.reply_json({"facts": ["Lives in Oslo"]})
    llm.reply_json({"memory": []})
    await server.post(MEMORIES, SAID | {"user_id": "otto"})
    assert "Vaduz" in llm.requests[-1].prompt  # otto's own
    assert "Rome" not in llm.requests[-1].prompt
