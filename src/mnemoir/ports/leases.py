"""Leases: exclusive rights for a limited time, across threads, processes and machines.

A lease expires by itself, so a killed holder blocks others no longer than the lease's time to live; a holder that
works longer renews it. A lease cannot stop a holder that was suspended past its expiry, but the protected data can
reject that holder by its fence.
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
    """A lease of `key`: its unique secret, and a fence greater than that of every earlier lease of the key.

    Fences of leases in files and in Redis grow only as long as the clock there is not set back.
    """

    key: str
    secret: str
    fence: int


class Leases(Protocol):
    """Leases by key. All methods block, and raise StorageUnavailable when the lease service cannot be reached."""

    def acquire(self, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> Lease | None:
        """Take the lease of `key` for `ttl` seconds; None when it was not free within `wait` seconds."""

    def renew(self, lease: Lease, ttl: float = TTL_S) -> bool:
        """Extend the lease to `ttl` seconds from now; False when it has expired and may have another holder."""

    def release(self, lease: Lease) -> bool:
        """End the lease. False when it had expired; the lease of a newer holder stays."""


@contextmanager
def hold_lease(leases: Leases, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> Iterator[bool]:
    """Hold the lease while the body runs, renewing it in a thread. Gives True when the lease is held.

    The body runs without it when it is not free or the lease service cannot be reached; a warning logs the cause.
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
