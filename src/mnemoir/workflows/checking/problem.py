"""One thing that is wrong with a config tree, and where."""

from dataclasses import dataclass, replace
from typing import Literal

from mnemoir.workflows.config.shape import json_path

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """`file` is as seen from the Configs folder, `path` the place in it, like `$.nodes[2].endpointName`.

    An error ends a run that comes to it, or keeps one from starting; a warning is most likely not what was meant.
    """

    file: str
    path: str
    level: Level
    cause: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """What works as it is and could do more; `file` and `path` as in a problem."""

    file: str
    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePosition:
    """Somewhere in a file."""

    file: str
    steps: tuple[str | int, ...] = ()

    def __truediv__(self, step: str | int) -> "FilePosition":
        """A member of the object, or an item of the list, at this place."""
        return replace(self, steps=(*self.steps, step))

    @property
    def path(self) -> str:
        """`$` for the whole file."""
        return json_path(*self.steps)
