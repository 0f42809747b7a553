"""Leases in Redis, for processes on several machines.

A lease is one key with an expiry time. Scripts that first compare the secret renew and release it, so that no holder
ends the lease of a newer one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING

from mnemoir.core.errors import SettingsError, StorageUnavailable
from mnemoir.ports.leases import TTL_S, WAIT_S, Lease, Leases
from mnemoir.storage.file_lock import patiently

if TYPE_CHECKING:
    from redis import Redis

_PREFIX = "mnemoir:lock:"
_TIMEOUT_S = 5.0
_TAKE = """
if not redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return nil end
local now = redis.call('time')
return now[1] * 1000000 + now[2]
"""
_RENEW = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
_RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"


class RedisLock:
    """Leases on one Redis server; `client` is redis-py's."""

    def __init__(self, client: "Redis") -> None:
        self._client = client
        self._taking = client.register_script(_TAKE)
        self._renewing = client.register_script(_RENEW)
        self._releasing = client.register_script(_RELEASE)

    def acquire(self, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> Lease | None:
        """Take the lease of `key` for `ttl` seconds; None when others held it for all of `wait` seconds."""
        return patiently(lambda: self._take(key, ttl), wait)

    def renew(self, lease: Lease, ttl: float = TTL_S) -> bool:
        """Extend the lease to `ttl` seconds from now; False when it has ended."""
        with _redis_errors(lease.key):
            return bool(self._renewing(keys=[_PREFIX + lease.key], args=[lease.secret, _milliseconds(ttl)]))

    def release(self, lease: Lease) -> bool:
        """Release the lease; False when it had ended."""
        with _redis_errors(lease.key):
            return bool(self._releasing(keys=[_PREFIX + lease.key], args=[lease.secret]))

    def _take(self, key: str, ttl: float) -> Lease | None:
        secret = token_hex(16)
        with _redis_errors(key):
            fence = self._taking(keys=[_PREFIX + key], args=[secret, _milliseconds(ttl)])
        return None if fence is None else Lease(key, secret, int(fence))


def redis_lock(url: str) -> RedisLock:
    """Leases on the server at a URL such as `redis://host:6379/0`. Raises SettingsError without redis-py."""
    try:
        from redis import Redis
    except ImportError as exc:
        raise SettingsError("Locks in Redis need redis-py: pip install 'mnemoir[redis]'.") from exc
    try:
        client = Redis.from_url(url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S)
    except ValueError as exc:
        raise SettingsError(f"The URL of Redis is wrong: {exc}.") from exc
    return RedisLock(client)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


@contextmanager
def _redis_errors(key: str) -> Iterator[None]:
    from redis.exceptions import RedisError

    try:
        yield
    except (RedisError, OSError) as exc:
        raise StorageUnavailable(f"The lock of {key} could not be used: {exc}. Check the Redis server.") from exc


_: type[Leases] = RedisLock  # checked, never run
