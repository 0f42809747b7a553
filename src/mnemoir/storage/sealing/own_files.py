"""Files of one owner: what they note of their encryption, and bringing them to the owner's key of now, or to plain.

A file notes by which key all of its cells are encrypted, if that is known. So a program without keys does not take
encrypted cells for texts, and the upkeep skips what is as it should be. Rows are written anew a few hundred in each
transaction, while others read and write; it may be killed anywhere and is then done again from the beginning, which
costs a look at what is as it should be already.
"""

from functools import partial
from typing import NamedTuple

from mnemoir.storage.sealing.cells import OwnCells
from mnemoir.storage.sealing.resealing import before_first, reseal_rows
from mnemoir.storage.sql.conversations.thread import link
from mnemoir.storage.sql.engine import FileEngine, Sql, queries
from mnemoir.storage.sql.tables import SESSION_FILE, SealedFile

STATE = queries("own_files/sealing")
_MESSAGES = queries("sessions/sealing")
_TREE = queries("sessions/tree")
_LINKED_TOGETHER = 20  # sessions
_PLAIN = 0


class SealState(NamedTuple):
    """The keys of the digests and of all cells; of cells 0 means that all are plain, None that nobody has looked."""

    hashed_by: int | None
    sealed_by: int | None

    def fits(self, key: int | None) -> bool:
        """True when nothing is to be done for everything to have this key, None for plain."""
        return self == sealed_state(key)


def sealed_state(key: int | None) -> SealState:
    """The state of a file that has one key, None for plain."""
    return SealState(key, key or _PLAIN)


def seal_state(sql: Sql) -> SealState:
    """The state of the file."""
    return SealState(*sql.row(STATE["sealing_state"]))


def bring_file_up_to_date(file: FileEngine, kind: SealedFile, own: OwnCells) -> bool:
    """Encrypt all by the owner's key of now, or decrypt it; False when there was nothing to do. Blocks.

    Raises KeyUnavailable and StorageUnavailable.
    """
    key = own.key()
    if file.read(seal_state).fits(key):
        return False
    file.write(partial(_begin, kind=kind, key=key))
    if kind is SESSION_FILE:
        while file.write(_link_some):
            pass
    for table in kind.tables:
        after = before_first(kind, table)
        while after is not None:
            after = file.write(partial(reseal_rows, cells=own.cells, table=table, after=after, key=key, file=kind))
    file.write(partial(_note, state=sealed_state(key)))
    file.empty_log()
    return True


def _begin(sql: Sql, kind: SealedFile, key: int | None) -> None:
    """Let digests have the key from now on."""
    if kind is SESSION_FILE:
        if seal_state(sql).hashed_by != key:
            sql.run(_MESSAGES["forget_digests"])
        sql.run(_MESSAGES["estimate_all"])
    _note(sql, SealState(hashed_by=key, sealed_by=None))


def _link_some(sql: Sql) -> int:
    """Make the digests of a few more sessions anew; how many."""
    sessions = [row[0] for row in sql.rows(_TREE["unlinked_sessions"], limit=_LINKED_TOGETHER)]
    for session_id in sessions:
        link(sql, session_id)
    return len(sessions)


def _note(sql: Sql, state: SealState) -> None:
    sql.run(STATE["note_sealing"], **state._asdict())
