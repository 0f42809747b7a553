"""Transcripts as chat programs write them: calls of tools, parts, roles by other names, and their order."""

import json

import pytest

from tests.server.server_kit import error_of

MEMORIES = "/api/memories"
HIKING = {"role": "user", "content": "I love hiking"}
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def user_says(text):
    return {"role": "user", "content": text}


CALLING = {"role": "assistant", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "ok"}
TEXT = {"type": "text", "text": "I love hiking"}
PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}


@pytest.mark.parametrize(
    "said",
    [
        [HIKING, CALLING | {"content": None}, RESULT],
        [HIKING, CALLING, RESULT | {"content": [{"type": "text", "text": "ok"}]}],
        [HIKING, {"role": "assistant", "content": None, "refusal": "No."}],
        [HIKING, {"role": "assistant", "content": None, "function_call": CALL["function"]}],
        [{"role": "user", "content": [TEXT, PICTURE]}],
        [{"role": "human", "content": "I love hiking"}, {"role": "ai", "content": "Nice."}],
        [{"role": "Human", "content": "I love hiking"}, {"role": "model", "content": "Nice."}],
        [{"role": "developer", "content": "Be kind."}, HIKING],
    ],
)
async def test_a_transcript_of_any_chat_program_is_taken(server, said):
    answer = await server.post(MEMORIES, {"messages": said, "user_id": "mira"})
    assert [one["memory"] for one in answer["results"]] == ["Loves hiking"]
    assert "ignored" not in answer


async def test_roles_that_nobody_knows_are_named_in_the_answer(server):
    said = [HIKING, {"role": "narrator", "content": "I love rain."}, {"role": "critic", "content": "I hate rain."}]
    answer = await server.post(MEMORIES, {"messages": said, "user_id": "mira"})
    assert ([one["memory"] for one in answer["results"]], answer["ignored"]) == (
        ["Loves hiking"],
        ["narrator", "critic"],
    )
    kept = await server.post(MEMORIES, {"messages": said, "user_id": "mira", "infer": False})
    assert (len(kept["results"]), "ignored" in kept) == (3, False)


@pytest.mark.parametrize("role", ["user", "tool", "system"])
async def test_only_an_assistants_message_may_have_no_content(server, role):
    said = [HIKING, {"role": role, "content": None}]
    refused = await server.ask("POST", MEMORIES, {"messages": said, "user_id": "mira"})
    assert error_of(refused) == (422, "validation_error")


async def test_messages_of_one_add_keep_their_order_in_lists_and_exports(server):
    texts = [f"message {number}" for number in range(40)]
    await server.post(MEMORIES, {"messages": list(map(user_says, texts)), "user_id": "mira", "infer": False})
    listed = await server.get(f"{MEMORIES}/mira?limit=100")
    assert [one["memory"] for one in listed["results"]] == texts[::-1]
    asked = f"{MEMORIES}?user_id=mira&kind=message&limit=100&order="
    newest = (await server.get(f"{asked}created_desc"))["results"]
    oldest = (await server.get(f"{asked}created_asc"))["results"]
    assert [one["memory"] for one in newest] == texts[::-1]
    assert [one["memory"] for one in oldest] == texts
    exported = (await server.ask("GET", "/api/export?user_id=mira")).body.splitlines()
    assert [json.loads(line).get("memory") for line in exported][-len(texts) :] == texts[::-1]
