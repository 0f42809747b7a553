"""What several programs change in one database, where each of them soon notices what another one changed.

The number of a subject grows with each change, in the transaction of that change. A thread reads all numbers with one
statement twice a second, from the first question on.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol, TypeVar

from mnemoir.core.errors import StorageDamaged, StorageUnavailable
from mnemoir.storage.postgres.opening import READ
from mnemoir.storage.postgres.transactions import Connection, PostgresSql
from mnemoir.storage.sql.engine import Sql, queries

T = TypeVar("T")
_QUERIES = queries("servers/versions")
_LOOKED_EVERY_S = 0.5
_FRESH_S = 1.0


def count_change(sql: Sql, subject: str) -> int:
    """Count a change of the subject; the number of now. Others who change it wait for the end of the transaction."""
    number: int = sql.value(_QUERIES["change"], subject=subject)
    return number


class Ask(Protocol):
    """Answers in a transaction that begins like this. Blocks; raises StorageUnavailable."""

    def __call__(self, begin: bytes, work: Callable[[Connection], T], /) -> T: ...


class Followed:
    """A subject whose changes are noted in the thread that sees them."""

    def __init__(self, name: str, subject: str, on_change: Callable[[], None]) -> None:
        self.subject = subject
        self.number = -1
        self._name = name
        self._on_change = on_change
        self._noting: int | None = None  # the thread that reads what changed; it goes by no failure of before
        self._failure: StorageUnavailable | None = None

    def check(self) -> None:
        """Raise StorageUnavailable where the last change could not be seen or noted."""
        if self._failure is not None and threading.get_ident() != self._noting:
            raise self._failure

    def note(self, number: int) -> None:
        """Note a change, if it is one. What fails is kept, and tried again with the next look."""
        try:
            self.refuse_before(number)
            if number != self.number:
                self._note_change()
                self.number = number
        except StorageUnavailable as exc:
            self.fail(exc)
        else:
            self._failure = None

    def fail(self, failure: StorageUnavailable) -> None:
        """Keep why nothing is known of it."""
        self._failure = failure

    def refuse_before(self, number: int) -> None:
        """Raise StorageDamaged for a number of before the one that was seen last."""
        if number < self.number:
            raise StorageDamaged(
                f"{self._name} is older than what this server saw of it (storage_damaged): another copy, such as a "
                "dump, was put in its place, so nobody is let in. Restart the server: then it erases again who was "
                "erased since."
            )

    def _note_change(self) -> None:
        self._noting = threading.get_ident()
        try:
            self._on_change()
        finally:
            self._noting = None


class Versions:
    """The numbers of all subjects in a database. Thread-safe."""

    def __init__(self, name: str, ask: Ask) -> None:
        """`name` is what errors call the database."""
        self._name = name
        self._ask = ask
        self._entry = threading.Lock()  # nobody takes it on whom others wait
        self._start = threading.Lock()
        self._seen: tuple[float, Mapping[str, int]] = (-math.inf, {})  # when the look at them began
        self._followed: list[Followed] = []
        self._is_ending = threading.Event()
        self._thread: threading.Thread | None = None

    def number_of(self, subject: str) -> int | None:
        """The number of at most a second ago; None while that is not known. Never waits."""
        if self._thread is None:
            self._watch_from_now()
        at, numbers = self._seen
        return numbers.get(subject, 0) if time.monotonic() - at < _FRESH_S else None

    def follow(self, subject: str, on_change: Callable[[], None]) -> Followed:
        """Call `on_change` now, in this thread, and behind each change. Raises StorageUnavailable."""
        followed = Followed(self._name, subject, on_change)
        with self._entry:
            self._followed.append(followed)
        try:
            self.look()
            followed.check()
        except BaseException:
            self.leave(followed)
            raise
        self._watch_from_now()
        return followed

    def leave(self, followed: Followed) -> None:
        """Note no more changes of it. May be called again."""
        with self._entry, suppress(ValueError):
            self._followed.remove(followed)

    def look(self) -> None:
        """Read the numbers now, and note what changed. Raises StorageUnavailable."""
        with self._entry:
            began = time.monotonic()
            try:
                numbers = dict(self._ask(READ, _numbers_in))
            except StorageUnavailable as exc:
                for one in self._followed:
                    one.fail(exc)
                raise
            self._seen = (began, numbers)
            for one in self._followed:
                one.note(numbers.get(one.subject, 0))

    def close(self) -> None:
        """End the thread."""
        with self._start:
            self._is_ending.set()
        if self._thread is not None:
            self._thread.join()

    def _watch_from_now(self) -> None:
        with self._start:
            if self._thread is None and not self._is_ending.is_set():
                self._thread = threading.Thread(target=self._watch, name="versions", daemon=True)
                self._thread.start()

    def _watch(self) -> None:
        while True:
            with suppress(StorageUnavailable):  # the next read reports it
                self.look()
            if self._is_ending.wait(_LOOKED_EVERY_S):
                return


def _numbers_in(connection: Connection) -> list[tuple[str, int]]:
    return PostgresSql(connection).rows(_QUERIES["versions"])
