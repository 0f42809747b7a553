"""What is stored and used, as `GET /api/usage` tells it, and who sees whose."""

import asyncio
import random
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from mnemoir.access.spent import Spent
from mnemoir.chats.stored_amounts import StoredAmounts
from mnemoir.core.scope import Scope
from mnemoir.core.usage import Tokens, end_of
from mnemoir.storage.sql.usage import SqlUsage
from tests.scripted_llm import Answer
from tests.server.server_kit import asks, hello, succeeded

CHAT, MEMORIES = "/v1/chat/completions", "/api/memories"


def fact(text: str, user: str = "mira") -> dict:
    return {"messages": [{"role": "user", "content": text}], "user_id": user, "infer": False}


async def used(server, **headers) -> dict[tuple[str | None, str], int]:
    told = await server.get("/api/usage", **headers)
    return {(one["user"], one["what"]): one["used"] for one in told["results"]}


async def test_chats_count_the_tokens_that_models_tell_or_else_an_estimate(open_server, llm):
    server = await open_server(asks(llm))
    llm.queue(Answer(text="yes", usage=(700, 30)))
    await server.post(CHAT, hello(user="mira"))
    told = await used(server)
    assert (told["mira", "tokens_day"], told["mira", "tokens_month"], told[None, "tokens_day"]) == (730, 730, 730)
    llm.default = Answer(text="a word or two", usage=(0, 0))
    await server.post(CHAT, hello(user="noa", stream=False))
    told = await used(server)
    assert (told["mira", "tokens_day"], told[None, "tokens_day"]) == (730, 730 + told["noa", "tokens_day"])
    assert told["noa", "tokens_day"] > 0


@pytest.mark.parametrize(
    "broken", [{"stall_after": 3}, {"cut_after": 3}], ids=["the client leaves", "the model fails"]
)
async def test_a_stream_that_does_not_come_to_its_end_counts_what_came_of_it(listen, llm, http, broken):
    server = await listen(asks(llm))
    llm.queue(Answer(text="One two three four", **broken))
    answer = await http.post(server.url + CHAT, json=hello(user="mira", stream=True))
    await answer.content.readuntil(b"three")
    answer.close()
    async with asyncio.timeout(60):
        while (await server.get("/api/runs"))["results"][0]["status"] == "running":  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.005)
    assert (await used(server))["mira", "tokens_day"] > 0


async def test_an_add_counts_what_the_model_answered_also_when_that_was_of_no_use(open_server, llm):
    server = await open_server(asks(llm))
    body = {"messages": [{"role": "user", "content": "I play the cello"}], "user_id": "mira"}
    llm.default = Answer(text="no JSON", usage=(700, 30))
    assert (await server.ask("POST", MEMORIES, body)).status == 502
    assert (await used(server))["mira", "tokens_day"] == 730 * len(llm.requests) > 730
    llm.default = Answer(text='{"facts": []}', usage=(0, 0))
    await server.post(MEMORIES, body | {"user_id": "noa"})
    assert (await used(server))["noa", "tokens_day"] > 0


@pytest.mark.slow
async def test_after_random_acts_the_sums_are_what_there_is(open_server, llm):
    server, dice = await open_server(asks(llm)), random.Random(4)
    users, kept, said = ("mira", "noa", "Ünal Ö/x"), {}, dict.fromkeys(("mira", "noa", "Ünal Ö/x"), 0)
    for number in range(60):
        user = dice.choice(users)
        act = dice.choice(("add", "add", "delete", "talk", "chat"))
        if act == "add":
            added = await server.post(MEMORIES, fact(f"fact {number}", user))
            kept[added["results"][0]["id"]] = user
        elif act == "delete" and kept:
            memory = dice.choice(sorted(kept))
            whose = quote(kept.pop(memory), safe="")
            succeeded(await server.ask("DELETE", f"{MEMORIES}/{memory}?user_id={whose}"))
        elif act == "talk":
            said[user] += 2
            messages = [{"role": role, "content": "x"} for role in ("user", "assistant")]
            body = {"id": f"c{number}", "user_id": user, "messages": messages}
            assert (await server.ask("POST", "/api/conversations", body)).status == 201
        elif act == "chat":
            said[user] += 2
            await server.post(CHAT, hello(user=user, conversation_id=f"c{number}"))
    parts = server.parts
    parts.chats.quotas.count_in(StoredAmounts(parts.upkeep.holdings))  # which has counted nothing yet
    told = await used(server)
    for user in users:
        assert told[user, "memories"] == list(kept.values()).count(user)
        assert told[user, "messages"] == said[user]
        assert told[user, "disk_bytes"] > 0
    assert (told[None, "memories"], told[None, "messages"]) == (len(kept), sum(said.values()))
    assert told[None, "tokens_day"] == sum(told[user, "tokens_day"] for user in users)


