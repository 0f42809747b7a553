"""An answer that is not whole makes no memory: neither one that broke, nor one refused, nor one nobody waited for."""

import asyncio
import json

import pytest

from tests.remembering_model import learn_every_turn
from tests.scripted_llm import Answer, failure
from tests.server.server_kit import CUT_S, QUICK_S, asks, hello

CHAT = "/v1/chat/completions"
LEARNING = {"embedding.provider": "openai"}
SHORT = LEARNING | {"llm.timeouts.first_byte_s": 0.2, "llm.timeouts.between_bytes_s": 0.2}
WHOLE = "I live in Graz."


def says(text: str, *, stream: bool = True) -> dict:
    """A chat of Mira's, with memory."""
    message = {"role": "user", "content": text}
    return hello(stream=stream, user="mira", memoryEnabled=True) | {"messages": [message]}


async def remembered(server) -> list[str]:
    """Mira's memories, once there are any."""
    async with asyncio.timeout(30):
        while not (found := (await server.get("/api/memories/mira"))["results"]):  # noqa: ASYNC110 - no answer tells it
            await asyncio.sleep(0.005)
    return [memory["memory"] for memory in found]


async def only_the_whole_turn_is_remembered(server, llm, seen) -> None:
    """One user's turns are worked off in order, so whatever came before this one was looked at before it."""
    llm.reply("A fine town.")
    assert (await server.ask("POST", CHAT, says(WHOLE))).status == 200
    assert await remembered(server) == [WHOLE]
    assert seen == [[WHOLE]]


@pytest.mark.real_time
@pytest.mark.parametrize("path", [CHAT, "/api/chat"])
async def test_of_an_answer_that_broke_within_its_stream_no_memory_is_made(open_server, llm, path):
    server = await open_server(asks(llm) | SHORT)
    seen = learn_every_turn(llm)
    for broken in ({"stall_after": 2}, {"cut_after": 2}, {"end_after": 2}, {"bad_after": 2}):
        llm.reply("One two three four", **broken)
        answer = await server.ask("POST", path, says("I am allergic to nuts."), x_memory="on", x_user_id="mira")
        assert b"error" in answer.body.strip().splitlines()[-1]
    await only_the_whole_turn_is_remembered(server, llm, seen)


@pytest.mark.real_time
@pytest.mark.parametrize("stream", [True, False])
async def test_of_an_answer_that_never_began_no_memory_is_made(open_server, llm, stream):
    server = await open_server(asks(llm) | SHORT)
    seen = learn_every_turn(llm)
    for answer in (failure(401), failure(429), failure(500), Answer(silent=True), Answer(body=b'{"choices": [{"me')):
        llm.queue(answer)
        assert (await server.ask("POST", CHAT, says("I am allergic to nuts.", stream=stream))).status >= 400
    await only_the_whole_turn_is_remembered(server, llm, seen)


async def test_of_an_answer_the_provider_withheld_no_memory_is_made(open_server, llm):
    server = await open_server(asks(llm) | LEARNING)
    seen = learn_every_turn(llm)
    llm.reply("One two", reason="content_filter")
    assert (await server.ask("POST", CHAT, says("I am allergic to nuts."))).status == 200
    await only_the_whole_turn_is_remembered(server, llm, seen)


@pytest.mark.parametrize("words", ["", "One two, and no more."], ids=["alone", "behind words"])
async def test_of_a_refusal_no_memory_is_made(open_server, llm, words):
    server = await open_server(asks(llm) | SHORT)
    seen = learn_every_turn(llm)
    message = {"role": "assistant", "content": words or None, "refusal": "I cannot help with that."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    llm.queue(Answer(body=json.dumps({"choices": [choice], "id": "up", "object": "x", "created": 1}).encode()))
    assert (await server.ask("POST", CHAT, says("I am allergic to nuts.", stream=False))).status == 200
    await only_the_whole_turn_is_remembered(server, llm, seen)


@pytest.mark.real_time
@pytest.mark.parametrize("kind", [{"endless": True}, {"stall_after": 1}])
async def test_a_client_that_left_frees_its_place_and_leaves_no_memory(listen, llm, http, kind):
    server = await listen(asks(llm) | LEARNING, most_active_chats=1)
    seen = learn_every_turn(llm)
    llm.reply("One two three", **kind)
    response = await http.post(server.url + CHAT, json=says("I am allergic to nuts."))
    await response.content.readany()
    response.close()
    async with asyncio.timeout(CUT_S):
        await llm.disconnected.wait()
    await only_the_whole_turn_is_remembered(server, llm, seen)


@pytest.mark.real_time
async def test_others_are_answered_at_once_after_clients_that_left_with_the_default_settings(listen, llm, http):
    server = await listen(asks(llm) | LEARNING)
    llm.queue(*[Answer(silent=True)] * 20)
    leaving = [asyncio.create_task(http.post(server.url + CHAT, json=hello(stream=n % 2 == 0))) for n in range(20)]
    async with asyncio.timeout(30):
        while len(llm.requests) < 20:
            llm.arrived.clear()
            await llm.arrived.wait()
    for task in leaving:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    async with asyncio.timeout(QUICK_S), http.post(server.url + CHAT, json=hello()) as answer:
        assert answer.status == 200


async def test_of_an_answer_without_end_only_the_users_words_are_kept(open_server, llm):
    server = await open_server(asks(llm) | LEARNING)
    shown: list[str] = []
    seen = learn_every_turn(llm, lambda asked: shown.append(asked.prompt))
    llm.reply(pieces=["word " * 1000] * 100)
    assert (await server.ask("POST", CHAT, says(WHOLE))).body.endswith(b"data: [DONE]\n\n")
    assert await remembered(server) == [WHOLE]
    assert seen == [[WHOLE]]
    assert "word word" not in json.dumps(shown)
