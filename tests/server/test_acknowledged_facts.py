"""Without a language model an answer says what is going to be remembered: just that, and nothing where nothing is."""

import asyncio

import pytest

from mnemoir.memory.facts.extract.acknowledging import acknowledgement, without_acknowledgement
from tests.server.server_kit import Server, hello

SAID = [
    "I am a vegetarian and allergic to nuts. Please remember that.",
    "Hi, I'm Alex and I live in Graz. I work at a bank.",
    "We moved to Berlin last year and have two cats.",
    "Please remember that my door code is 4711.",
    "Ich wohne in Wien und esse kein Fleisch.",
    "What is the capital of France?",
    "My password is hunter2-Tr0ub4dor&3.",
]


@pytest.fixture
async def offline(open_server):
    return await open_server()


async def said(server: Server, text: str, *, user: str = "mira", **more: object) -> str:
    body = hello(messages=[{"role": "user", "content": text}], user=user) | {"memoryEnabled": True, **more}
    answer = await server.post("/v1/chat/completions", body)
    found: str = answer["choices"][0]["message"]["content"]
    return found


async def remembered(server, user: str) -> list[str]:
    async with asyncio.timeout(60):
        while True:
            if not any(jobs.waiting or jobs.running for jobs in await server.parts.upkeep.jobs.tally()):
                return [memory["memory"] for memory in (await server.get(f"/api/memories/{user}"))["results"]]
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("text", SAID)
async def test_what_the_answer_says_and_what_is_learned_agree(offline, text):
    answer = await said(offline, text)
    *_, last = answer.split("\n\n")
    announced = last.removeprefix("I will remember: ").split(" · ") if "I will remember: " in answer else []
    assert sorted(announced) == sorted(await remembered(offline, "mira"))


@pytest.mark.parametrize("more", [{"memoryEnabled": False}, {"store": False}, {"max_tokens": 3}])
async def test_an_answer_says_nothing_of_it_where_nothing_is_remembered_or_it_has_no_place(offline, more):
    assert "I will remember" not in await said(offline, SAID[0], **more)


async def test_a_project_that_has_memory_switched_off_announces_nothing(offline):
    await offline.ask("PUT", "/api/memories/settings", {"memoryEnabled": False})
    assert "I will remember" not in await said(offline, SAID[0])


async def test_the_sentence_is_not_among_the_words_that_were_learned_from(offline):
    await said(offline, SAID[0])
    await remembered(offline, "mira")
    (memory, *_) = (await offline.get("/api/memories/mira"))["results"]
    history = (await offline.get(f"/api/memories/{memory['id']}/history"))["results"]
    assert "I will remember" not in str(history[0]["turns"])


def test_many_facts_are_named_in_part_and_the_sentence_goes_as_a_whole():
    sentence = acknowledgement([f"Likes tea {number}" for number in range(12)])
    assert sentence.endswith("Likes tea 7 · and 4 more")
    assert without_acknowledgement(f"Fine.\n\n{sentence}") == "Fine."
    assert without_acknowledgement("I will remember: it\n\nBut first this.").startswith("I will")
