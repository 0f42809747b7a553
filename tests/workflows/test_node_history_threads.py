"""Nodes are shown the thread of the message being answered, for any edits and branches of a client's history."""

import random

import pytest

from mnemoir.core.messages import text_message
from tests.stages import staged
from tests.tree_kit import asked_by, asks
from tests.workflows.history_kit import OWN, WHOLE, keeping, remembering, said, sent


@pytest.fixture
async def talks(desk, tmp_path):
    async with keeping(desk, tmp_path / "conversations") as talks:
        yield talks


@pytest.mark.parametrize("seed", staged(range(4), quick=1))
async def test_nodes_are_shown_the_thread_of_the_client_through_edits_and_other_answers(seed, talks, llm):
    numbers = iter(range(1000))
    llm.rule(asked_by("Own"), lambda asked: f"to {asked.body['messages'][-1]['content']}")
    llm.rule(asked_by("Whole"), lambda asked: f"answer {next(numbers)}")
    talks.serve(asks("Own", "#sys.query#", memory=OWN), remembering(WHOLE, "Whole"))
    client, other = talks.client(), talks.client("another")
    chance = random.Random(seed)
    for _ in range(25):
        step = chance.choice(["say", "say", "again", "edit", "aside"])
        if step == "aside":
            await other.says(f"aside {next(numbers)}")
            continue
        if step == "again" and client.history:
            client.history.pop()
        else:
            turns = len(client.history) // 2
            if step == "edit" and turns > 1:  # all but the first: a lone question goes behind what is there
                del client.history[2 * chance.randrange(1, turns) :]
            client.history.append(text_message("user", f"question {next(numbers)}"))
        thread = [(message.role, message.text) for message in client.history]
        await client.asks()
        assert sent(llm)[1:] == thread
        own = [sent(llm, at)[1:] for at in range(len(llm.requests)) if asked_by("Own")(llm.requests[at])]
        questions = [text for role, text in thread if role == "user"]
        assert own[-1] == said(*(text for question in questions for text in (question, f"to {question}")))[:-1]


@pytest.mark.parametrize("mode", ["conversation", "node"])
async def test_two_branches_that_are_asked_at_once_are_each_shown_their_own(mode, talks, llm):
    llm.rule(lambda asked: True, lambda asked: f"to {asked.body['messages'][-1]['content']}")
    talks.serve(remembering({"mode": mode}, prompt="#sys.query#"))
    here, there = talks.client(), talks.client()
    await here.says("q1")
    there.history = list(here.history)
    await here.says("here")
    await there.says("there")
    here.history.append(text_message("user", "here again"))
    there.history.append(text_message("user", "there again"))
    begun = [await here.begin(), await there.begin()]
    await here.run(begun[0])
    assert sent(llm)[1:] == said("q1", "to q1", "here", "to here", "here again")
    await there.run(begun[1])
    assert sent(llm)[1:] == said("q1", "to q1", "there", "to there", "there again")
