"""A damaged page of the database of all costs the messages that lie on it, and nothing of anybody else."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from mnemoir.core.errors import StorageDamaged
from mnemoir.storage.sql.conversations.log import ScopeRows, SqlLog
from mnemoir.storage.sqlite import open_database
from tests.contracts.logs import said, texts
from tests.contracts.words import MIRA
from tests.conversations.session_kit import damage_a_page

USERS = [replace(MIRA, user=f"user {number}") for number in range(12)]
TOLD = [f"{number} {'x' * 500}" for number in range(30)]


@contextmanager
def logs_of_all(path: Path) -> Iterator[list[SqlLog]]:
    database = open_database(path)
    yield [SqlLog(ScopeRows(database, user)) for user in USERS]
    asyncio.run(database.aclose())


def is_damaged(log: SqlLog) -> bool:
    try:
        return texts(log) != TOLD
    except StorageDamaged:
        return True


def test_a_damaged_page_of_messages_is_told_to_whom_it_concerns_and_all_are_recorded_further(path):
    with logs_of_all(path) as logs:
        for log in logs:
            log.append_messages("s", [said(text) for text in TOLD])
    damage_a_page(path)
    with logs_of_all(path) as logs:
        damaged = [log for log in logs if is_damaged(log)]
        assert 1 <= len(damaged) <= 2
        for log in logs:
            log.append_messages("new", [said("Hello", session_id="new")])
            assert texts(log, "new") == ["Hello"]
            assert {one.id for one in log.list_sessions()} == {"s", "new"}
        assert [log for log in logs if is_damaged(log)] == damaged
