"""Which file holds the records of a discussion: that of an earlier program where there is one, else one of ours."""

import os
import stat
from pathlib import Path

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.places import places
from mnemoir.storage.sqlite.transactions import storage_errors

Identity = tuple[int, int]  # device and inode: another file under the same name has another


def records_file(discussion: Discussion) -> Path:
    """The file that is there, else the one to make. Raises StorageUnavailable. Only roots may be links."""
    return records_file_of(directory_name(discussion.id), discussion.root, discussion.legacy)


def records_file_of(name: str, root: Path, legacy: Path | None) -> Path:
    """The same for the discussion whose files have that name."""
    candidates = places(name, "records")
    files = [place.below(real(root)) for place in candidates]
    new = files[-1]
    if legacy is not None:
        files.append(candidates[-1].below(real(legacy)))
    with storage_errors(new, OSError):
        return next((file for file in files if _is_there(file)), new)


def identity_of(path: Path) -> Identity | None:
    """Which file it is; None where there is none, or one without a byte: WilmerAI leaves those where it searched.

    Raises StorageUnavailable for a link, and OSError.
    """
    refuse_links(path)
    try:
        status = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return (status.st_dev, status.st_ino) if status.st_size else None


def refuse_links(path: Path) -> None:
    """Raise StorageUnavailable where the file or its folder is a link."""
    if path.is_symlink() or path.parent.is_symlink():
        raise StorageUnavailable(
            f"{path} is a link, or lies behind one. Put the file itself in its place: links are not followed."
        )


def real(root: Path) -> Path:
    """The root itself: it may be a link, but SQLite is to follow none."""
    return Path(os.path.realpath(root))


def _is_there(file: Path) -> bool:
    """A folder of that name is another discussion's."""
    try:
        return not stat.S_ISDIR(os.lstat(file).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
