"""The store of search indexes between runs of the program: arrays built from rows, which may be deleted anytime."""

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from mnemoir.core.scope import Scope

Arrays = Mapping[str, NDArray[Any]]


class IndexPacks(Protocol):
    """Index packs of whole users (`Scope.owner`), one for each model. All methods block and are thread-safe."""

    def read(self, scope: Scope, model: str) -> Arrays | None:
        """The stored arrays; None without any, or if they cannot be read."""

    def mark(self, scope: Scope) -> int:
        """The number of times the scope's packs were dropped. Get it before reading the rows for `write`."""

    def write(self, scope: Scope, model: str, arrays: Arrays, mark: int) -> None:
        """Store arrays in place of the last ones, of any model.

        Stores nothing if the scope's packs were dropped since `mark`, or if there is no room.
        """

    def drop(self, scope: Scope) -> None:
        """Delete all packs of the scope, leaving none of their bytes. Raises StorageUnavailable."""
