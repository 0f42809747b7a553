"""The schema in numbered migrations. A released one is never edited; each is one transaction with its own record.

So an interrupted start leaves complete migrations behind, and the next start continues after the last of them. The
first line of a migration states its effect on a program of the previous release: `-- expand` only adds, `-- contract`
removes or rebuilds tables and columns that this program still uses.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import apsw

from mnemoir.core.clock import now_text
from mnemoir.storage.sqlite.transactions import transaction

StepKind = Literal["expand", "contract"]
APPLICATION_ID = 0x4D6E656D  # "Mnem" in the file's header marks a file of ours
_STEP_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_MARK = re.compile(r"-- (expand|contract)\n")
_RECORD = """
CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, at TEXT NOT NULL) STRICT
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One migration; `sql` is a whole file of statements."""

    number: int
    name: str
    kind: StepKind
    sql: str


@cache
def known_steps(file: str = "") -> Sequence[Step]:
    """Every migration of this program for a kind of file ("" for `mnemoir.db`), in order."""
    return sorted(
        (
            _step(int(match[1]), match[2], entry.read_text("utf-8"))
            for entry in (files("mnemoir.storage.sqlite") / "migrations" / file).iterdir()
            if (match := _STEP_FILE.fullmatch(entry.name))
        ),
        key=lambda step: step.number,
    )


def reached(connection: apsw.Connection) -> int:
    """The number of the file's last migration; 0 for none."""
    if not connection.table_exists(None, "migrations"):
        return 0
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM migrations").get)


def migrate(connection: apsw.Connection, steps: Sequence[Step]) -> None:
    """Run the migrations that the file does not have yet, each in its own transaction."""
    before = reached(connection)
    for step in steps:
        if step.number > before:
            with transaction(connection):
                _take(connection, step)


def build(connection: apsw.Connection, steps: Sequence[Step]) -> None:
    """Run all migrations on an empty file that nobody else sees yet, in one transaction."""
    with transaction(connection):
        for step in steps:
            _take(connection, step)


def _step(number: int, name: str, sql: str) -> Step:
    mark = _MARK.match(sql)
    if mark is None:
        raise ValueError(f"Migration {number:04}_{name}.sql does not say whether it expands or contracts.")
    return Step(number=number, name=name, kind="expand" if mark[1] == "expand" else "contract", sql=sql)


def _take(connection: apsw.Connection, step: Step) -> None:
    connection.pragma("application_id", APPLICATION_ID)
    connection.execute(_RECORD)
    connection.execute(step.sql)
    connection.execute(
        "INSERT INTO migrations (number, name, at) VALUES (?, ?, ?)",
        (step.number, step.name, now_text()),
    )
