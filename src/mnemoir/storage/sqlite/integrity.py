"""Whether the file is sound, and every memory in all of its places."""

import apsw

from mnemoir.storage.sqlite.queries import queries

_QUERIES = queries("integrity")
_MOST_LINES = 20


def problems(connection: apsw.Connection) -> list[str]:
    """One line for each thing that is wrong; [] when nothing is."""
    try:
        return [*_of_the_file(connection), *_of_places(connection)]
    except apsw.CorruptError as exc:
        return [f"the file cannot be read to its end: {exc}"]


def _of_the_file(connection: apsw.Connection) -> list[str]:
    lines = [str(line) for (line,) in connection.execute(f"PRAGMA integrity_check({_MOST_LINES})")]
    orphans = [
        f"row {row} of {table} belongs to nothing"
        for table, row, *_ in connection.execute("PRAGMA foreign_key_check")
    ]
    return [*(line for line in lines if line != "ok"), *orphans[:_MOST_LINES]]


def _of_places(connection: apsw.Connection) -> list[str]:
    rows = connection.execute(_QUERIES["misplaced"], {"limit": _MOST_LINES})
    return [f"memory {memory_id} {what}" for _, memory_id, what in rows]
