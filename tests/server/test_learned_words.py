"""`POST /api/memories` learns what a person typed: no recalled block, document, side task or repeated chat."""

import re

import pytest

from mnemoir.core.text import RecalledLine, put_up
from tests.remembering_model import learn_every_turn
from tests.server.server_kit import asks
from tests.wire.framed_prompts import FRAMED, PLANTED, QUESTION, TYPED, rag
from tests.wire.task_prompts import CHAT, SIDE_TASKS, TITLE

MEMORIES = "/api/memories"
TASKS_ALONE = [case for case in SIDE_TASKS if len(case[1]) == 1]
TRANSCRIPT = f"{CHAT}\n\nUser: I keep bees.\nAssistant: How many hives?\n> User: Nine."
CHAT_BLOCK = re.compile("<chat_history>.*?</chat_history>", re.DOTALL)


@pytest.fixture
async def server(open_server, llm):
    return await open_server(asks(llm, **{"embedding.provider": "openai"}))


async def learned(server, llm, *turns, **more):
    """What an extraction is shown of the user's turns; None where no model is asked."""
    seen = learn_every_turn(llm)
    messages = [{"role": role, "content": text} for role, text in turns]
    await server.post(MEMORIES, {"messages": messages, "user_id": "mira", **more})
    return seen[0] if seen else None


@pytest.mark.parametrize("text", [case[1] for case in FRAMED + PLANTED], ids=[case[0] for case in FRAMED + PLANTED])
async def test_of_a_document_frame_the_question_is_learned_from(server, llm, text):
    assert await learned(server, llm, ("user", text)) == [QUESTION]


@pytest.mark.parametrize(
    "text", [case[1] for case in TYPED] + [TRANSCRIPT], ids=[*(c[0] for c in TYPED), "transcript"]
)
async def test_all_else_but_a_repeated_chat_is_learned_from_as_it_was_sent(server, llm, text):
    assert await learned(server, llm, ("user", text)) == [CHAT_BLOCK.sub(" ", text)]


@pytest.mark.parametrize("case", TASKS_ALONE, ids=[case[0] for case in TASKS_ALONE])
async def test_the_prompt_of_a_side_task_is_not_learned_from(server, llm, case):
    (message,) = case[1]
    assert await learned(server, llm, ("user", message.text), ("user", "I keep bees.")) == ["I keep bees."]


async def test_a_side_task_alone_asks_no_model(server, llm):
    assert await learned(server, llm, ("user", TITLE)) is None
    assert llm.requests == []


async def test_recalled_memories_are_not_learned_from(server, llm):
    text = put_up([RecalledLine(text="Is vegetarian")], rag("x", "I keep bees."))
    assert await learned(server, llm, ("user", text)) == ["I keep bees."]


async def test_what_an_assistant_said_is_not_cut(server, llm):
    await learned(server, llm, ("user", "I keep bees."), ("assistant", rag("x", "Nine hives?")))
    assert "Respond to the user query" in llm.requests[0].prompt


@pytest.mark.parametrize("text", [rag("A document.", QUESTION), TITLE], ids=["frame", "task"])
async def test_without_inference_a_message_is_kept_word_for_word(server, llm, text):
    assert await learned(server, llm, ("user", text), infer=False) is None
    (memory,) = (await server.get(f"{MEMORIES}/mira"))["results"]
    assert memory["memory"] == text
