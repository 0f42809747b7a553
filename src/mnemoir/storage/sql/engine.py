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
    """A stored value is damaged. Engines treat it like damage that the database itself detected."""


class Sql(Protocol):
    """One open transaction, for use by one thread.

    Queries are those of `queries/`, values bind by name. The transaction binds `:scope_id` itself; an unknown scope
    binds NULL, which no row has.
    """

    @property
    def scope_id(self) -> int | None:
        """The number of the transaction's scope; None for no scope, or an unknown one."""

    def within(self, scope_id: int | None) -> "Sql":
        """The same transaction, for another scope."""

    def rows(self, query: str, /, **values: Value) -> list[Any]:
        """Every row, as a tuple of its columns."""

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The same rows one by one, for many or wide ones. No other query may run in the transaction meanwhile."""

    def row(self, query: str, /, **values: Value) -> Any:
        """The first row; None when there is none."""

    def value(self, query: str, /, **values: Value) -> Any:
        """The first column of the first row; None when there is none."""

    def run(self, query: str, /, **values: Value) -> int:
        """Run a writing query; the number of changed rows."""

    def many(self, query: str, values: Sequence[Mapping[str, Value]], /) -> list[Any]:
        """Run a query once for each mapping; the rows of all runs, in order."""


class Engine(Protocol):
    """A database that this program reads and writes from its event loop. Raises StorageUnavailable."""

    @property
    def incarnation(self) -> str | None:
        """A unique name of this opening when no other process can open the database; None when others can."""

    async def write(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work`, once all its writes are durable; they are rolled back when it raises.

        `work` may run again and must then have the same effect. A `scope` of None means no single scope.
        """

    async def read(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot."""

    async def empty_log(self) -> None:
        """Remove the bytes of deleted content from all files."""


class FileEngine(Protocol):
    """One database file, blocking and thread-safe. Raises StorageUnavailable."""

    @property
    def path(self) -> Path:
        """The file."""

    def write(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` in one transaction, which is rolled back when it raises. `work` may run again."""

    def read(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot. `work` may run again."""

    def empty_log(self) -> None:
        """Remove the bytes of deleted content from the write-ahead log, unless others are reading now."""

    def close(self) -> None:
        """Close the file. May be called again."""
