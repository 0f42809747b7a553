"""Four servers that share a Redis let pass together what a limit says, also when Redis is killed in the middle."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import aiohttp
import pytest

from tests.redis_server import RedisServer
from tests.serving import ServerProcess

pytestmark = pytest.mark.slow

KEY = "a-key-of-more-than-sixteen"
SERVERS, REQUESTS, LIMIT = 4, 1000, 100


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
def urls(tmp_path, redis) -> Iterator[list[str]]:
    """The URLs of servers that have told each other that they are there."""
    told = {
        "API_KEYS": KEY,
        "MNEMOIR_LIMITS__ENABLED": "true",
        "MNEMOIR_LIMITS__SEARCH_BURST": str(LIMIT),
        "MNEMOIR_LIMITS__SEARCH_PER_MINUTE": str(LIMIT),
        "MNEMOIR_REDIS__URL": f"redis+unix://{redis.socket}",
        "MNEMOIR_REDIS__TIMEOUT_S": "60",
    }
    with ExitStack() as running:
        servers = [
            running.enter_context(ServerProcess(tmp_path / f"data{number}", environment=told))
            for number in range(SERVERS)
        ]
        yield [server.url for server in servers]


class Asking:
    """Searches of one key, spread over servers."""

    def __init__(self, session: aiohttp.ClientSession, urls: list[str]) -> None:
        self._session = session
        self._urls = urls
        self.told: Counter[int] = Counter()
        self.has_passed = asyncio.Event()  # as many as are waited for
        self.awaited = 0

    async def tell(self) -> None:
        """Each server learns that all are there."""
        for url in self._urls * 2:
            async with self._session.get(f"{url}/api/memories?user_id=mira", headers={"X-API-Key": KEY}) as answer:
                assert answer.status == 200

    async def ask(self, number: int) -> None:
        url = f"{self._urls[number % SERVERS]}/api/memories/search"
        async with self._session.post(
            url, json={"query": "tea", "user_id": "mira"}, headers={"X-API-Key": KEY}
        ) as answer:
            await answer.read()
        self.told[answer.status] += 1
        if self.told[200] == self.awaited:
            self.has_passed.set()


async def asked(urls: list[str], redis: RedisServer, *, killed_after: int = 0) -> Counter[int]:
    """How a thousand searches were answered, a few at a time."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        asking = Asking(session, urls)
        await asking.tell()
        asking.awaited = killed_after
        for start in range(0, REQUESTS, 2 * SERVERS):
            async with asyncio.TaskGroup() as group:
                for number in range(start, start + 2 * SERVERS):
                    group.create_task(asking.ask(number))
            if killed_after and asking.has_passed.is_set():
                redis.kill()
                killed_after = 0
    return asking.told


async def test_of_a_thousand_requests_a_hundred_pass(urls, redis):
    told = await asked(urls, redis)
    assert told == {200: told[200], 429: REQUESTS - told[200]}
    assert abs(told[200] - LIMIT) <= 1, told


async def test_when_redis_is_killed_in_the_middle_none_fails_and_hardly_more_pass(urls, redis):
    told = await asked(urls, redis, killed_after=40)
    assert told == {200: told[200], 429: REQUESTS - told[200]}
    assert LIMIT <= told[200] <= LIMIT + 30, told
