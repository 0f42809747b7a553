"""Every query over sessions fits the schema, says what it gives, is used, and reads no more than it gives."""

import re
from pathlib import Path

import apsw
import pytest

import mnemoir.storage
from mnemoir.storage.sql.engine import queries
from mnemoir.storage.sqlite.conversation_file import upgrade

SUBJECTS = ("schema", "sessions", "messages", "tree", "ways", "vectors", "sealing")
ALL = [(subject, name) for subject in SUBJECTS for name in queries(f"sessions/{subject}")]
ASKED = [(subject, name) for subject, name in ALL if subject != "schema"]
# counts and pages from the first row on read what they tell of
WHOLE_TABLE = {"sessions.page", "vectors.counts", "vectors.to_remove", "vectors.progress", "vectors.sessions"}
WHOLE_TABLE |= {"sealing.forget_digests", "sealing.estimate_all"}  # once, when a file gets another key
# what a query made itself, and a table of one row
NO_TABLES = (
    *("SCAN CONSTANT ROW", "SCAN way", "SCAN placed", "SCAN (subquery", "SCAN sqlite_sequence"),
    *("SCAN forks", "SCAN json_each", "SCAN sealing"),
)


@pytest.fixture
def migrated(tmp_path) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    upgrade(tmp_path / "m.db", connection)
    return connection


def plan_of(connection: apsw.Connection, query: str) -> list[str]:
    values = dict.fromkeys(re.findall(r"(?<!\w):(\w+)", query))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]


def test_a_query_fits_the_schema_says_what_it_gives_and_reads_no_whole_table(migrated):
    for subject, name in ASKED:
        query = queries(f"sessions/{subject}")[name]
        assert query.startswith("-- "), name
        scans = [step for step in plan_of(migrated, query) if step.startswith("SCAN")]
        over_tables = [step for step in scans if not step.startswith(NO_TABLES)]
        assert over_tables == [] or f"{subject}.{name}" in WHOLE_TABLE, (subject, name)


def test_every_query_is_used():
    room = Path(mnemoir.storage.__file__).parent
    sources = [
        source
        for folder in ("conversations", "sealing", "sql/conversations", "sqlite")
        for source in (room / folder).glob("*.py")
    ]
    code = "\n".join(source.read_text("utf-8") for source in sources)
    assert [name for _, name in ALL if f'"{name}"' not in code] == []


IN_ORDER = [("messages", name) for name in ("newest", "oldest", "page")]
IN_ORDER += [("ways", name) for name in ("place_on_thread", "stretch")]
IN_ORDER += [("tree", name) for name in ("head", "place_at", "beginning", "ending")]


@pytest.mark.parametrize(("subject", "name"), IN_ORDER)
def test_messages_of_the_thread_come_in_order_from_the_index(migrated, subject, name):
    query = queries(f"sessions/{subject}")[name]
    plan = plan_of(migrated, query)
    assert any("idx_messages_thread (session_id=?" in step for step in plan)
    assert not any("TEMP B-TREE" in step for step in plan)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("from_first", "idx_messages_digest (session_id=? AND digest=?)"),
        ("from_first", "idx_messages_thread (session_id=? AND created_at>?)"),
        ("left_saying", "idx_messages_digest (session_id=? AND digest=?)"),
        ("children_saying", "idx_messages_digest (session_id=? AND digest=? AND parent_id=?)"),
        ("roots_saying", "idx_messages_roots (digest=?)"),
        ("unlinked", "idx_messages_unlinked (digest=? AND session_id=?)"),
        ("is_unlinked", "idx_messages_unlinked (digest=? AND session_id=?)"),
        ("unlinked_sessions", "idx_messages_unlinked (digest=?)"),
        ("leave", "idx_messages_thread (session_id=? AND created_at>?)"),
    ],
)
def test_what_a_branch_costs_does_not_grow_with_the_session(migrated, name, index):
    query = queries("sessions/tree")[name]
    plan = plan_of(migrated, query)
    assert any(index in step for step in plan), plan
