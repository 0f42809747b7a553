"""Whatever a client does with its history: nodes are shown what led to the message that is being answered."""

import random

import pytest

from mnemoir.core.messages import text_message
from tests.tree_kit import asked_by, asks
from tests.workflows.history_kit import OWN, WHOLE, keeping, remembering, sent


@pytest.fixture
async def talks(desk, tmp_path):
    async with keeping(desk, tmp_path / "conversations") as talks:
        yield talks


@pytest.mark.parametrize("seed", range(4))
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
            kept = chance.randrange(len(client.history) // 2 + 1) if step == "edit" else len(client.history) // 2
            del client.history[2 * kept :]
            client.history.append(text_message("user", f"question {next(numbers)}"))
        thread = [(message.role, message.text) for message in client.history]
        await client.asks()
        assert sent(llm)[1:] == thread
        own = [sent(llm, at)[1:] for at in range(len(llm.requests)) if asked_by("Own")(llm.requests[at])]
        assert [text for role, text in own[-1] if role == "user"] == [text for role, text in thread if role == "user"]
