"""The survey that a check makes of a config tree, with its problems and hints, and their positions in the files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from mnemoir.core.errors import SettingsError
from mnemoir.ports.node_services import UserFiles
from mnemoir.workflows.config.files import parse, read_bytes
from mnemoir.workflows.config.lookup import parts_of
from mnemoir.workflows.config.model import faults, json_path
from mnemoir.workflows.config.tree import ConfigTree, Folder
from mnemoir.workflows.node import Node

Level = Literal["error", "warning"]
Types = Mapping[str, type[Node[Any]]]
M = TypeVar("M", bound=BaseModel)
_UNKNOWN = "Extra inputs are not permitted"  # pydantic's message


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Settings of a server for files outside the tree."""

    user_files: UserFiles  # for file nodes
    discussion_directory: Path | None = None  # takes precedence over the users' directories


class Survey:
    """One check of one tree. Paths of files are absolute, as lookups give them."""

    def __init__(
        self,
        tree: ConfigTree,
        types: Types,
        outside: Outside | None = None,
        typed: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.tree = tree
        self.types = types
        self.outside = outside  # None for a check without a server
        self.typed = typed  # JSON by path that takes the place of the files', or of files to be
        self.read: dict[str, Any] = dict(typed)  # JSON by path; None for a broken file
        self.gathered: set[str] = set()  # files of workflows that some user may reach
        self.no_workflows: set[str] = set()  # files in workflow folders that are not workflows
        self.endpoints: dict[tuple[str, str], set[str]] = {}  # by user and name: the files that name the endpoint
        self._shaped: dict[tuple[str, type[BaseModel]], BaseModel | None] = {}
        self._problems: dict[Problem, None] = {}  # a set with order: two users may reach the same problem
        self._only_warns = False
        self._hints: dict[Hint, None] = {}

    def report(self, place: FilePosition, cause: str, fix: str, level: Level = "error") -> None:
        """Add a problem."""
        level = "warning" if self._only_warns else level
        self._problems[Problem(file=place.file, path=place.path, level=level, cause=cause, fix=fix)] = None

    @contextmanager
    def only_warning(self, only_warns: bool) -> Iterator[None]:
        """With True, problems added inside the block are warnings, because no run reaches them."""
        before, self._only_warns = self._only_warns, only_warns
        try:
            yield
        finally:
            self._only_warns = before

    def hint(self, place: FilePosition, text: str) -> None:
        """Add a hint."""
        self._hints[Hint(file=place.file, path=place.path, text=text)] = None

    def hints(self) -> list[Hint]:
        """All hints, ordered by file."""
        return sorted(self._hints, key=lambda hint: hint.file)

    def problems(self) -> list[Problem]:
        """All problems, ordered by file, then as found. A warning that is also reported as an error is left out."""
        found = [
            one for one in self._problems if replace(one, level="error") not in self._problems or one.level == "error"
        ]
        return sorted(found, key=lambda problem: problem.file)

    def place(self, path: str) -> FilePosition:
        """The position of the whole file."""
        return FilePosition(file=self.tree.lookup.relative(path))

    def raw(self, path: str) -> Any:  # JSON
        """The JSON of the file; None, with a reported problem, when it cannot be read."""
        if self.read.get(path) is None:  # a broken file is reported again, because it may be an error this time
            self.read[path] = self._json_of_file(path)
        return self.read[path]

    def file_as_model(self, path: str, model: type[M]) -> M | None:
        """The file as a `model`; None, with all faults reported, when it does not fit."""
        key = (path, model)
        if self._shaped.get(key) is None:
            self._shaped[key] = self._model_of_file(path, model)
        return self._shaped[key]  # type: ignore[return-value]  # made by that model

    def find(self, kind: str, name: str, folders: Sequence[Folder]) -> str | None:
        """The path of the file with that name; None for a missing file. Reports no problem."""
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
        """The path of the file with the name at `place`; None, with a reported problem, for a missing file.

        `absent` replaces the cause and the fix of that problem.
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
        """True when the name is allowed in a lookup; else a problem is reported."""
        try:
            parts_of(name)
        except ValueError as exc:
            self.report(
                place, f"{name!r} is not allowed as a name: {exc}.", "Give the name of something in this tree."
            )
            return False
        return True

    def files(self, *folder: str) -> list[str]:
        """The paths of all JSON files in a folder and its subfolders."""
        tops = self.tree.lookup.directories(*folder)
        walk = ((where, name) for top in tops for where, _, names in os.walk(top) for name in names)
        found = {os.path.join(where, name) for where, name in walk if name.lower().endswith(".json")}
        return sorted(found | {path for path in self.typed for top in tops if path.startswith(f"{top}{os.sep}")})

    def _json_of_file(self, path: str) -> Any:
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

    def _model_of_file(self, path: str, model: type[M]) -> M | None:
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
        """Report every fault of a validation at its own position."""
        for steps, cause in faults(exc):
            inner = FilePosition(file=place.file, steps=(*place.steps, *steps))
            if cause == _UNKNOWN:
                self.report(inner, f"There is no member {steps[-1]!r} here.", "Remove it, or correct its name.")
                continue
            missing = cause == "Field required"
            self.report(inner, f"{cause}.", "Add it." if missing else "Correct the value.")


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name most similar to `name`, ignoring case; None when none is similar."""
    by_lower = {other.lower(): other for other in known}
    near = get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[near[0]] if near else None
