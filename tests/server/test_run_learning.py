"""What a run read and what was learned from it behind its answer, told as long as it is remembered."""

import asyncio
from collections.abc import Callable

from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import Server, asks, hello

CHAT, RUNS = "/v1/chat/completions", "/api/runs"


async def said(server: Server, text: str) -> str:
    """A turn with memory; the id of its run."""
    body = hello(messages=[{"role": "user", "content": text}], memoryEnabled=True)
    return (await server.ask("POST", CHAT, body)).headers["x-workflow-run-id"]


async def written(
    server: Server, run_id: str, holds: Callable[[dict], bool] = lambda told: told["state"] == "done"
) -> dict:
    """What the run wrote, once that holds of it."""
    async with asyncio.timeout(60):
        while True:
            told = (await server.get(f"{RUNS}/{run_id}/memories"))["written"]
            if told and holds(told[0]):
                found: dict = told[0]
                return found
            await asyncio.sleep(0.02)


async def test_a_run_names_what_was_learned_from_it_and_the_next_one_what_it_read(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    first = await said(server, "I am allergic to walnuts.")
    told = await written(server, first)
    (learned,) = told["learned"]
    assert (told["kind"], learned["event"], learned["text"]) == ("turn", "ADD", "Is allergic to walnuts")
    second = await said(server, "May I eat walnut cake?")
    read = (await server.get(f"{RUNS}/{second}/memories"))["read"]
    assert {"id": learned["id"], "text": "Is allergic to walnuts", "fits": True} in read
    assert (await server.get(f"{RUNS}/{second}/summary"))["memories"] == read


async def test_a_memory_names_the_answers_it_was_given_to_and_the_change_it_came_from(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    record = {"memory": "Is allergic to walnuts", "user_id": "user", "id": "mem_nuts", "created_at": "2026-03-01"}
    assert (await server.ask("POST", "/api/import", record)).status == 200
    llm.reply("No.")
    llm.reply_json({"facts": []})
    run_id = await said(server, "May I eat walnut cake?")
    told = await server.get("/api/memories/mem_nuts/recalls?user_id=user")
    assert [(run["run_id"], run["question"]) for run in told["results"]] == [(run_id, "May I eat walnut cake?")]
    assert told["looked_at"] == 1
    (event,) = (await server.get("/api/memories/mem_nuts/history"))["results"]
    (change,) = (await server.get("/api/memories/changes?user_id=user"))["results"]
    assert event["change_id"] == change["id"]
    for path in ("mem_none/recalls?user_id=user", "mem_nuts/recalls?user_id=other"):
        assert (await server.ask("GET", f"/api/memories/{path}")).status == 404


async def test_a_run_tells_which_memories_fit_its_question_and_which_were_given_along(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    texts = ["Is allergic to walnuts", "Plays the violin"]
    for text in texts:
        record = {"memory": text, "user_id": "user", "created_at": "2026-03-01T09:15:00.000Z"}
        assert (await server.ask("POST", "/api/import", record)).status == 200
    llm.reply("No.")
    llm.reply_json({"facts": []})
    run_id = await said(server, "May I eat walnut cake?")
    read = (await server.get(f"{RUNS}/{run_id}/memories"))["read"]
    assert {memory["text"]: memory["fits"] for memory in read} == dict(zip(texts, (True, False), strict=True))


async def test_of_a_memory_that_was_deleted_since_no_word_is_told(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    run_id = await said(server, "Something about nuts.")
    (learned,) = (await written(server, run_id))["learned"]
    assert (await server.ask("DELETE", f"/api/memories/{learned['id']}?user_id=user")).status == 200
    (gone,) = (await written(server, run_id))["learned"]
    assert gone == {"id": learned["id"], "event": "ADD", "text": None}


async def test_a_turn_that_cannot_be_understood_waits_to_be_tried_again(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    llm.reply("no JSON at all")
    run_id = await said(server, "Something about nuts.")
    told = await written(server, run_id, lambda told: told["state"] == "waiting" and told["error"])
    assert told["learned"] == []


async def test_a_run_names_what_was_proposed_until_it_is_reviewed(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm) | {"memory.review": "all"})
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    run_id = await said(server, "I am allergic to walnuts.")
    told = await written(server, run_id)
    (proposed,) = told["proposed"]
    assert (told["learned"], proposed["event"], proposed["text"]) == ([], "ADD", "Is allergic to walnuts")
    await server.post(f"/api/memories/proposals/{proposed['id']}/approve", None)
    assert (await written(server, run_id))["proposed"] == [proposed | {"text": None}]


async def test_a_run_tells_that_a_secret_was_left_out_and_not_which(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    llm.reply_json({"facts": ["The keypad at home takes 9917", "Alarm code: 9917", "Lives in Graz"]})
    told = await written(server, await said(server, "I live in Graz, and my alarm code is 9917."))
    assert [one["text"] for one in told["learned"]] == ["Lives in Graz"]
    assert told["left_out"] == {"secret": 2}
