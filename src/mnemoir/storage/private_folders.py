"""Folders of the data directory are their owner's alone, also those that another program made.

Only folders that Mnemoir itself fills are looked at: a workspace or a config tree may lie in the data directory, too.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import structlog

_log = structlog.get_logger(__name__)
_PRIVATE, _OF_OTHERS = 0o700, 0o077


def is_open_to_others(folder: Path) -> bool:
    """Whether other users of this machine may look into the folder; False for none. Windows keeps no such modes."""
    try:
        return os.name == "posix" and bool(stat.S_IMODE(folder.stat().st_mode) & _OF_OTHERS)
    except OSError:
        return False


def close_folders(folders: Sequence[Path]) -> int:
    """Give these folders and all below them mode 0700 where others may enter them; the number that were changed.

    Links are not followed, and folders of other users of the machine are left as they are. Blocks.
    """
    closed = 0
    for top in folders:
        if top.is_symlink() or not top.is_dir() or not hasattr(os, "fwalk"):  # Windows keeps no such modes
            continue
        for place, _, _, descriptor in os.fwalk(top, onerror=None, follow_symlinks=False):
            status = os.fstat(descriptor)
            if stat.S_IMODE(status.st_mode) & _OF_OTHERS and status.st_uid == os.geteuid():
                try:
                    os.fchmod(descriptor, _PRIVATE)
                    closed += 1
                except OSError as exc:
                    _log.warning("folder not closed to others", folder=place, error=exc.strerror)
    return closed
