"""Folders for names of users and projects: one folder for each name, on every file system.

Many file systems take `Mira` and `mira` for one name, or `é` in one character for `é` in two. So a name gets a folder
of its own spelling while no folder is there that such a file system would take for it; else it gets an encoded one.
Folders that are there keep the names they have.
"""

import os
import threading
import unicodedata
from collections import OrderedDict
from pathlib import Path

from mnemoir.core.discussion_id import directory_name, encoded_name

_MOST_KNOWN = 10_000


class SpelledFolders:
    """Thread-safe. It remembers what it told lately, so that two new names never get one folder."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Path, str], dict[str, str]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, parent: Path, name: str) -> Path:
        """The folder of a name below `parent`; it need not exist yet. Reads `parent` for a name that is not known."""
        if directory_name(name) != name:
            return parent / directory_name(name)
        key = parent, _without_case(name)
        with self._lock:
            folders = self._known.get(key)
            if folders is None:
                folders = self._known[key] = _folders_like(parent, key[1])
            if name not in folders:
                folders[name] = _new_folder(parent, name, set(folders.values()))
            self._known.move_to_end(key)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
            return parent / folders[name]


def _folders_like(parent: Path, folded: str) -> dict[str, str]:
    """The folders that are there with a name like this, by their own names."""
    try:
        names = os.listdir(parent)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return {name: name for name in names if _without_case(name) == folded}


def _new_folder(parent: Path, name: str, taken: set[str]) -> str:
    encoded = encoded_name(name)
    if os.path.lexists(parent / encoded):
        return encoded
    if os.path.lexists(parent / name):  # the file system may have changed how it is written
        same = [other for other in taken if unicodedata.normalize("NFC", other) == unicodedata.normalize("NFC", name)]
        if same == list(taken):
            return same[0] if len(same) == 1 else encoded
    return encoded if taken else name


def _without_case(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
