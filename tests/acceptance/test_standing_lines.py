"""A long session of an agent whose memories stand with their questions: what it says, and that nothing of it stays.

Then the same over two processes one behind the other, as after a restart or with another worker.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from mnemoir.core.text import tokens_of
from tests.chats.chat_kit import opened_chats, said
from tests.chats.recall_kit import Talk, learn_statements, lines_in, recalled_in
from tests.scripted_llm import ScriptedLLM, ThreadedLLM
from tests.server.server_kit import JSON
from tests.serving import ServerProcess

KINDS = ("lamp", "boat", "coat", "drum", "plum", "fern")
PLACES = ("cellar", "attic", "garden", "office", "kitchen", "harbour", "studio", "chapel", "stable", "library")
THINGS = [f"{kind}{place}" for place in PLACES for kind in KINDS]
PAGE = "What the tool has read. " * 850  # 20 kB
WITH_TOOLS = (10, 25, 40)  # questions with three rounds of tools
SECRET = "Hides the zanzibarquince in the oak"


def words_of(thing: str) -> str:
    return f"Keeps the {thing} behind the green door"


@pytest.mark.slow
async def test_fifty_questions_keep_the_beginning_of_each_request_and_say_sixty_memories_shortly(tmp_path):
    builtin = {"embedding.provider": "builtin"}  # it ranks as for a user
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **builtin) as chats:
        learn_statements(llm)
        told = [said("user", words_of(thing)) for thing in THINGS]
        await chats.post("/api/memories", {"messages": told, "user_id": "user"})
        talk = Talk(chats)
        for number, thing in enumerate(THINGS[:50]):
            rounds = 3 if number in WITH_TOOLS else 0
            for _ in range(rounds):
                llm.reply(tool_calls=[("look", {})])
            await talk.say(f"Where did I put the {thing}?")
            assert words_of(thing) in talk.lines[f"Where did I put the {thing}?"]
            for _ in range(rounds):
                await chats.post(
                    "/api/memories", {"messages": [said("user", f"Also keeps {number}")], "user_id": "user"}
                )
                await talk.use_tool(PAGE)
        assert talk.goes_on
        assert len(talk.sent) == 50 + 3 * len(WITH_TOOLS)
        recalled = recalled_in(talk.sent[-1])
        assert sum(map(tokens_of, recalled)) <= 2500


@pytest.mark.slow
async def test_of_a_forgotten_conversation_no_word_is_left_though_ten_others_were_given_it(tmp_path):
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm) as chats:
        learn_statements(llm)
        await Talk(chats, id="first").say(f"{SECRET}.")
        while any(one.waiting or one.running for one in await chats.parts.upkeep.jobs.tally()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        talks = [Talk(chats, id=f"other {number}") for number in range(10)]
        for talk in talks:
            await talk.say("What of the zanzibarquince?")
            assert SECRET in str(talk.sent[-1])
            await talk.say("What else?")
            assert f"{SECRET}." in talk.former["What of the zanzibarquince?"]
        assert (await chats.ask("DELETE", "/api/conversations/first")).status == 200
        await talks[0].say("And now?")
        assert SECRET not in str(talks[0].sent[-1])
    left = [path for path in tmp_path.rglob("*") if path.is_file() and b"Hides the" in path.read_bytes()]
    assert left == []


@pytest.fixture
def model() -> Iterator[ThreadedLLM]:
    with ScriptedLLM.in_thread() as llm:
        yield llm


@pytest.mark.slow
def test_another_process_goes_on_with_the_same_beginning(tmp_path, model):
    def ask(server: ServerProcess, *texts: str) -> list[JSON]:
        messages = [said("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)]
        named = {"X-Session-Id": "tea", "X-Memory": "on"}
        body: JSON = {"model": "any", "messages": messages}
        answer = requests.post(f"{server.url}/v1/chat/completions", json=body, headers=named, timeout=60)
        assert answer.status_code == 200, answer.text
        asked = (one.body["messages"] for one in reversed(model.requests) if one.body and "messages" in one.body)
        return next(each for each in asked if each[-1]["content"].endswith(texts[-1]))

    config = tmp_path / "own.yaml"
    config.write_text(
        f"llm: {{provider: openai-chat, base_url: '{model.openai_url}', api_key: k, model: far-model}}\n"
    )
    sent = []
    model.rule(lambda asked: "memory_facts" in asked.prompt, '{"facts": []}')
    for turn in (("Where is the lamp?",), ("Where is the lamp?", "Understood.", "And the boat?")):
        with started(tmp_path / "data", config) as server:
            if len(turn) == 1:
                add: JSON = {
                    "messages": [said("user", "Keeps the lamp in the cellar")],
                    "infer": False,
                    "user_id": "user",
                }
                requests.post(f"{server.url}/api/memories", json=add, timeout=60).raise_for_status()
            sent.append(ask(server, *turn))
    assert sent[1][: len(sent[0])] == sent[0]
    assert lines_in(sent[1])["Where is the lamp?"] == ["Keeps the lamp in the cellar"]


def started(data: Path, config: Path) -> ServerProcess:
    """A server over the data directory, in a process of its own."""
    return ServerProcess(data, arguments=["--config", str(config)])
