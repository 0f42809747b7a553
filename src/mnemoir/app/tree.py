"""The config tree that is served: its users, what is wrong in it, and what of it changes the settings."""

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from mnemoir.app.folders import outside
from mnemoir.core.errors import SettingsError
from mnemoir.settings import Settings
from mnemoir.workflows.checking import Problem, check
from mnemoir.workflows.config.lookup import Stamp, is_settled, stamp_of
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.node_types import node_types

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The tree that is served, and for whom."""

    tree: ConfigTree
    users: tuple[str, ...]


class UntilChanged(Generic[T]):
    """What reading a whole tree tells, which takes a part of a second: kept until one of its files changes.

    `make` gets a tree opened for it. One caller at a time may ask.
    """

    def __init__(self, root: Path, make: Callable[[ConfigTree], T]) -> None:
        self._root = root
        self._make = make
        self._made: tuple[frozenset[tuple[str, Stamp]], Hashable, T] | None = None

    def get(self, beside: Hashable = None) -> T:
        """What it tells now. It is made again, too, when what else it is made of, `beside`, is no longer the same."""
        seen = frozenset(_stamps(self._root))
        if self._made is None or self._made[:2] != (seen, beside):
            made = self._make(ConfigTree(self._root))
            if any(not _is_settled(self._root / path) for path, _ in seen):
                return made  # a next change may have the same stamp
            self._made = (seen, beside, made)
        return self._made[2]


def open_tree(settings: Settings) -> Served | None:
    """The config tree of the settings with its users; None without one. Raises SettingsError."""
    chosen = settings.workflows
    if chosen.config_dir is None:
        return None
    tree = ConfigTree.open(chosen.config_dir)
    users = tuple(dict.fromkeys(chosen.users))
    if not users:
        current = tree.current_user()
        if current is None:
            known = ", ".join(tree.user_names()) or "none"
            raise SettingsError(
                f"No user to serve is named, and {tree.root} has no current user. Add --user NAME; it has: {known}."
            )
        users = (current,)
    for name in users:
        tree.user(name)  # its settings must be there at the start
    return Served(tree=tree, users=users)


def fitted(settings: Settings, *, logging_dir: str | None = None, file_logging: bool = False) -> Settings:
    """The settings with the port and the log file that the tree's user asks for, where nothing else says so.

    `<user>` in `logging_dir` becomes the user's name, and nothing where several are served.
    """
    served = open_tree(settings)
    port = None if served is None else served.tree.user(served.users[0]).settings.port
    if port is not None and "server.port" not in settings.source.given:
        settings = settings.model_copy(update={"server": settings.server.model_copy(update={"port": port})})
    directory = _log_directory(served, logging_dir, file_logging=file_logging)
    if directory is not None:
        settings = settings.model_copy(update={"log": settings.log.model_copy(update={"directory": directory})})
    return settings


def problems_of(settings: Settings) -> Sequence[Problem]:
    """Everything wrong in what the served users reach; nothing without a tree."""
    served = open_tree(settings)
    return [] if served is None else check(served.tree, served.users, node_types(), outside(settings, served.tree))


def _log_directory(served: Served | None, named: str | None, *, file_logging: bool) -> Path | None:
    if named is not None and named.strip():
        user = served.users[0] if served is not None and len(served.users) == 1 else ""
        return Path(named.replace("<user>", user)).expanduser().absolute()
    if served is None:
        return None
    asks = any(served.tree.user(name).settings.logs_to_file for name in served.users)
    return served.tree.public / "logs" if file_logging or asks else None


def _stamps(root: Path) -> Iterator[tuple[str, Stamp]]:
    for where, _, names in os.walk(root):
        for name in names:
            path = os.path.join(where, name)
            if name.lower().endswith(".json") and os.path.exists(path):
                yield os.path.relpath(path, root), stamp_of(os.stat(path))


def _is_settled(path: Path) -> bool:
    """One that has gone meanwhile is looked for the next time anyway."""
    return not path.exists() or is_settled(path.stat())
