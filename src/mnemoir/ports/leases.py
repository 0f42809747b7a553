"""Leases: the right to change something for a while, against other threads, processes and machines.

A lease ends by itself, so a holder that was killed keeps others waiting no longer than its time to live. A holder
that works on for longer renews it. A lease keeps others away as a rule; it cannot stop a holder that slept past its
end, but what is changed can refuse such a holder by the fence.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import structlog

from mnemoir.core.errors import StorageUnavailable

TTL_S = 30.0
WAIT_S = 10.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Lease:
    """What is held, a secret that no other lease has, and a fence above that of every earlier lease of the key.

    Fences of leases in files and in Redis rise as long as the clock there is not set back.
    """

    key: str
    secret: str
    fence: int


class Leases(Protocol):
    """Leases by key. All methods block; StorageUnavailable when the keeper of the leases cannot be asked."""

    def acquire(self, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> Lease | None:
        """Take the lease of `key` for `ttl` seconds; None when others kept it for all of `wait` seconds."""

    def renew(self, lease: Lease, ttl: float = TTL_S) -> bool:
        """Let it last `ttl` seconds from now; False when it has ended, and somebody else may have it."""

    def release(self, lease: Lease) -> bool:
        """Give it back; False when it had ended, and then a newer holder keeps theirs."""


@contextmanager
def held(leases: Leases, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> Iterator[bool]:
    """Hold the lease while the body runs, renewed as long as that takes; whether it is held.

    It is not held when others keep it, or when the keeper cannot be asked: one warning tells which.
    """
    try:
        lease = leases.acquire(key, ttl, wait)
    except StorageUnavailable as exc:
        _log.warning("going on without the lock", key=key, cause=exc.message)
        lease = None
    else:
        if lease is None:
            _log.warning("going on without the lock", key=key, cause=f"others kept it for {wait} s")
    if lease is None:
        yield False
        return
    done = threading.Event()
    renewing = threading.Thread(target=_renew_until, args=(done, leases, lease, ttl), name="renew lease", daemon=True)
    renewing.start()
    try:
        yield True
    finally:
        done.set()
        renewing.join()
        _give_back(leases, lease)


def _renew_until(done: threading.Event, leases: Leases, lease: Lease, ttl: float) -> None:
    while not done.wait(ttl / 3):
        try:
            if not leases.renew(lease, ttl):
                _log.warning("a lock has ended before the work under it", key=lease.key)
                return
        except StorageUnavailable as exc:
            _log.warning("a lock could not be renewed", key=lease.key, cause=exc.message)


def _give_back(leases: Leases, lease: Lease) -> None:
    try:
        leases.release(lease)
    except StorageUnavailable as exc:
        _log.warning("a lock could not be given back and ends by its time", key=lease.key, cause=exc.message)
