"""Requests of a key are counted by several servers together, in a real Redis, and by each alone without it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, suppress
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError
from starlette.types import Scope

from mnemoir.access.shared_counts import SharedCounts
from mnemoir.core.errors import RateLimited, SettingsError
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.rate_limits import RateLimits
from mnemoir.server.door.request import visit_of
from mnemoir.settings.access import Redis
from tests.redis_server import RedisServer
from tests.scripted_issuer import AUDIENCE, ScriptedIssuer

Made = Callable[..., RateLimits]
KEY = "a-key-of-more-than-sixteen"
SIZES = {"add": (30, 10), "search": (30, 10), "read": (50, 50)}  # the minute binds, which no test outlives


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
async def another(redis: RedisServer, clock: object) -> AsyncIterator[Made]:
    """Makes the limits of one more server."""
    async with AsyncExitStack() as opened:

        def make(timeout_s: float = 60, url: str = f"redis+unix://{redis.socket}") -> RateLimits:
            shared = SharedCounts(Redis(url=SecretStr(url), timeout_s=timeout_s))
            opened.push_async_callback(shared.aclose)
            return RateLimits(ServerOptions(rate_limits=SIZES), shared)

        yield make


async def passed(limits: RateLimits, bucket: Any, count: int, cost: int = 1) -> int:
    """How many of so many requests of a key pass."""
    number = 0
    for _ in range(count):
        with suppress(RateLimited):
            await limits.take_shared({"headers": []}, "key", bucket, cost)
            number += 1
    return number


async def test_all_servers_together_let_pass_what_a_limit_says(another):
    first, second = another(), another()
    assert [await passed(first, "search", 7), await passed(second, "search", 7)] == [7, 3]
    assert await passed(first, "search", 1) == 0
    assert await passed(second, "add", 4, cost=3) == 3  # each kind by itself


async def test_the_headers_tell_what_all_have_left_for_it(another):
    first, second = another(), another()
    scope: Scope = {"headers": []}
    await passed(first, "search", 4)
    await second.take_shared(scope, "key", "search")
    assert dict(visit_of(scope).headers)[b"x-ratelimit-remaining"] == b"5"
    assert [state[:3] for state in await first.standing("key")][:2] == [("add", 10, 10), ("search", 10, 5)]


async def test_a_request_that_turns_out_to_cost_more_is_counted_as_that_or_not_at_all(another):
    first, second = another(), another()
    scope: Scope = {"headers": []}
    for limits in (first, second, first):
        try:
            await limits.take_shared(scope, "key", "add")
            await limits.take_instead(scope, "key", "add", 4)
        except RateLimited:
            assert limits is first
    assert (await second.standing("key"))[0][:3] == ("add", 10, 2)


async def test_while_redis_is_away_each_server_grants_its_share_less_what_it_counted(another, redis):
    servers = [another(), another()]
    assert [await passed(limits, "search", number) for number in (1, 3) for limits in servers] == [1, 1, 3, 3]
    servers.append(another())  # which never reached it, and takes itself for the only one
    redis.kill()
    assert [await passed(limits, "search", 20) for limits in servers] == [1, 1, 10]
    assert await passed(servers[0], "add", 3, cost=4) == 1  # whose share is more than half
    assert (await servers[0].standing("key"))[1][:3] == ("search", 5, 0)


async def test_one_that_does_not_answer_holds_up_nobody(another, redis):
    limits = another(0.05)
    assert await passed(limits, "search", 1) == 1
    redis.stop()
    assert await passed(limits, "search", 20) == 9


async def test_many_that_were_late_at_once_are_one_failure(another, redis):
    limits = another(2)
    assert await passed(limits, "search", 1) == 1
    redis.stop()
    assert sum(await asyncio.gather(*(passed(limits, "search", 1) for _ in range(20)))) == 9
    assert limits._shared._failures == 1


async def test_a_server_tells_what_all_used_and_whether_redis_answers(open_server, another, redis):
    told = {"redis.url": f"redis+unix://{redis.socket}", "redis.timeout_s": 60}
    server, sent = await open_server(told, metrics=True, api_keys=(KEY,), rate_limits=SIZES), {"x_api_key": KEY}
    await another().take_shared({"headers": []}, "settings:1", "search")
    await server.post("/api/memories/search", {"query": "tea", "user_id": "mira"}, **sent)
    buckets = {one["bucket"]: one for one in (await server.get("/api/usage", **sent))["buckets"]}
    assert buckets["search"]["remaining"] == 8
    for is_up in (1, 0):
        assert f"mnemoir_redis_up {is_up}.0" in (await server.ask("GET", "/metrics", **sent)).body.decode()
        redis.kill()
        await server.get("/api/memories?user_id=mira", **sent)


async def test_tokens_of_an_issuer_are_counted_with_other_servers_for_the_person_they_name(
    open_server, redis, tmp_path
):
    issuer = ScriptedIssuer("https://issuer.example")
    (tmp_path / "keys.json").write_text(json.dumps(issuer.key_set), encoding="utf-8")
    taken = {"issuer": issuer.url, "audience": AUDIENCE, "jwks_file": str(tmp_path / "keys.json")}
    told = {"redis.url": f"redis+unix://{redis.socket}", "redis.timeout_s": 60, "auth.jwt": [taken]}
    servers = [
        await open_server(told | {"storage.data_dir": str(tmp_path / name)}, rate_limits=SIZES)
        for name in ("here", "there")
    ]
    left = []
    for server, name in zip((*servers, *servers), ("mira", "mira", "mira", "noa"), strict=True):
        sent = {"authorization": f"Bearer {issuer.token(sub=name, role='read')}"}
        answer = await server.ask("POST", "/api/memories/search", {"query": "tea", "user_id": name}, **sent)
        left.append((answer.status, answer.headers["x-ratelimit-remaining"]))
    assert left == [(200, "9"), (200, "8"), (200, "7"), (200, "9")]


@pytest.mark.parametrize(("told", "passing"), [("a%2Fsecret", [7, 3]), ("wrong", [7, 10])])
async def test_a_password_is_given_to_redis_and_a_wrong_one_is_as_none(another, told, passing, caplog):
    with RedisServer(password="a/secret") as locked:
        servers = [another(url=f"redis+unix://:{told}@{locked.socket}") for _ in range(2)]
        assert [await passed(servers[0], "search", 7), await passed(servers[1], "search", 20)] == passing
    assert told not in caplog.text


async def test_after_five_failures_it_is_left_alone_for_a_while_and_then_asked_again(another, redis):
    limits = another()
    shared = limits._shared
    assert await passed(limits, "search", 1) == 1
    redis.kill()
    assert await passed(limits, "search", 8) == 8
    assert (shared.is_up, shared._failures) == (False, 5)
    redis.start()
    assert await passed(limits, "search", 1) == 1
    assert not shared.is_up
    shared._asked_again_at = 0.0  # ten seconds later
    assert await passed(limits, "search", 20) == 10
    assert shared.is_up


@pytest.mark.parametrize("url", ["http://127.0.0.1", "127.0.0.1:6379", ""])
def test_an_address_of_something_else_is_refused(url):
    with pytest.raises(ValidationError, match="must begin with redis://"):
        Redis(url=SecretStr(url))


@pytest.mark.parametrize("url", ["redis://host:notaport", "redis://:secret/word@host:1"])
def test_an_address_that_cannot_be_one_names_the_setting_and_tells_no_password(url):
    with pytest.raises(SettingsError, match=r"redis\.url is wrong") as refused:
        SharedCounts(Redis(url=SecretStr(url)))
    assert "secret" not in str(refused.value)
