"""Leases among the threads of one process."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mnemoir.storage.locks.noted import Note, NotedLeases, Page


class InProcessLock(NotedLeases):
    """Callers that share this object share its leases. `clock` counts seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(self._page, clock)
        self._notes: dict[str, Note] = {}
        self._guard = threading.Lock()

    @contextmanager
    def _page(self, key: str) -> Iterator[Page]:
        with self._guard:
            page = Page(self._notes.pop(key, None))
            try:
                yield page
            finally:
                if page.note is not None:
                    self._notes[key] = page.note
