"""The same thing said by many at once, through the door everybody uses."""

import asyncio

import pytest

from tests.remembering_model import learn_every_turn
from tests.server.server_kit import asks

MEMORIES = "/api/memories"


async def test_one_fact_told_eight_times_at_once_is_one_memory(listen, llm, http):
    server = await listen(asks(llm) | {"embedding.provider": "openai"})
    learn_every_turn(llm)
    body = {"messages": [{"role": "user", "content": "Lives in Graz"}], "user_id": "mira"}

    async def tell() -> tuple[int, int]:
        async with http.post(server.url + MEMORIES, json=body) as answer:
            return answer.status, len((await answer.json())["results"])

    told = await asyncio.gather(*(tell() for _ in range(8)))
    assert sorted(told) == [(200, 0)] * 7 + [(200, 1)]
    assert [memory["memory"] for memory in (await server.get(f"{MEMORIES}/mira"))["results"]] == ["Lives in Graz"]


@pytest.mark.parametrize("infer", [True, False])
async def test_one_request_sent_eight_times_at_once_under_one_key_is_done_once(listen, llm, http, infer):
    server = await listen(asks(llm) | {"embedding.provider": "openai"})
    seen = learn_every_turn(llm)
    body = {"messages": [{"role": "user", "content": "Lives in Graz"}], "user_id": "mira", "infer": infer}

    async def tell() -> dict:
        async with http.post(server.url + MEMORIES, json=body, headers={"Idempotency-Key": "k"}) as answer:
            assert answer.status == 200
            found: dict = (await answer.json())["results"]
            return found

    told = [*(await asyncio.gather(*(tell() for _ in range(8)))), await tell()]
    assert told == [told[0]] * 9
    assert len(told[0]) == 1
    assert (await server.get(f"{MEMORIES}/mira"))["total"] == 1
    assert len(seen) == int(infer)
