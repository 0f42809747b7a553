"""What was learned from a turn is told at its answer, kept with it, and can be undone there."""

import asyncio
from collections.abc import Callable

from mnemoir.chats.remembering import job_of_answer
from tests.remembering_model import is_extraction
from tests.scripted_llm import ScriptedLLM, failure
from tests.server.server_kit import Server, asks, error_of, hello

CHAT, ID = "/v1/chat/completions", "tea"


def has_ended(told: dict) -> bool:
    return told["state"] not in ("waiting", "running")


async def said(server, text: str, **members) -> str:
    """Say something with memory on; the route of what is learned at its answer."""
    body = hello(messages=[{"role": "user", "content": text}], history="server", conversation_id=ID)
    await server.ask("POST", CHAT, {"memoryEnabled": True, **body, **members})
    (answer,) = (await server.get(f"/api/conversations/{ID}/messages?limit=1"))["results"]
    return f"/api/conversations/{ID}/messages/{answer['id']}/learned"


async def learned(server: Server, route: str, holds: Callable[[dict], bool] = has_ended) -> dict:
    async with asyncio.timeout(60):
        while True:
            told: dict = await server.get(route)
            if holds(told):
                return told
            await asyncio.sleep(0.02)


async def test_what_was_learned_is_told_at_the_answer(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    route = await said(server, "I am allergic to walnuts.")
    told = await learned(server, route)
    (memory,) = told["memories"]
    assert (told["state"], memory["event"], memory["memory"]) == ("learned", "ADD", "Is allergic to walnuts")


async def test_it_is_told_that_the_person_asks_to_forget_something(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.default = llm.default.__class__(text='{"facts": []}')
    told = await learned(server, await said(server, "Please forget that I live in Graz."))
    assert (told["state"], told["asks_to_forget"]) == ("nothing", True)
    later = await learned(server, await said(server, "Don't forget the milk."))
    assert (later["state"], later["asks_to_forget"]) == ("nothing", False)


async def test_a_turn_of_which_nothing_is_to_be_remembered_says_so(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Fine.")
    llm.reply_json({"facts": []})
    told = await learned(server, await said(server, "How are you?"))
    assert (told["state"], told["memories"], told["change_id"]) == ("nothing", [], None)


async def test_an_attempt_that_failed_is_told_while_it_is_repeated(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    llm.rule(is_extraction, lambda asked: failure(500, "The model is away."))
    told = await learned(server, await said(server, "I eat no nuts."), lambda told: told["error"] is not None)
    assert (told["state"], "The model is away." in told["error"]) == ("waiting", True)


async def test_what_was_given_up_is_told_with_its_cause(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    route = await said(server, "I eat no nuts.", memoryEnabled=False)
    (answer,) = (await server.get(f"/api/conversations/{ID}/messages?limit=1"))["results"]
    await server.parts.upkeep.background.put("of no kind", {}, job_id=job_of_answer(answer["uid"]))
    told = await learned(server, route)
    assert (told["state"], "No handler" in told["error"]) == ("failed", True)


async def test_a_project_kept_in_files_tells_it_too(open_server, llm: ScriptedLLM, tmp_path):
    files = {"storage.backend": "file", "storage.workspace_root": str(tmp_path / "workspace")}
    server = await open_server(asks(llm) | files)
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    route = await said(server, "I am allergic to walnuts.")
    told = await learned(server, route)
    assert [memory["memory"] for memory in told["memories"]] == ["Is allergic to walnuts"]
    await server.post(f"/api/memories/changes/{told['change_id']}/undo", {})
    assert (await server.get(route))["state"] == "undone"


async def test_without_memory_there_is_nothing_to_be_told(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    told = await server.get(await said(server, "I am allergic to walnuts.", memoryEnabled=False))
    assert told["state"] == "none"


async def test_an_undo_takes_back_what_was_learned_and_leaves_no_words(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    route = await said(server, "I am allergic to walnuts.")
    change = (await learned(server, route))["change_id"]
    undone = await server.post(f"/api/memories/changes/{change}/undo", {})
    told = await server.get(route)
    assert (told["state"], told["undone_by"]) == ("undone", undone["id"])
    assert [memory["memory"] for memory in told["memories"]] == [None]
    assert (await server.get("/api/memories/user"))["results"] == []


async def test_what_is_told_again_was_known_already(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    for _ in range(2):
        llm.reply("Noted.")
        llm.reply_json({"facts": ["Is allergic to walnuts"]})
        told = await learned(server, await said(server, "I am allergic to walnuts."))
    assert (told["state"], told["memories"], told["change_id"]) == ("known", [], None)
    assert [memory["memory"] for memory in told["known"]] == ["Is allergic to walnuts"]


async def test_an_undo_gives_back_the_text_before(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Lives in Graz"]})
    await learned(server, await said(server, "I live in Graz."))
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Lives in Rome"]})
    change = {"id": "0", "text": "Lives in Rome", "event": "UPDATE", "old_memory": "Lives in Graz"}
    llm.reply_json({"memory": [change]})
    told = await learned(server, await said(server, "I live in Rome."))
    assert told["memories"][0] | {"id": ""} == {
        "id": "",
        "event": "UPDATE",
        "memory": "Lives in Rome",
        "previous_memory": "Lives in Graz",
    }
    await server.post(f"/api/memories/changes/{told['change_id']}/undo", {})
    assert [memory["memory"] for memory in (await server.get("/api/memories/user"))["results"]] == ["Lives in Graz"]


async def test_a_memory_that_was_deleted_since_leaves_no_words(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    route = await said(server, "Something about nuts.")
    (memory,) = (await learned(server, route))["memories"]
    await server.ask("DELETE", f"/api/memories/{memory['id']}?user_id=user")
    assert [memory["memory"] for memory in (await server.get(route))["memories"]] == [None]


async def test_when_everything_was_forgotten_nothing_is_told(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    route = await said(server, "I am allergic to walnuts.")
    await learned(server, route)
    await server.ask("DELETE", "/api/memories?user_id=user")
    assert (await server.get(route))["state"] == "none"


async def test_of_an_answer_that_was_cut_it_is_told_what_was_learned_from_the_question(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Not", reason="length")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    told = await learned(server, await said(server, "I am allergic to walnuts."))
    assert [memory["memory"] for memory in told["memories"]] == ["Is allergic to walnuts"]


async def test_a_message_that_is_not_there_is_not_found(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm))
    llm.reply("Noted.")
    await said(server, "Hello.", memoryEnabled=False)
    answer = await server.ask("GET", f"/api/conversations/{ID}/messages/99/learned")
    assert error_of(answer) == (404, "message_not_found")


async def test_what_waits_for_a_review_is_told_until_it_is_approved_and_then_it_was_learned(
    open_server, llm: ScriptedLLM
):
    server = await open_server(asks(llm) | {"memory.review": "all"})
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    route = await said(server, "I am allergic to walnuts.")
    told = await learned(server, route)
    (waiting,) = told["proposed"]
    assert (told["state"], told["memories"], waiting["memory"]) == ("proposed", [], "Is allergic to walnuts")
    await server.post(f"/api/memories/proposals/{waiting['id']}/approve", None)
    told = await server.get(route)
    assert (told["state"], [one["memory"] for one in told["memories"]], told["proposed"]) == (
        "learned",
        ["Is allergic to walnuts"],
        [],
    )


async def test_of_what_was_refused_nothing_is_told(open_server, llm: ScriptedLLM):
    server = await open_server(asks(llm) | {"memory.review": "all"})
    llm.reply("Noted.")
    llm.reply_json({"facts": ["Is allergic to walnuts"]})
    route = await said(server, "I am allergic to walnuts.")
    (waiting,) = (await learned(server, route))["proposed"]
    await server.post(f"/api/memories/proposals/{waiting['id']}/refuse", None)
    assert (await server.get(route))["state"] == "none"
