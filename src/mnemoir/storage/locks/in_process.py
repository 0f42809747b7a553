"""Leases among the threads of one process."""

import threading
import time
from collections.abc import Callable

from mnemoir.ports.locks import TTL_S, WAIT_S, Lock, LockToken
from mnemoir.storage.locks.patience import patiently


class InProcessLock:
    """Whoever shares this object shares its leases. `clock` counts seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: dict[str, tuple[str, float]] = {}  # by key: the holder's secret, and when it ends
        self._guard = threading.Lock()

    def acquire(self, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> LockToken | None:
        """Take the lease of `key`; None when others kept it for all of `wait`."""
        return patiently(key, lambda token: self._take(token, ttl), wait)

    def renew(self, token: LockToken, ttl: float = TTL_S) -> bool:
        """Let it last from now; False when it has ended."""
        with self._guard:
            if not self._is_held(token):
                return False
            self._held[token.key] = (token.secret, self._clock() + ttl)
            return True

    def release(self, token: LockToken) -> bool:
        """Give it back; False when it had ended."""
        with self._guard:
            if not self._is_held(token):
                return False
            del self._held[token.key]
            return True

    def _take(self, token: LockToken, ttl: float) -> bool:
        with self._guard:
            now = self._clock()
            if token.key in self._held and self._held[token.key][1] > now:
                return False
            self._held[token.key] = (token.secret, now + ttl)
            return True

    def _is_held(self, token: LockToken) -> bool:
        secret, until = self._held.get(token.key, ("", 0.0))
        return secret == token.secret and until > self._clock()


_: type[Lock] = InProcessLock  # checked, never run
