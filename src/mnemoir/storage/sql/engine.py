"""The two protocols between a store and a database: `Sql`, one open transaction, and the engines that open them.

A store is a set of blocking functions over `Sql`. It names its queries and knows no driver, so it is written once for
every database. Two kinds of engine run it: `Engine` for the server, asynchronous and alone with its database, and
`FileEngine` for files that other programs may have open too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from mnemoir.core.scope import Scope

T = TypeVar("T")
Row = tuple[Any, ...]
Value = str | bytes | int | float | None


class Damaged(Exception):
    """A stored value is not what was written. Engines treat it like damage that the database found itself."""


class Sql(Protocol):
    """One open transaction, for the thread that it was handed to.

    Queries are those of `queries/`, values bind by name. The transaction binds `:scope_id` itself; an unknown scope
    binds NULL, which no row has.
    """

    @property
    def scope_id(self) -> int | None:
        """The number of the scope that the transaction is for; None for no scope, or an unknown one."""

    def within(self, scope_id: int | None) -> "Sql":
        """The same transaction, for another scope."""

    def rows(self, query: str, /, **values: Value) -> list[Any]:
        """Every row, as a tuple of its columns."""

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The same rows one by one, for many or wide ones. Nothing else is run in the transaction meanwhile."""

    def row(self, query: str, /, **values: Value) -> Any:
        """The first row; None when there is none."""

    def value(self, query: str, /, **values: Value) -> Any:
        """The first column of the first row; None when there is none."""

    def run(self, query: str, /, **values: Value) -> int:
        """Change rows; how many were changed."""

    def many(self, query: str, values: Sequence[Mapping[str, Value]], /) -> list[Any]:
        """Run a query once for each mapping; the rows that it gives, in their order."""


class Engine(Protocol):
    """A database that this program reads and writes from its event loop. Raises StorageUnavailable."""

    @property
    def incarnation(self) -> str | None:
        """Names this opening of a database that no other process can have open; None where others can."""

    async def write(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """What `work` gives, once everything it wrote is durable; all of it is undone when it raises.

        `work` may run again and must then have the same effect. None: no single scope.
        """

    async def read(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """What `work` gives over one snapshot."""

    async def empty_log(self) -> None:
        """Leave nothing of what was deleted in any file."""


class FileEngine(Protocol):
    """One database file, blocking and thread-safe. Raises StorageUnavailable."""

    @property
    def path(self) -> Path:
        """The file."""

    def write(self, work: Callable[[Sql], T]) -> T:
        """What `work` gives, in one transaction; all of it is undone when it raises. `work` may run again."""

    def read(self, work: Callable[[Sql], T]) -> T:
        """What `work` gives over one snapshot. `work` may run again."""

    def empty_log(self) -> None:
        """Leave nothing of what was deleted in the write-ahead log, unless others read at the moment."""

    def close(self) -> None:
        """Let go of the file. May be called again."""
