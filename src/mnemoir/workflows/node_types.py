"""The registry of node types: those of Mnemoir and of other packages, all listed under one entry point.

    [project.entry-points."mnemoir.nodes"]
    weather = "some_package.weather:Weather"

The names of a type in files are the `kind` and `aliases` of its class; the name of the entry is only for lists.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from inspect import isclass
from typing import Any

import structlog

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.node import Node

GROUP = "mnemoir.nodes"

_log = structlog.get_logger(__name__)

Types = Mapping[str, type[Node[Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """Node types by their names in lower case, and the faults of entries that could not be loaded."""

    types: Types
    problems: Sequence[str]


@cache
def loaded() -> LoadResult:
    """The node types of all installed packages."""
    return load(entry_points(group=GROUP))


@cache
def node_types() -> Types:
    """All usable node types. The others are logged once and do not stop the server."""
    for problem in loaded().problems:
        _log.warning("node type left out", cause=problem)
    return loaded().types


def load(entries: Iterable[EntryPoint]) -> LoadResult:
    """Load the classes. A name used twice goes to Mnemoir's class, else to the one whose entry sorts first."""
    types: dict[str, type[Node[Any]]] = {}
    problems: list[str] = []
    for entry in sorted(
        set(entries), key=lambda entry: (not entry.value.startswith("mnemoir."), entry.name, entry.value)
    ):
        try:
            _add(types, _class_of(entry))
        except SettingsError as exc:
            problems.append(f"entry {entry.name} = {entry.value} in {GROUP}: {exc.message}")
    return LoadResult(types=types, problems=problems)


def _add(types: dict[str, type[Node[Any]]], found: type[Node[Any]]) -> None:
    """Add the class under all of its names; none of them on a conflict, which raises SettingsError."""
    names = [name.lower() for name in (found.kind, *found.aliases)]
    for name in names:
        if types.get(name, found) is not found:
            raise SettingsError(f"{name} is already the name of {types[name].__qualname__}; choose another.")
    types.update(dict.fromkeys(names, found))


def _class_of(entry: EntryPoint) -> type[Node[Any]]:
    try:
        found = entry.load()
    except Exception as exc:  # the import of another package may raise anything
        raise SettingsError(f"it cannot be imported: {type(exc).__name__}: {exc}") from exc
    if not isclass(found) or not issubclass(found, Node) or not isinstance(getattr(found, "kind", None), str):
        raise SettingsError("it must be a subclass of mnemoir.workflows.node.Node with a `kind`.")
    return found
