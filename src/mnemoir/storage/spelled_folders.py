"""One name on disk for each name of a user, project or discussion, on every file system.

Many file systems take `Mira` and `mira` for one name, or `é` in one character for `é` in two. So a name keeps its own
spelling while nothing is there that such a file system would take for it; else it gets an encoded one. What is there
keeps the name it has.
"""

import os
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path

from mnemoir.core.discussion_id import directory_name, encoded_name

_MOST_KNOWN = 10_000


class SpelledNames:
    """Thread-safe. It remembers what it told lately, so that two new names never get one on disk."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Path, str], dict[str, str]] = OrderedDict()
        self._lock = threading.Lock()

    def of(
        self, parent: Path, name: str, names_in: Callable[[], Iterable[str]], is_there: Callable[[str], bool]
    ) -> str:
        """The name on disk of a name below `parent`; nothing need be there yet.

        `names_in` gives the names on disk and is called for a name that is not known; `is_there` asks the file system
        for one. What they raise is raised.
        """
        if directory_name(name) != name:
            return directory_name(name)
        key = parent, _without_case(name)
        with self._lock:
            names = self._known.get(key)
            if names is None:
                alike = (each for each in set(names_in()) if _without_case(each) == key[1])
                names = self._known[key] = {each: each for each in alike}
            if name not in names:
                names[name] = _new_name(name, set(names.values()), is_there)
            self._known.move_to_end(key)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
            return names[name]


class SpelledFolders:
    """Folders for names of users and projects. Thread-safe."""

    def __init__(self) -> None:
        self._names = SpelledNames()

    def of(self, parent: Path, name: str) -> Path:
        """The folder of a name below `parent`; it need not exist yet."""
        return parent / self._names.of(
            parent, name, lambda: _entries(parent), lambda each: os.path.lexists(parent / each)
        )


def _entries(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _new_name(name: str, taken: set[str], is_there: Callable[[str], bool]) -> str:
    encoded = encoded_name(name)
    if is_there(encoded):
        return encoded
    if is_there(name):  # the file system may have changed how it is written
        same = [other for other in taken if unicodedata.normalize("NFC", other) == unicodedata.normalize("NFC", name)]
        if same == list(taken):
            return same[0] if len(same) == 1 else encoded
    return encoded if taken else name


def _without_case(name: str) -> str:
    if name.isascii():  # as nearly all are, which a chat asks for a dozen times
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
