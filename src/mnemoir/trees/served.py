"""The served config tree: its users, discussions, problems and folders, and the settings that it overrides."""

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from mnemoir.core.data_directory import CONVERSATIONS
from mnemoir.core.errors import SettingsError
from mnemoir.core.scope import DEFAULT_USER, Scope
from mnemoir.ports.discussions import DiscussionFiles
from mnemoir.settings import Settings
from mnemoir.storage.files.user_files import FileUserFiles
from mnemoir.workflows.checking import Outside, Problem, check
from mnemoir.workflows.config.lookup import Stamp, is_settled, stamp_of
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.discussion_files import DiscussionPlaces
from mnemoir.workflows.node import node_types

_MODULE_FOLDERS = ("modules", "workflow_python_scripts")  # where trees keep their modules
T = TypeVar("T")


def folder_of_conversations(settings: Settings) -> Path:
    """The root folder of conversations: one folder for each project, and in it one for each user."""
    return settings.memory.conversations_folder or settings.storage.data_dir / CONVERSATIONS


def place_of(settings: Settings, path: str) -> Path:
    """Where a path of the data directory is; the settings may put conversations elsewhere."""
    first, _, rest = path.partition("/")
    return (folder_of_conversations(settings) if first == CONVERSATIONS else settings.storage.data_dir / first) / rest


def outside(settings: Settings, tree: ConfigTree | None) -> Outside:
    """The files outside `tree` that its check takes into account."""
    files = user_files(settings, tree)
    return Outside(user_files=files, discussion_directory=settings.workflows.discussion_directory)


def user_files(settings: Settings, tree: ConfigTree | None) -> FileUserFiles:
    """The public folder of a tree, without files that model output must not change: configuration, modules, data."""
    chosen = settings.workflows
    if tree is None:
        return FileUserFiles(chosen.file_directories, settings.storage.data_dir)
    roots = [tree.public, *chosen.file_directories]
    vectors = settings.memory.vector_store.persist_directory
    stores = [settings.storage.data_dir, settings.storage.workspace_root, folder_of_conversations(settings)]
    stores += [each for each in (vectors, settings.memory.past_file) if each is not None]
    closed: list[Path] = [
        tree.root,
        *chosen.module_directories,
        *(tree.public / name for name in _MODULE_FOLDERS),
        *(store for store in stores if any(root.resolve() in store.resolve().parents for root in roots)),
    ]
    return FileUserFiles(roots, tree.public, closed=closed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The served tree and the users it is served for."""

    tree: ConfigTree
    users: tuple[str, ...]


def discussion_places(settings: Settings, served: Served | None, files: DiscussionFiles) -> DiscussionPlaces:
    """Where the discussions of the tree's users are."""
    encryption = settings.encryption
    return DiscussionPlaces(
        files,
        settings.storage.data_dir,
        nobody=Scope(project=settings.memory.default_project, user=DEFAULT_USER),
        several_users=served is not None and len(served.users) > 1,
        directory=settings.workflows.discussion_directory,
        is_plain_refused=encryption.mode == "fields" and "discussions" not in encryption.allow_plain,
    )


class UntilChanged(Generic[T]):
    """A value computed from a whole tree, which takes a part of a second: cached until one of its files changes.

    `make` gets a freshly opened tree. Not thread-safe.
    """

    def __init__(self, root: Path, make: Callable[[ConfigTree], T]) -> None:
        self._root = root
        self._make = make
        self._made: tuple[frozenset[tuple[str, Stamp]], Hashable, T] | None = None

    def get(self, beside: Hashable = None) -> T:
        """The current value. It is also computed again when its other input, `beside`, has changed."""
        seen = frozenset(_stamps(self._root))
        if self._made is None or self._made[:2] != (seen, beside):
            made = self._make(ConfigTree(self._root))
            if any(not _is_settled(self._root / path) for path, _ in seen):
                return made  # another change could leave the stamp as it is
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


def plain_discussions(settings: Settings) -> dict[str, str]:
    """What stays plain of the tree's discussions, by its name in `encryption.allow_plain`. Raises SettingsError."""
    served = open_tree(settings)
    users = [] if served is None else [served.tree.user(name) for name in served.users]
    if not all(user.settings.encrypts_discussions for user in users):
        return {"discussions": "discussion files of the config tree, but for users with encryptUsingApiKey"}
    if any(user.settings.discussion_settings and user.discussion_settings().uses_records for user in users):
        return {"records": "databases of records of discussions, which the format of the config tree never encrypts"}
    return {}


def with_tree_settings(settings: Settings, *, logging_dir: str | None = None, file_logging: bool = False) -> Settings:
    """The settings with the port and log file of the tree's user, where no other setting gives them.

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
    """The problems of all files that the served users reach; empty without a tree."""
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
    """True when the file's stamp is old enough to trust; a deleted file counts, as the next lookup notices it."""
    return not path.exists() or is_settled(path.stat())