RIGHTS: dict[str, dict[str, Any]] = {
    "admin": {"role": "admin"},
    "mira": {"role": "read", "user": "mira"},
    "write": {"role": "write"},
    "kitchen": {"role": "admin", "projects": ["kitchen"]},
    "operator": {"role": "operator"},
    "acme": {"role": "admin", "tenant": "acme"},
}


async def test_each_key_sees_its_own(open_server):
    server = await open_server()
    keys = server.parts.access.api_keys
    made = {name: {"x_api_key": keys.create(by="test", **about)[1]} for name, about in RIGHTS.items()}
    for name in ("mira", "noa"):
        await server.post(MEMORIES, fact("likes tea", name), **made["admin"])
    await server.post(MEMORIES, fact("likes tea", "eve"), **made["acme"])

    async def seen(name: str) -> set[tuple[str, str | None]]:
        told = await server.get("/api/usage", **made[name])
        return {(one["tenant"], one["user"]) for one in told["results"]}

    assert {name: await seen(name) for name in made} == {
        "admin": {("default", None), ("default", "mira"), ("default", "noa")},
        "mira": {("default", "mira")},
        "write": {("default", None)},
        "kitchen": set(),
        "operator": {("default", None), ("acme", None)},
        "acme": {("acme", None), ("acme", "eve")},
    }


async def test_the_buckets_of_the_key_stand_beside_its_use(open_server):
    sizes = {"chat": (20, 120), "read": (5, 100)}
    server = await open_server(rate_limits=sizes)
    key = {"x_api_key": server.parts.access.api_keys.create(role="admin", by="test")[1]}
    await server.get("/api/projects", **key)
    told = {one["bucket"]: one for one in (await server.get("/api/usage", **key))["buckets"]}
    assert (told["read"]["limit"], told["read"]["remaining"]) == (5, 3)
    assert (told["chat"]["limit"], told["chat"]["remaining"]) == (20, 20)


class Days:
    """A clock that a test sets."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


MIRA, NOA = Scope(project="default", user="mira"), Scope(project="kitchen", user="noa")


async def test_a_day_and_a_month_begin_anew_and_a_restart_forgets_nothing(open_parts_over):
    rows, clock = (
        SqlUsage((await open_parts_over({})).memory.database),
        Days(datetime(2026, 2, 27, 23, 59, tzinfo=UTC)),
    )
    spent = Spent(rows, clock)
    spent.note(MIRA, Tokens(10, 1))
    spent.note(NOA, Tokens(5, 0))
    clock.now = datetime(2026, 2, 28, 0, 1, tzinfo=UTC)
    spent.note(MIRA, Tokens(100, 2))

    def told(one: Spent) -> list[tuple[int, int]]:
        counted = [one.now("default", who)[0] for who in ("mira", "noa", None)]
        return [(each.today.total, each.month.total) for each in counted]

    assert told(spent) == [(102, 113), (0, 5), (102, 118)]
    await spent.aclose()
    again = Spent(rows, clock)
    await again.load()
    assert told(again) == told(spent)
    clock.now = datetime(2026, 3, 1, 0, 1, tzinfo=UTC)
    assert told(again) == [(0, 0)] * 3
    await again.aclose()


async def test_what_could_not_be_written_is_written_the_next_time(open_parts_over, monkeypatch):
    parts = await open_parts_over({})
    spent = Spent(SqlUsage(parts.memory.database))
    spent.note(MIRA, Tokens(10, 1))
    await parts.memory.database.aclose()
    await spent.aclose()
    assert spent._new[next(iter(spent._new))] == Tokens(10, 1)


@pytest.mark.parametrize(
    ("what", "today", "end"),
    [
        ("tokens_day", datetime(2026, 12, 31), datetime(2027, 1, 1, tzinfo=UTC)),
        ("tokens_month", datetime(2026, 12, 31), datetime(2027, 1, 1, tzinfo=UTC)),
        ("tokens_month", datetime(2028, 2, 1), datetime(2028, 3, 1, tzinfo=UTC)),
    ],
)
def test_budgets_end_with_the_day_and_the_month(what, today, end):
    assert end_of(what, today.date()) == end
