"""The check of a file of one owner, and what it notes of its encryption, when it is opened."""

from pathlib import Path

import apsw

from mnemoir.core.errors import KeyUnavailable
from mnemoir.storage.sealing.cells import OwnCells
from mnemoir.storage.sealing.own_files import STATE, seal_state, sealed_state
from mnemoir.storage.sqlite.transactions import SqliteSql, transaction


def begin_sealing(path: Path, connection: apsw.Connection, cells: OwnCells | None, *, is_new: bool) -> None:
    """Note that cells of another kind than before may follow; of a new file, that all have the owner's key.

    Raises KeyUnavailable for an encrypted file without `cells`.
    """
    state = seal_state(SqliteSql(connection))
    if cells is None:
        if not state.fits(None):
            raise KeyUnavailable(
                f"{path} is encrypted. Open it with the settings and the key store that it was written with."
            )
        return
    if state.sealed_by is None or bool(state.sealed_by) == cells.cells.seals:
        return
    with transaction(connection):
        after = sealed_state(cells.key()) if is_new else seal_state(SqliteSql(connection))._replace(sealed_by=None)
        connection.execute(STATE["note_sealing"], after._asdict())
