"""Files of a config tree as the server itself changes them, and their last good versions outside the tree.

No link below the root is followed, and names are taken as they are spelled: a file whose name differs from another
one only in case or Unicode form is refused, since some systems take both for one file. All functions block. Failures
of files become StorageUnavailable.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from mnemoir.core.atomic_file import Stamp, read_file, replace_file
from mnemoir.core.errors import Conflict, InvalidRequest, NotFound
from mnemoir.core.text import folded_name
from mnemoir.storage.files.workspace import Folder, file_errors

_KEPT = "kept-workflows"
_NO_FILE = (errno.ELOOP, errno.ENOTDIR, errno.EINVAL, errno.EISDIR)


class TreeFiles:
    """The files below `root`, by paths with slashes; kept versions are private files in `data_dir`."""

    def __init__(self, root: Path, data_dir: Path) -> None:
        self._root = root
        self._kept = Folder(root=data_dir, steps=(_KEPT,))

    def read(self, path: str) -> bytes | None:
        """The content of the file; None for a file that does not exist and may be created.

        Raises NotFound without its folder, Conflict beside a similar name, InvalidRequest for a link.
        """
        with self._folder(path, "read") as (folder, name):
            found = read_file(folder, name)
            return found[0] if found else None

    def replace(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Replace the content `before`; None creates the file. Raises like `read`, and Conflict for another one."""
        with self._folder(path, "saved") as (folder, name):

            def check(stamp: Stamp) -> None:
                found = read_file(folder, name)
                if (found[0] if found else None) != before:
                    raise changed_meanwhile(path)

            replace_file(folder, name, content, keep_mode=True, before_rename=check)

    def kept_version(self, path: str) -> bytes | None:
        """The kept version of the file; None without one."""
        with file_errors(f"The earlier version of {path}", "read"), self._kept.open() as folder:
            found = read_file(folder, self._name_of(path)) if folder is not None else None
            return found[0] if found else None

    def keep(self, path: str, content: bytes) -> None:
        """Keep this version of the file in place of the one kept before."""
        with file_errors(f"The earlier version of {path}", "saved"), self._kept.open(create=True) as folder:
            assert folder is not None  # it was created
            replace_file(folder, self._name_of(path), content)

    @contextmanager
    def _folder(self, path: str, doing: str) -> Iterator[tuple[int, str]]:
        *steps, name = path.split("/")
        with file_errors(path, doing), _link_errors(path):
            for depth, step in enumerate(steps):
                if step not in self._names(steps[:depth]):
                    raise NotFound(f"There is no folder {'/'.join(steps)!r} in the config tree. Create it first.")
            with Folder(root=self._root, steps=steps).open() as folder:
                if folder is None:
                    raise changed_meanwhile(path)
                _check_alike(path, name, os.listdir(folder))
                yield folder, name

    def _names(self, steps: Sequence[str]) -> Sequence[str]:
        with Folder(root=self._root, steps=steps).open() as folder:
            return os.listdir(folder) if folder is not None else ()

    def _name_of(self, path: str) -> str:
        """A name of letters and digits alone; trees that take turns in one data directory do not meet."""
        return sha256(f"{self._root}\0{path}".encode("utf-8", "surrogatepass")).hexdigest() + ".json"


def changed_meanwhile(path: str) -> Conflict:
    """The error for a file that is not as it was when its text was read."""
    return Conflict(
        f"{path} was changed meanwhile. Look at what it holds now, and save again.", code="changed_meanwhile"
    )


def _check_alike(path: str, name: str, names: Sequence[str]) -> None:
    alike = next((other for other in names if folded_name(other) == folded_name(name)), None)
    if name not in names and alike is not None:
        raise Conflict(
            f"There is {alike!r} beside {path}: some systems take both names for one. Choose another name.",
            code="similar_name",
        )


@contextmanager
def _link_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        if exc.errno not in _NO_FILE:
            raise
        raise InvalidRequest(
            f"{path} is a link, is behind one, or is no plain file; that is not followed. "
            "Change it on the server's disk.",
            code="link_not_followed",
        ) from exc
