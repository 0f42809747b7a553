"""Learning from imported chats: oldest first, from the user's words, after the person was told what it takes."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from mnemoir.app.parts import open_parts
from mnemoir.chats.past_learning import KIND
from mnemoir.chats.remembering import past_queue_of
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.providers.http import AsgiAnswer
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings
from mnemoir.storage.sql.imports import SqlImports
from tests.remembering_model import learn_every_turn
from tests.scripted_llm import Answer, ScriptedLLM, failure
from tests.server.pasts import (
    USER,
    begin,
    bring,
    chat,
    ended,
    estimated,
    export,
    learn,
    memories,
    standing,
    tell,
    until,
    user_says,
)
from tests.server.server_kit import JSON, Server, asks, error_of

HOMES = chat("homes", *user_says(("2022-03-01", "I live in Graz."), ("2024-03-01", "I live in Wels.")))
WORK = chat("work", *user_says(("2023-03-01", "I live in Linz."), ("2023-04-01", "I work at Bosch.")))
MIRA = Scope(project="default", user=USER)
HOBBIES = [f"I like hobby {letter}." for letter in "ABCDEFGH"]
LIKED = chat("liked", *user_says(*((f"2023-01-{day:02}", text) for day, text in enumerate(HOBBIES, start=1))))


async def test_turns_of_all_conversations_are_taken_oldest_first_at_their_own_times(server):
    told = await learn(server, await bring(server, export(HOMES, WORK)))
    assert (told["state"], told["turns_done"], told["learned"], told["failed"]) == ("learned", 4, 4, 0)
    assert await memories(server) == ["Lives in Wels", "Works at Bosch"]
    then = await server.get(f"/api/memories/{USER}?at=2023-06-01T00:00:00Z")
    assert sorted(one["memory"] for one in then["results"]) == ["Lives in Linz", "Works at Bosch"]


async def test_what_was_told_after_an_imported_turn_stays_and_the_turn_is_history(server):
    await tell(server, "I live in Oslo.", "2025-01-01")
    await learn(server, await bring(server, export(HOMES, WORK)))
    assert await memories(server) == ["Lives in Oslo", "Works at Bosch"]


async def test_what_an_assistant_said_and_what_an_edit_replaced_is_not_learned(server):
    said = chat("said", ("user", "2023-01-01", "Hello!"), ("assistant", "2023-01-01", "You live in Oslo."))
    edited = chat("edited", ("user", "2023-01-01", "I live in Graz."))
    mapping = edited["mapping"]
    mapping["new"] = {**mapping["edited-0"], "id": "new", "message": {**mapping["edited-0"]["message"], "id": "new"}}
    mapping["new"]["message"]["content"] = {"content_type": "text", "parts": ["I live in Linz."]}
    mapping["root"]["children"].append("new")
    edited["current_node"] = "new"
    await learn(server, await bring(server, export(said, edited)))
    assert await memories(server) == ["Lives in Linz"]


async def test_with_the_built_in_rules_it_takes_no_call(server):
    told = await estimated(server, await bring(server, export(HOMES, WORK)))
    assert (told["turns"], told["least_calls"], told["most_calls"]) == (4, 0, 0)


async def test_with_a_model_its_name_and_the_calls_are_told_and_learning_begins_with_no_others(open_server, llm):
    server = await open_server(asks(llm))
    seen = learn_every_turn(llm)
    id = await bring(server, export(LIKED))
    told = await estimated(server, id)
    assert (told["model"], told["turns"], told["least_calls"], told["most_calls"]) == ("far-model", 8, 8, 16)
    agreed = {"model": "far-model", "least_calls": 0, "most_calls": 0}
    refused = await server.ask("POST", f"/api/imports/{id}/learn?user_id={USER}", agreed)
    assert (error_of(refused), seen) == ((409, "estimate_outdated"), [])
    assert (await learn(server, id))["turns_done"] == 8
    assert seen == [[text] for text in HOBBIES]
    assert told["least_calls"] <= len(llm.requests) <= told["most_calls"]


async def test_an_import_is_learned_from_once_and_only_where_memory_is_on(server):
    id = await bring(server, export(HOMES))
    await server.ask("PUT", "/api/memories/settings", {"memoryEnabled": False})
    agreed = {"model": (await estimated(server, id))["model"], "least_calls": 0, "most_calls": 0}
    refused = await server.ask("POST", f"/api/imports/{id}/learn?user_id={USER}", agreed)
    assert error_of(refused) == (409, "memory_off")
    await server.ask("PUT", "/api/memories/settings", {"memoryEnabled": True})
    await learn(server, id)
    again = await server.ask("POST", f"/api/imports/{id}/learn?user_id={USER}", agreed)
    assert error_of(again) == (409, "nothing_to_learn")
    assert error_of(await server.ask("GET", f"/api/imports/none?user_id={USER}")) == (404, "import_not_found")


async def test_another_user_does_not_see_an_import(server):
    id = await bring(server, export(HOMES))
    assert error_of(await server.ask("GET", f"/api/imports/{id}?user_id=noor")) == (404, "import_not_found")
    assert (await server.get("/api/imports?user_id=noor"))["results"] == []
    [mine] = (await server.get(f"/api/imports?user_id={USER}"))["results"]
    assert (mine["id"], mine["program"], mine["stored"]) == (id, "chatgpt", 1)


async def turns_done(server: Server, id: str, least: int) -> None:
    async def are_done() -> bool:
        done: int = (await standing(server, id))["turns_done"]
        return done >= least

    await until(are_done)


async def cause_of_waiting(server: Server, id: str) -> JSON:
    """How it stands with an import once it waits for something."""

    async def waits() -> bool:
        return (await standing(server, id))["waits_for"] is not None

    await until(waits)
    return await standing(server, id)


async def jobs_have_ended(server: Server) -> None:
    async def are_gone() -> bool:
        return not await server.parts.upkeep.background.waiting(past_queue_of(MIRA), limit=1)

    await until(are_gone)


async def test_it_is_stopped_between_two_turns_and_goes_on_where_it_was(open_server, llm):
    server = await open_server(asks(llm))
    third = asyncio.Event()
    seen = learn_every_turn(llm, lambda asked: third.set() if len(seen) == 3 else None)
    id = await bring(server, export(LIKED))
    await begin(server, id)
    await third.wait()
    await server.post(f"/api/imports/{id}/stop?user_id={USER}", {})
    await jobs_have_ended(server)
    stopped = await ended(server, id)
    assert (stopped["state"], stopped["turns_done"]) == ("stopped", len(seen))
    assert (await estimated(server, id))["turns"] == 8 - len(seen)
    assert (await learn(server, id))["state"] == "learned"
    assert seen == [[text] for text in HOBBIES]


@contextlib.asynccontextmanager
async def opened(folder: Path, llm: ScriptedLLM) -> AsyncIterator[Server]:
    given = {"storage.data_dir": str(folder), **asks(llm)}
    parts = await open_parts(load_settings(None, given, environ={}))
    try:
        await parts.start()
        yield Server(app=create_app(parts, ServerOptions()), parts=parts)
    finally:
        await parts.aclose()


async def test_after_restarts_it_goes_on_and_no_turn_is_asked_about_twice(tmp_path, llm):
    seen = learn_every_turn(llm)
    async with opened(tmp_path, llm) as server:
        id = await bring(server, export(LIKED))
        await begin(server, id)
    for done in (2, 4, 6):
        async with opened(tmp_path, llm) as server:
            await turns_done(server, id, done)
    async with opened(tmp_path, llm) as server:
        assert (await ended(server, id))["turns_done"] == 8
        assert await memories(server) == HOBBIES
    assert seen == [[text] for text in HOBBIES]


@pytest.mark.slow
async def test_a_server_that_is_killed_again_and_again_asks_only_about_a_turn_without_an_answer_twice(tmp_path, llm):
    many = [f"I like pastime {number}." for number in range(40)]
    seen = learn_every_turn(llm)
    said = user_says(*((f"2023-{1 + at // 28:02}-{1 + at % 28:02}", text) for at, text in enumerate(many)))
    async with opened(tmp_path, llm) as server:
        id = await bring(server, export(chat("many", *said)))
        await begin(server, id)
    for kill in range(1, 4):
        command = [sys.executable, "-m", "tests.server.past_program", str(tmp_path), llm.openai_url]
        running = await asyncio.create_subprocess_exec(*command)
        await until(partial(has_seen, seen, 10 * kill))
        running.kill()
        await running.wait()
    async with opened(tmp_path, llm) as server:
        assert (await ended(server, id))["turns_done"] == 40
        assert await memories(server) == sorted(many)
    asked = [text for (text,) in seen]
    assert list(dict.fromkeys(asked)) == many
    assert len(asked) <= 40 + 3  # of each kill, the call under way had nobody to answer to


async def has_seen(seen: list[list[str]], least: int) -> bool:
    return len(seen) >= least


async def test_a_turn_that_was_learned_but_not_noted_is_not_asked_about_again(open_server, llm, monkeypatch):
    server = await open_server(asks(llm))
    seen = learn_every_turn(llm)
    note, failures = SqlImports.note_turn, iter([True, False, True])

    async def failing(self, *told) -> None:
        if next(failures, False):
            raise StorageUnavailable("The disk is full.")
        await note(self, *told)

    monkeypatch.setattr(SqlImports, "note_turn", failing)
    monkeypatch.setattr("mnemoir.memory.background._STORAGE_WAIT_S", 0.01)
    id = await bring(server, export(LIKED))
    await begin(server, id)

    async def is_learned() -> bool:
        await server.parts.upkeep.background.beat()  # puts back what could not be stored
        return bool((await standing(server, id))["state"] == "learned")

    await until(is_learned)
    assert seen == [[text] for text in HOBBIES]


async def test_a_turn_that_no_model_can_make_sense_of_is_counted_and_passed_over(open_server, llm, monkeypatch):
    server = await open_server(asks(llm))
    monkeypatch.setattr(server.parts.upkeep.background, "_first_wait_s", 0.0)
    seen = learn_every_turn(llm, lambda asked: Answer(text="no JSON") if "hobby C" in seen[-1][0] else None)
    told = await learn(server, await bring(server, export(LIKED)))
    assert (told["state"], told["turns_done"], told["failed"]) == ("learned", 8, 1)
    assert await memories(server) == [text for text in HOBBIES if "hobby C" not in text]


async def test_it_waits_while_the_model_is_away_and_says_why(open_server, llm):
    server = await open_server(asks(llm))
    learn_every_turn(llm, lambda asked: failure(500, "The model is away."))
    id = await bring(server, export(LIKED))
    await begin(server, id)
    told = await cause_of_waiting(server, id)
    assert (told["state"], told["turns_done"], "The model is away." in told["waits_for"]) == ("learning", 0, True)


async def test_it_counts_against_a_budget_and_waits_when_that_is_used_up(open_server, llm):
    server = await open_server(asks(llm) | {"quotas.user.tokens_day": 1})
    seen = learn_every_turn(llm)
    id = await bring(server, export(LIKED))
    await begin(server, id)
    told = await cause_of_waiting(server, id)
    assert (told["turns_done"], len(seen), "tokens of models today" in told["waits_for"]) == (1, 1, True)


async def test_it_stops_when_memory_is_switched_off(open_server, llm):
    server = await open_server(asks(llm))
    third = asyncio.Event()
    seen = learn_every_turn(llm, lambda asked: third.set() if len(seen) == 3 else None)
    id = await bring(server, export(LIKED))
    await begin(server, id)
    await third.wait()
    await server.ask("PUT", "/api/memories/settings", {"memoryEnabled": False})
    told = await ended(server, id)
    assert (told["state"], told["turns_done"] < 8) == ("stopped", True)


async def is_running(server: Server) -> bool:
    return any(tally.kind == KIND and tally.running for tally in await server.parts.upkeep.jobs.tally())


async def test_chats_go_first(open_server, llm):
    server = await open_server(asks(llm))
    seen = learn_every_turn(llm)
    id = await bring(server, export(LIKED))
    with server.parts.chats.quotas.chatting(Scope(project="default", user="noor")):
        await begin(server, id)
        await until(partial(is_running, server))
        assert seen == []
    assert (await ended(server, id))["turns_done"] == 8


async def test_with_review_on_what_is_learned_waits(open_server):
    server = await open_server({"memory.review": "all"})
    told = await learn(server, await bring(server, export(HOMES, WORK)))
    assert (told["learned"], await memories(server)) == (0, [])
    waiting = (await server.get(f"/api/memories/proposals?user_id={USER}"))["results"]
    assert len(waiting) == told["to_review"] > 0


Forget = Callable[[Server], Awaitable[AsgiAnswer]]
FORGETTING: dict[str, Forget] = {
    "the conversation": lambda server: server.ask("DELETE", f"/api/conversations/liked?user_id={USER}"),
    "all memories": lambda server: server.ask("DELETE", f"/api/memories?user_id={USER}"),
}


@pytest.mark.parametrize("what", FORGETTING)
async def test_a_forgetting_ends_the_learning_and_leaves_nothing_learned(open_server, llm, what):
    server = await open_server(asks(llm))
    third = asyncio.Event()
    seen = learn_every_turn(llm, lambda asked: third.set() if len(seen) == 3 else None)
    id = await bring(server, export(LIKED))
    await begin(server, id)
    await third.wait()
    assert (await FORGETTING[what](server)).status == 200
    await jobs_have_ended(server)
    assert (len(seen) < 8, await memories(server)) == (True, [])
    assert (await server.get(f"/api/imports?user_id={USER}"))["results"] == []
