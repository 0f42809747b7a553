"""The access file of a data directory, for commands that read or change it, also beside a running server."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemoir.access.access_file import AccessFile


@contextmanager
def opened_access_file(config: Any, data_dir: Any) -> "Iterator[AccessFile]":
    """That of the data directory that the options name, closed at the end."""
    from mnemoir.access.access_file import AccessFile
    from mnemoir.core.scope import Act, acting
    from mnemoir.settings import load_settings

    acting.set(Act())  # the person who runs the command, no caller of a server
    file = AccessFile(load_settings(config, {"storage.data_dir": data_dir}))
    try:
        yield file
    finally:
        file.close()
