"""The rules of leases that are stored values, independent of the storage."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from secrets import token_hex

from mnemoir.ports.leases import TTL_S, WAIT_S, Lease, Leases
from mnemoir.storage.file_lock import patiently

_FENCES_A_SECOND = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLease:
    """A lease as stored: the holder's secret, its fence, its end by the leases' clock, and its length in seconds."""

    secret: str
    fence: int
    until: float
    ttl: float

    def is_live(self, now: float) -> bool:
        """True before its end. An end more than `ttl` from now is invalid: the clock was set back meanwhile."""
        return now < self.until <= now + self.ttl


@dataclass(slots=True)
class Slot:
    """The stored lease of one key, to be read and changed; None for no lease."""

    lease: StoredLease | None


class StoredLeases:
    """Leases over slots. `changing` opens the slot of a key for one caller at a time and stores its final content.

    `clock` counts seconds.
    """

    def __init__(self, changing: Callable[[str], AbstractContextManager[Slot]], clock: Callable[[], float]) -> None:
        self._changing = changing
        self._clock = clock

    def acquire(self, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> Lease | None:
        """Take the lease of `key` for `ttl` seconds; None when others held it for all of `wait` seconds."""
        return patiently(lambda: self._take(key, ttl), wait)

    def renew(self, lease: Lease, ttl: float = TTL_S) -> bool:
        """Extend the lease to `ttl` seconds from now; False when it has ended."""
        with self._changing(lease.key) as slot:
            stored = self._held_lease(slot, lease)
            if stored is not None:
                slot.lease = replace(stored, until=self._clock() + ttl, ttl=ttl)
            return stored is not None

    def release(self, lease: Lease) -> bool:
        """Release the lease and delete it; False when it had ended."""
        with self._changing(lease.key) as slot:
            stored = self._held_lease(slot, lease)
            if stored is not None:
                slot.lease = None
            return stored is not None

    def _take(self, key: str, ttl: float) -> Lease | None:
        with self._changing(key) as slot:
            now, before = self._clock(), slot.lease
            if before is not None and before.is_live(now):
                return None
            fence = max(int(now * _FENCES_A_SECOND), 0 if before is None else before.fence + 1)
            lease = Lease(key, token_hex(16), fence)
            slot.lease = StoredLease(secret=lease.secret, fence=fence, until=now + ttl, ttl=ttl)
            return lease

    def _held_lease(self, slot: Slot, lease: Lease) -> StoredLease | None:
        stored = slot.lease
        is_held = stored is not None and stored.secret == lease.secret and stored.is_live(self._clock())
        return stored if is_held else None


_: type[Leases] = StoredLeases  # checked, never run
