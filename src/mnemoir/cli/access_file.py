"""The access file of a data directory, for commands that read or change it, also beside a running server.

Without --data-dir it is that of the server that runs at the address of the settings, as other commands go to that
server: a key in another directory would protect nothing there.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnemoir.cli.output import note
from mnemoir.core.errors import Conflict, MnemoirError

if TYPE_CHECKING:
    from mnemoir.access.access_file import AccessFile
    from mnemoir.settings import Settings


@contextmanager
def opened_access_file(config: Any, data_dir: Any, *, changes: bool = False) -> "Iterator[AccessFile]":
    """That of the data directory of the options, or of the running server, closed at the end.

    One that `changes` it is told which directory that was. Raises Conflict where the running server has another one
    than the settings and does not tell which.
    """
    from mnemoir.access.access_file import AccessFile
    from mnemoir.core.scope import Act, acting

    settings = served_settings(config, data_dir)
    acting.set(Act())  # the person who runs the command, no caller of a server
    file = AccessFile(settings)
    try:
        yield file
    finally:
        file.close()
    if changes:
        note(f"Changed in the data directory {settings.storage.data_dir}.")


def served_settings(config: Any, data_dir: Any) -> "Settings":
    """The settings, with the data directory of the option, else of the server that runs, else their own."""
    from mnemoir.cli.session import run
    from mnemoir.settings import load_settings

    settings = load_settings(config, {"storage.data_dir": data_dir})
    if data_dir is not None:
        return settings
    served = run(_served_directory(settings))
    return settings if served is None else load_settings(config, {"storage.data_dir": served})


async def _served_directory(settings: "Settings") -> Path | None:
    """The data directory of the running server, where that is not the one of the settings; else None."""
    from mnemoir.cli.connection import connect, is_mnemoir
    from mnemoir.providers.http import new_session
    from mnemoir.storage.process_lock import is_locked

    own, address = settings.storage.data_dir, settings.server.url
    async with new_session() as session:
        try:
            if not await is_mnemoir(address, session):
                return None
        except MnemoirError:  # another program has the port
            return None
    told: Path | None = None
    with suppress(MnemoirError):  # it needs a key that this command does not have
        async with connect(settings, url=address, in_process=False) as connection:
            told = Path((await connection.ask("GET", "/api/status"))["room"]["data_dir"])
    if told is None or not told.is_absolute():  # it may be told by the folder in which the server was started
        told = own if is_locked(own) else None
    if told is None or not (told == own or is_locked(told)):
        raise Conflict(
            f"The server at {address} uses another data directory than {own}, so nothing was read or changed. Name "
            "its directory, or this one, with --data-dir."
        )
    return None if told == own else told
