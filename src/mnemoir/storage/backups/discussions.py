"""The files of discussions by discussion, in the order in which copies fit together also while memories are made."""

from collections.abc import Iterable, Mapping

from mnemoir.storage.discussions.client_keys import is_folder_name
from mnemoir.storage.discussions.places import LOCK, kind_in_folder, name_and_companion, owner_of


def by_discussion(paths: Iterable[str], own_folders: frozenset[str]) -> Mapping[str, list[str]]:
    """The paths below a folder of discussions by the path of their lock, those of summaries first.

    A summary is made of the other files, so a later one would tell of more than they hold. `own_folders` hold folders
    of users, each like the whole one. Any of them may have folders of clients' keys.
    """
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(_lock_of(path, own_folders), []).append(path)
    return {lock: sorted(members, key=lambda path: (not _is_summary(path), path)) for lock, members in found.items()}


def _lock_of(path: str, own_folders: frozenset[str]) -> str:
    steps = path.split("/")
    root = steps[:2] if steps[0] in own_folders else []
    steps = steps[len(root) :]
    if len(steps) > 1 and is_folder_name(steps[0]) and not _is_discussion(steps[1:]):
        root, steps = [*root, steps[0]], steps[1:]  # of a client's key
    if len(steps) > 1:
        return "/".join([*root, steps[0] + LOCK])
    name, companion = name_and_companion(steps[0])
    owner = owner_of(name)
    is_lock = companion == LOCK and owner is None
    return "/".join([*root, (owner[0] if owner and not is_lock else name) + LOCK])


def _is_discussion(steps: list[str]) -> bool:
    """Whether a path can lie in the folder of a discussion."""
    return len(steps) == 1 and kind_in_folder(name_and_companion(steps[0])[0]) is not None


def _is_summary(path: str) -> bool:
    name = path.rpartition("/")[2]
    owner = owner_of(name)
    return "summary" in (kind_in_folder(name), owner and owner[1])
