"""The schema in numbered steps. A released step is never edited; each runs in a transaction with its own record.

So a start that is cut short leaves whole steps behind, and the next start goes on after the last of them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import apsw

from mnemoir.core.clock import to_text, utc_now

APPLICATION_ID = 0x4D6E656D  # "Mnem" in the file's header: how a file of ours is known
_STEP_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_RECORD = """
CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, at TEXT NOT NULL) STRICT
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One migration; `sql` is a whole file of statements."""

    number: int
    name: str
    sql: str


def known_steps() -> list[Step]:
    """Every step this program ships, in order."""
    found = [
        Step(number=int(match[1]), name=match[2], sql=entry.read_text("utf-8"))
        for entry in (files("mnemoir.storage.sqlite") / "migrations").iterdir()
        if (match := _STEP_FILE.fullmatch(entry.name))
    ]
    return sorted(found, key=lambda step: step.number)


def reached(connection: apsw.Connection) -> int:
    """The number of the last step the file has taken; 0 for none."""
    if not connection.table_exists(None, "migrations"):
        return 0
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM migrations").get)


def migrate(connection: apsw.Connection, steps: Sequence[Step]) -> None:
    """Take the steps that the file has not taken yet."""
    before = reached(connection)
    for step in steps:
        if step.number > before:
            _take(connection, step)


def _take(connection: apsw.Connection, step: Step) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute(_RECORD)
        connection.execute(step.sql)
        connection.execute(
            "INSERT INTO migrations (number, name, at) VALUES (?, ?, ?)",
            (step.number, step.name, to_text(utc_now())),
        )
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
