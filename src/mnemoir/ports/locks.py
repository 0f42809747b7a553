"""Leases: the right to change something for a while, against other threads, processes and machines.

A lease ends by itself, so a holder that was killed keeps nobody waiting for longer than its time to live. Whoever
works on for longer renews it. A lease keeps others away as a rule; it cannot stop a holder that slept past its end.
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
class LockToken:
    """Proof of a lease: what is held, and a secret that no other lease has."""

    key: str
    secret: str


class Lock(Protocol):
    """Leases by key. All methods block; StorageUnavailable when the keeper of the leases cannot be asked."""

    def acquire(self, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> LockToken | None:
        """Take the lease of `key` for `ttl` seconds; None when others kept it for all of `wait` seconds."""

    def renew(self, token: LockToken, ttl: float = TTL_S) -> bool:
        """Let it last `ttl` seconds from now; False when it has ended, and somebody else may have it."""

    def release(self, token: LockToken) -> bool:
        """Give it back; False when it had ended, and then a newer holder keeps theirs."""


@contextmanager
def held(lock: Lock, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> Iterator[bool]:
    """Hold the lease while the body runs, renewed as long as that takes; whether it is held.

    It is not held when others keep it, or when the lock cannot be asked: one warning tells which.
    """
    try:
        token = lock.acquire(key, ttl, wait)
    except StorageUnavailable as exc:
        _log.warning("going on without the lock", key=key, cause=exc.message)
        token = None
    else:
        if token is None:
            _log.warning("going on without the lock", key=key, cause=f"others kept it for {wait} s")
    if token is None:
        yield False
        return
    done = threading.Event()
    renewing = threading.Thread(target=_renew_until, args=(done, lock, token, ttl), name="renew lock", daemon=True)
    renewing.start()
    try:
        yield True
    finally:
        done.set()
        renewing.join()
        _give_back(lock, token)


def _renew_until(done: threading.Event, lock: Lock, token: LockToken, ttl: float) -> None:
    while not done.wait(ttl / 3):
        try:
            if not lock.renew(token, ttl):
                _log.warning("a lock has ended before the work under it", key=token.key)
                return
        except StorageUnavailable as exc:
            _log.warning("a lock could not be renewed", key=token.key, cause=exc.message)


def _give_back(lock: Lock, token: LockToken) -> None:
    try:
        lock.release(token)
    except StorageUnavailable as exc:
        _log.warning("a lock could not be given back and ends by its time", key=token.key, cause=exc.message)
