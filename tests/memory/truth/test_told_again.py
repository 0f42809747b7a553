"""A conversation that is told twenty times is remembered once."""

import asyncio

import pytest

from tests.memory.truth.conftest import MIRA, model_that

CONVERSATION = "I live in Graz.\nI row every morning.\nI have a dog called Rex.\nI am allergic to nuts."
FACTS = ["Allergic to nuts", "Has a dog called Rex", "Lives in Graz", "Rows every morning"]


@pytest.mark.parametrize("is_parallel", [False, True])
@pytest.mark.parametrize("event", [None, "ADD"])
async def test_twenty_times_the_same_is_stored_once(live, event, is_parallel):
    told = dict(
        zip(
            CONVERSATION.splitlines(), [["Lives in Graz"], ["Rows every morning"], FACTS[1:2], FACTS[:1]], strict=True
        )
    )
    life = live(event and model_that(event, told))
    if is_parallel:
        await asyncio.gather(*(life.tell(CONVERSATION) for _ in range(20)))
    else:
        for _ in range(20):
            await life.tell(CONVERSATION)
    assert await life.now() == FACTS
    histories = [await life.store.history(MIRA, memory.id) for memory in await life.facts.page(MIRA, limit=9)]
    assert [len(history) for history in histories] == [1, 1, 1, 1]
