"""Rate limits that several servers count together, in Redis or Valkey.

All servers of one Redis together let pass what a limit says. While it is away each of them grants its share, by how
many there were, of what it counted itself; so no request fails for it, and none waits longer than the deadline.
"""

import asyncio
import math
import secrets
import time
from collections.abc import Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import structlog
from limits import RateLimitItem

from mnemoir.core.errors import SettingsError
from mnemoir.settings.access import Redis

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from limits.aio.storage import RedisStorage
    from redis.asyncio import Redis as Client

_log = structlog.get_logger(__name__)
_MOST_CONNECTIONS = 32
_FAILURES = 5  # in a row, after which it is not asked
_REST_S = 10.0
_WARNED_EVERY_S = 60.0
_BEAT_EVERY_S = 10.0
_ALIVE_S = 30.0
Counted = tuple[int, float, int, float]  # of the window before, its seconds left; of this one, its seconds left


class Away(Exception):
    """Raised when Redis did not answer in time, or is left alone after it failed."""


class SharedCounts:
    """The counters of this server in Redis, for one event loop. Every method may raise Away but for `aclose`."""

    def __init__(self, chosen: Redis) -> None:
        """Connects with the first count. Raises SettingsError without redis-py, or for a wrong URL."""
        assert chosen.url is not None
        self._url, self._prefix = chosen.url.get_secret_value(), chosen.prefix
        self._deadline_s = chosen.timeout_s
        self._client, self._storage = self._connect()
        self._me, self._alive = secrets.token_hex(8), f"{self._prefix}:servers"
        self._servers = 1
        self._beaten_at = self._warned_at = self._failed_at = self._asked_again_at = -math.inf
        self._failures = 0

    @property
    def servers(self) -> int:
        """How many servers counted here lately, this one too, as far as is known."""
        return self._servers

    @property
    def is_up(self) -> bool:
        """False after Redis failed, until it answers again."""
        return self._failures == 0

    async def window_counts(self, limits: Sequence[RateLimitItem], *names: str) -> Sequence[Counted]:
        """The number of calls in each limit's window, summed over all servers."""
        async with self._asking():
            await self._beat()
            return [
                await self._storage.get_sliding_window(self._key(limit, names), limit.get_expiry())
                for limit in limits
            ]

    async def count(self, limits: Sequence[RateLimitItem], *names: str, cost: int) -> bool:
        """Count so much in every window; False, with nothing counted, when it does not fit into all."""
        async with self._asking():
            for number, limit in enumerate(limits):
                if not await self._add(limit, names, cost):
                    for earlier in limits[:number]:
                        await self._add(earlier, names, -cost)
                    return False
            return True

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose(close_connection_pool=True)

    async def _add(self, limit: RateLimitItem, names: Sequence[str], cost: int) -> bool:
        return await self._storage.acquire_sliding_window_entry(
            self._key(limit, names), limit.amount, limit.get_expiry(), cost
        )

    def _key(self, limit: RateLimitItem, names: Sequence[str]) -> str:
        """A digest, because Redis gets no name of a caller."""
        return blake2b(limit.key_for(*names).encode(), digest_size=16).hexdigest()

    async def _beat(self) -> None:
        """Tell that this server is there, and find out how many are."""
        now = time.time()
        pipe = self._client.pipeline()
        if now - self._beaten_at >= _BEAT_EVERY_S:
            self._beaten_at = now
            pipe.zadd(self._alive, {self._me: now})
            pipe.zremrangebyscore(self._alive, 0, now - _ALIVE_S)
            pipe.expire(self._alive, 2 * round(_ALIVE_S))
        pipe.zcard(self._alive)
        self._servers = max(1, int((await pipe.execute())[-1]))

    @asynccontextmanager
    async def _asking(self) -> "AsyncIterator[None]":
        from redis.exceptions import RedisError

        if time.monotonic() < self._asked_again_at:
            raise Away
        try:
            async with asyncio.timeout(self._deadline_s):
                yield
        except (RedisError, OSError, TimeoutError) as exc:
            self._note_failure(exc)
            raise Away from exc
        self._failures = 0

    def _note_failure(self, exc: Exception) -> None:
        now = time.monotonic()
        # all who waited while this process was busy, too, are late at once: that is one failure
        if not isinstance(exc, TimeoutError) or now - self._failed_at >= self._deadline_s:
            self._failures += 1
        self._failed_at = now
        self._beaten_at = -math.inf  # it may have forgotten that this server is there
        if self._failures >= _FAILURES:
            self._asked_again_at = now + _REST_S
        if now - self._warned_at >= _WARNED_EVERY_S:
            self._warned_at = now
            _log.warning("redis away", error=str(exc) or type(exc).__name__, servers=self._servers)

    def _connect(self) -> "tuple[Client, RedisStorage]":
        try:
            from limits.aio.storage import RedisStorage
            from redis.asyncio import BlockingConnectionPool, Redis
        except ImportError as exc:
            raise SettingsError("redis.url needs redis-py: pip install 'mnemoir[redis]'.") from exc
        url = self._url.replace("valkey", "redis", 1).replace("redis+unix", "unix", 1)
        try:
            pool: Any = BlockingConnectionPool.from_url(url, max_connections=_MOST_CONNECTIONS)
        except ValueError:
            wrong = "Give it as redis://:password@host:6379/0, with / and @ of the password as %2F and %40."
            raise SettingsError(f"redis.url is wrong. {wrong}") from None  # the cause may hold a part of the password
        storage = RedisStorage(
            "async+redis://", implementation="redispy", key_prefix=f"{self._prefix}:lim", connection_pool=pool
        )
        return Redis(connection_pool=pool), storage
