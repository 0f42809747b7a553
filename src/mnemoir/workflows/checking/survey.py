"""What a check works with: the tree, each file read once, and the list of problems that grows."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from mnemoir.core.errors import SettingsError
from mnemoir.ports.user_files import UserFiles
from mnemoir.workflows.checking.problem import FilePosition, Hint, Level, Problem
from mnemoir.workflows.config.files import parse, read_bytes
from mnemoir.workflows.config.lookup import parts_of
from mnemoir.workflows.config.shape import faults
from mnemoir.workflows.config.tree import ConfigTree, Folder
from mnemoir.workflows.node import Node

Types = Mapping[str, type[Node[Any]]]
M = TypeVar("M", bound=BaseModel)
_UNKNOWN = "Extra inputs are not permitted"  # what pydantic says


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the settings of a server say of files outside the tree."""

    user_files: UserFiles  # of file nodes
    discussion_directory: Path | None = None  # wins over those that users name


class Survey:
    """One check of one tree. Files are given by their whole paths, as lookups find them."""

    def __init__(self, tree: ConfigTree, types: Types, outside: Outside | None = None) -> None:
        self.tree = tree
        self.types = types
        self.outside = outside  # None where no server is known
        self.read: dict[str, Any] = {}  # JSON by path; None for what is broken
        self.no_workflows: set[str] = set()  # files among the workflows that are something else
        self.endpoints: dict[tuple[str, str], set[str]] = {}  # by user and name: the files that name it
        self._shaped: dict[tuple[str, type[BaseModel]], BaseModel | None] = {}
        self._problems: dict[Problem, None] = {}  # two users may come to the same one
        self._only_warns = False
        self._hints: dict[Hint, None] = {}

    def report(self, place: FilePosition, cause: str, fix: str, level: Level = "error") -> None:
        """Write a problem down."""
        level = "warning" if self._only_warns else level
        self._problems[Problem(file=place.file, path=place.path, level=level, cause=cause, fix=fix)] = None

    @contextmanager
    def only_warning(self, only_warns: bool) -> Iterator[None]:
        """With True, every problem written down inside is a warning, as no run comes to it."""
        before, self._only_warns = self._only_warns, only_warns
        try:
            yield
        finally:
            self._only_warns = before

    def hint(self, place: FilePosition, text: str) -> None:
        """Write down what could do more; it is no problem."""
        self._hints[Hint(file=place.file, path=place.path, text=text)] = None

    def hints(self) -> list[Hint]:
        """All of them, file by file."""
        return sorted(self._hints, key=lambda hint: hint.file)

    def problems(self) -> list[Problem]:
        """All of them by file, each file's in the order found. A warning that is an error elsewhere is left out."""
        found = [
            one for one in self._problems if replace(one, level="error") not in self._problems or one.level == "error"
        ]
        return sorted(found, key=lambda problem: problem.file)

    def place(self, path: str) -> FilePosition:
        """The file as a whole."""
        return FilePosition(file=self.tree.lookup.relative(path))

    def raw(self, path: str) -> Any:  # JSON
        """What is in the file; None, which is told, when it cannot be read."""
        if self.read.get(path) is None:  # what is broken is told again, for it may be an error this time
            self.read[path] = self._parsed(path)
        return self.read[path]

    def shaped(self, path: str, model: type[M]) -> M | None:
        """The file as a `model`; None, with all that is wrong told, when it is none."""
        key = (path, model)
        if self._shaped.get(key) is None:
            self._shaped[key] = self._validated(path, model)
        return self._shaped[key]  # type: ignore[return-value]  # made by that model

    def find(self, kind: str, name: str, folders: Sequence[Folder]) -> str | None:
        """The file that a name means; None when there is none. Writes no problem down."""
        try:
            found = self.tree.find(kind, name, folders)
        except SettingsError:
            return None
        return found.path if found else None

    def locate(
        self,
        place: FilePosition,
        kind: str,
        name: str,
        folders: Sequence[Folder],
        absent: tuple[str, str] | None = None,
    ) -> str | None:
        """The file that the name at `place` means; None, which is told, when there is none.

        `absent` is then the cause and the fix, where more than the folders is to be said.
        """
        if not self.allows(place, name):
            return None
        try:
            found = self.tree.find(kind, name, folders)
        except SettingsError as exc:
            self.report(place, exc.message, "Make it readable.")
            return None
        if found is None:
            cause, fix = absent or (self.tree.absent(kind, name, folders), self.tree.advice(name, folders))
            self.report(place, cause, fix)
            return None
        return found.path

    def allows(self, place: FilePosition, name: str) -> bool:
        """Whether the name may be looked up at all; told when not."""
        try:
            parts_of(name)
        except ValueError as exc:
            self.report(
                place, f"{name!r} is not allowed as a name: {exc}.", "Give the name of something in this tree."
            )
            return False
        return True

    def files(self, *folder: str) -> list[str]:
        """All JSON files in a folder and the folders below it."""
        tops = self.tree.lookup.directories(*folder)
        walk = ((where, name) for top in tops for where, _, names in os.walk(top) for name in names)
        return sorted(os.path.join(where, name) for where, name in walk if name.lower().endswith(".json"))

    def _parsed(self, path: str) -> Any:
        place = self.place(path)
        try:
            content = read_bytes(path, self.tree.lookup.root)
        except SettingsError as exc:
            self.report(place, exc.message, "Put a readable file of reasonable size in its place.")
            return None
        try:
            return parse(place.file, content)
        except SettingsError as exc:
            self.report(place, exc.message, "Correct the JSON; it allows no comments and no trailing commas.")
            return None

    def _validated(self, path: str, model: type[M]) -> M | None:
        raw, place = self.raw(path), self.place(path)
        if raw is None:
            return None
        if not isinstance(raw, dict):
            self.report(place, "The file must hold a JSON object.", "Put its members between { and }.")
            return None
        try:
            return model.model_validate(raw)
        except ValidationError as exc:
            self.report_faults(place, exc)
            return None

    def report_faults(self, place: FilePosition, exc: ValidationError) -> None:
        """Everything that does not fit the shape, each at its own place."""
        for steps, cause in faults(exc):
            inner = FilePosition(file=place.file, steps=(*place.steps, *steps))
            if cause == _UNKNOWN:
                self.report(inner, f"There is no member {steps[-1]!r} here.", "Remove it, or correct its name.")
                continue
            missing = cause == "Field required"
            self.report(inner, f"{cause}.", "Add it." if missing else "Correct the value.")


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name most like `name`, without regard to case; None when none is."""
    by_lower = {other.lower(): other for other in known}
    near = get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[near[0]] if near else None
