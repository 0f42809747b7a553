"""Problems and hints of a config tree, and positions in its files."""

from dataclasses import dataclass, replace
from typing import Literal

from mnemoir.workflows.config.shape import json_path

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem in a file; `file` is relative to the Configs folder, `path` is like `$.nodes[2].endpointName`.

    An error ends or prevents a run that reaches it; a warning marks something that is probably unintended.
    """

    file: str
    path: str
    level: Level
    cause: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A hint at an unused feature of a working file; `file` and `path` are as in Problem."""

    file: str
    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePosition:
    """A position in a file of the tree: the file and the JSON path within it."""

    file: str
    steps: tuple[str | int, ...] = ()

    def __truediv__(self, step: str | int) -> "FilePosition":
        """The position of a member of the object, or of an item of the list, at this position."""
        return replace(self, steps=(*self.steps, step))

    @property
    def path(self) -> str:
        """The JSON path; `$` for the whole file."""
        return json_path(*self.steps)
