"""The place in a data directory where the plain files of an encrypted backup lie until they are sealed."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemoir.core.errors import Conflict
from mnemoir.storage.backups.whole_folder import alone_in

STAGING = ".backup"


@contextmanager
def staging_in(data_dir: Path) -> Iterator[Path]:
    """A private, empty folder, which goes at the end. Raises Conflict while another backup has it, and OSError."""
    folder = data_dir / STAGING
    folder.mkdir(0o700, exist_ok=True)
    with alone_in(folder) as is_alone:
        if not is_alone:
            raise Conflict("Another encrypted backup is being made of these data. Try again when it is done.")
        plain = folder / "plain"
        shutil.rmtree(plain, ignore_errors=True)  # of one that was killed
        try:
            plain.mkdir(0o700)
            yield plain
        finally:
            shutil.rmtree(plain, ignore_errors=True)


def clear_staging(data_dir: Path) -> None:
    """Remove what a killed backup left, unless one is being made. Raises OSError."""
    folder = data_dir / STAGING
    if not folder.is_dir():
        return
    with alone_in(folder) as is_alone:
        if is_alone:
            shutil.rmtree(folder / "plain", ignore_errors=True)
