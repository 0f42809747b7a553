"""Every query over sessions fits both schemas, says what it gives, is used, and reads no more than it gives."""

import re
from pathlib import Path

import apsw
import pytest

import mnemoir.storage
from mnemoir.storage.sql.engine import queries, subjects
from mnemoir.storage.sqlite.conversation_file import upgrade
from mnemoir.storage.sqlite.data_file import known_steps, migrate

ALL = [(subject, name) for of in ("sessions", "own_files") for subject in subjects(of) for name in queries(subject)]
ASKED = [(subject, name) for subject, name in ALL if subject.startswith("sessions/")]
# what a query made itself, and a table of one row
NO_TABLES = (
    *("SCAN CONSTANT ROW", "SCAN way", "SCAN placed", "SCAN (subquery", "SCAN sqlite_sequence"),
    *("SCAN forks", "SCAN json_each", "SCAN sealing"),
)


def file_of_one(connection: apsw.Connection) -> None:
    upgrade(Path("m.db"), connection)


def database_of_all(connection: apsw.Connection) -> None:
    migrate(connection, known_steps())


@pytest.fixture(params=[file_of_one, database_of_all])
def migrated(request: pytest.FixtureRequest) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    request.param(connection)
    return connection


def plan_of(connection: apsw.Connection, query: str) -> list[str]:
    values = dict.fromkeys(re.findall(r"(?<!\w):(\w+)", query))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]


def test_a_query_fits_the_schema_says_what_it_gives_and_reads_no_whole_table(migrated):
    for subject, name in ASKED:
        query = queries(subject)[name]
        assert query.startswith("-- "), name
        scans = [step for step in plan_of(migrated, query) if step.startswith("SCAN")]
        assert [step for step in scans if not step.startswith(NO_TABLES)] == [], (subject, name)


@pytest.mark.parametrize("migrated", [database_of_all], indirect=True)
def test_a_query_finds_what_it_reads_by_the_scope(migrated):
    for subject, name in ASKED:
        steps = [step for step in plan_of(migrated, queries(subject)[name]) if step.startswith("SEARCH")]
        unscoped = [step for step in steps if "scope_id=?" not in step and "(rowid=?)" not in step]
        assert [step for step in unscoped if "AUTOMATIC" not in step] == [], (subject, name)


def test_every_query_is_used():
    room = Path(mnemoir.storage.__file__).parent
    sources = [
        source
        for folder in ("conversations", "sealing", "sql/conversations", "sqlite")
        for source in (room / folder).glob("*.py")
    ]
    code = "\n".join(source.read_text("utf-8") for source in sources)
    assert [name for _, name in ALL if f'"{name}"' not in code] == []


# what tells of all conversations of a scope
WHOLE_SCOPE = {"searching.living", "searching.newest_id_and_count", "vectors.progress", "vectors.by_day"}
WHOLE_SCOPE |= {"searching.notes", "searching.notes_of_user", "sessions.page", "vectors.sessions", "vectors.counts"}
WHOLE_SCOPE |= {"searching.said_after", "vectors.unembedded", "searching.important"}
WHOLE_SCOPE |= {"recalled.latest_references", "vectors.to_remove", "sealing.forget_digests", "sealing.estimate_all"}


def test_what_a_query_costs_does_not_grow_with_the_other_conversations(migrated):
    for subject, name in ASKED:
        plan = plan_of(migrated, queries(subject)[name])
        through_all = [step for step in plan if step.endswith(("(scope_id=?)", "(scope_id=? AND id>?)"))]
        assert through_all == [] or f"{subject.removeprefix('sessions/')}.{name}" in WHOLE_SCOPE, (subject, name)


IN_ORDER = [("messages", name) for name in ("newest", "oldest", "page")]
IN_ORDER += [("ways", name) for name in ("place_on_thread", "stretch")]
IN_ORDER += [("tree", name) for name in ("head", "place_at", "beginning", "ending")]


@pytest.mark.parametrize(("subject", "name"), IN_ORDER)
def test_messages_of_the_thread_come_in_order_from_the_index(migrated, subject, name):
    query = queries(f"sessions/{subject}")[name]
    plan = plan_of(migrated, query)
    assert any("idx_messages_thread (scope_id=? AND session_id=?" in step for step in plan)
    assert not any("TEMP B-TREE" in step for step in plan)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("from_first", "idx_messages_digest (scope_id=? AND session_id=? AND digest=?)"),
        ("from_first", "idx_messages_thread (scope_id=? AND session_id=? AND created_at>?)"),
        ("left_saying", "idx_messages_digest (scope_id=? AND session_id=? AND digest=?)"),
        ("children_saying", "idx_messages_digest (scope_id=? AND session_id=? AND digest=? AND parent_id=?)"),
        ("roots_saying", "idx_messages_roots (scope_id=? AND digest=?)"),
        ("unlinked", "idx_messages_unlinked (scope_id=? AND digest=? AND session_id=?)"),
        ("is_unlinked", "idx_messages_unlinked (scope_id=? AND digest=? AND session_id=?)"),
        ("unlinked_sessions", "idx_messages_unlinked (scope_id=? AND digest=?)"),
        ("leave", "idx_messages_thread (scope_id=? AND session_id=? AND created_at>?)"),
    ],
)
def test_what_a_branch_costs_does_not_grow_with_the_session(migrated, name, index):
    query = queries("sessions/tree")[name]
    plan = plan_of(migrated, query)
    assert any(index in step for step in plan), plan
