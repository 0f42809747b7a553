"""Where indexes are kept between two runs of the program: arrays, made of rows and thrown away at any time."""

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from mnemoir.core.scope import Scope

Arrays = Mapping[str, NDArray[Any]]


class IndexPacks(Protocol):
    """Packs of whole users (`Scope.owner`), one for each model. Blocking and thread-safe."""

    def read(self, scope: Scope, model: str) -> Arrays | None:
        """What was kept; None for nothing, or nothing that can be read."""

    def mark(self, scope: Scope) -> int:
        """How often the scope's packs were dropped. To be asked before rows are read for `write`."""

    def write(self, scope: Scope, model: str, arrays: Arrays, mark: int) -> None:
        """Keep arrays in place of the last ones, of whatever model.

        Nothing is kept when the scope's packs were dropped since `mark`, or when there is no room.
        """

    def drop(self, scope: Scope) -> None:
        """Leave no byte of the scope. Raises StorageUnavailable."""
