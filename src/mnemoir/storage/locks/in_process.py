"""Leases among the threads of one process."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mnemoir.storage.locks.stored import Slot, StoredLease, StoredLeases


class InProcessLock(StoredLeases):
    """Leases of all callers that share this object. `clock` counts seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(self._slot, clock)
        self._stored: dict[str, StoredLease] = {}
        self._guard = threading.Lock()

    @contextmanager
    def _slot(self, key: str) -> Iterator[Slot]:
        with self._guard:
            slot = Slot(self._stored.pop(key, None))
            try:
                yield slot
            finally:
                if slot.lease is not None:
                    self._stored[key] = slot.lease
