"""The schema moves in whole steps, and every query fits it."""

import re
from pathlib import Path

import apsw
import pytest

import mnemoir.storage
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.sql.engine import queries, subjects
from mnemoir.storage.sql.table_queries import queries_of_tables
from mnemoir.storage.sql.tables import FACT_TABLES, OTHER_TABLES, PROPOSAL_TABLES, TABLES
from mnemoir.storage.sqlite import data_file, open_database
from mnemoir.storage.sqlite.data_file import Step, known_steps, migrate, schema_version

ALL_QUERIES = [(subject, name) for subject in subjects() for name in queries(subject)]
SOURCES = Path(mnemoir.storage.__file__).parent


@pytest.fixture
def migrated() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    migrate(connection, known_steps())
    return connection


# queries that read a table or an index from end to end by their nature
WHOLE_TABLE = {"integrity.misplaced", "memories.any_memory", "search.backlog", "search.terms_backlog"}
WHOLE_TABLE |= {
    "memories.counts_of_all",
    "memories.added",
    "jobs.tally_jobs",
    "people.names",
    "conversation_marks.marked",
    "conversation_marks.unmark_all",
    "sealing.any_keyed",
    "sealing.share",
    "all_logs.owners",
    "all_logs.owners_used_before",
    "all_logs.totals",
    "all_logs.messages_by_day",
}
OF_USERS = {"memories", "m", "entries", "e", "vectors", "v", "codes", "c", "history", "h", "scopes", "s"}

OF_ALL_SCOPES = WHOLE_TABLE | {
    "memories.owner_of",
    "memories.users_of_agent",
    "memories.users_of_app",
    "search.next_model",
    "search.embedded_with",
    "search.next_model_in_space",
    "search.space_backlog",
    "search.embedded_in_space",
    "search.next_terms",
    "search.with_terms_by",
    "changes.drop_receipts",
    "changes.next_source",
    "change_log.owner_of_change",
    "proposals.owner_of_proposal",
    "proposals.proposals_of_all",
    "proposals.too_old",
    "people.projects_of",
    "all_logs.owners_with",
    "all_logs.totals_by_user",
}
NAMED_TABLE = re.compile(r"(?:FROM|JOIN|UPDATE|INTO) (\w+)(?: AS (\w+))?")


def test_every_query_fits_the_schema_says_what_it_gives_and_reads_no_whole_table(migrated):
    for subject, name in ALL_QUERIES:
        query = queries(subject)[name]
        assert query.startswith("-- "), name
        scans = [step for step in plan_of(migrated, query) if step.startswith("SCAN") and step.split()[1] in OF_USERS]
        assert scans == [] or subject == "project_files" or f"{subject}.{name}" in WHOLE_TABLE, (subject, name)


def plan_of(connection: apsw.Connection, query: str) -> list[str]:
    values = dict.fromkeys(re.findall(r":(\w+)", query))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]


def tables_with_scope(connection: apsw.Connection) -> set[str]:
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%scope_id%'"
    return {name for (name,) in connection.execute(tables)}


def test_every_query_over_rows_of_users_finds_them_by_their_scope(migrated):
    scoped = tables_with_scope(migrated)
    for subject, name in ALL_QUERIES:
        if f"{subject}.{name}" in OF_ALL_SCOPES:
            continue
        query = queries(subject)[name]
        named = {alias or table for table, alias in NAMED_TABLE.findall(query) if table in scoped}
        steps = [step for step in plan_of(migrated, query) if step.split()[0] in ("SEARCH", "SCAN")]
        over_users = [step for step in steps if step.split()[1] in named]
        # a row of `sources` is found by its number, and then compared
        unscoped = [step for step in over_users if "scope_id=?" not in step and "(rowid=?)" not in step]
        assert unscoped == [], (subject, name)
        assert not named or "scope_id" in query, (subject, name)


def test_rows_of_users_are_where_the_scope_says():
    connection = apsw.Connection(":memory:")
    migrate(connection, known_steps())
    assert tables_with_scope(connection) == {
        "memories",
        "entries",
        "vectors",
        "codes",
        "sources",
        "history",
        "receipts",
        "proposals",
        "pii_values",
        "imports",
        "import_conversations",
        "sessions",
        "messages",
        "summaries",
        "embedding_state",
    }


def test_stores_know_no_driver_and_engines_no_store():
    stores = [file.read_text() for file in (SOURCES / "sql").rglob("*.py")]
    assert [text for text in stores if "import apsw" in text or "mnemoir.storage.sqlite" in text] == []
    engines = "\n".join(file.read_text() for file in (SOURCES / "sqlite").rglob("*.py"))
    known = set(re.findall(r"from mnemoir\.storage\.sql(?:\.(\w+))? import", engines))
    assert known == {"engine", "tables"}


def test_every_query_is_used():
    code = "\n".join(file.read_text() for file in SOURCES.rglob("*.py"))
    assert [name for _, name in ALL_QUERIES if f'"{name}"' not in code] == []


@pytest.mark.parametrize("name", ["agent", "app"])
def test_the_users_of_an_agent_or_an_app_come_from_its_index(migrated, name):
    first, *_ = plan_of(migrated, queries("memories")[f"users_of_{name}"])
    assert first == f"SEARCH m USING INDEX memories_by_{name} ({name}=?)"


def test_the_memories_of_days_are_counted_from_an_index_alone(migrated):
    _, second, *_ = plan_of(migrated, queries("memories")["added"])
    assert second == "SEARCH m USING COVERING INDEX memories_by_creation (scope_id=? AND said_at>?)"


def test_pages_come_in_order_from_the_index(migrated):
    query = queries("memories")["page"]
    assert plan_of(migrated, query) == ["SEARCH memories USING INDEX memories_by_age (scope_id=?)"]


STEPS = [
    Step(
        number=1,
        name="one",
        kind="expand",
        sql="CREATE TABLE a (x); CREATE INDEX i ON a (x); INSERT INTO a VALUES (1)",
    ),
    Step(
        number=2,
        name="two",
        kind="contract",
        sql="ALTER TABLE a ADD COLUMN y; CREATE TABLE b (z); UPDATE a SET y = 2",
    ),
]


class Cut(Exception):
    """The process ended here."""


def cut_at(connection: apsw.Connection, number: int) -> None:
    left = iter(range(number))

    def trace(cursor, sql, bindings) -> bool:
        if next(left, None) is None and not sql.startswith("ROLLBACK"):
            raise Cut
        return True

    connection.exec_trace = trace


def test_a_migration_cut_short_at_any_statement_ends_whole_and_is_finished_by_the_next_start(tmp_path):
    for number in range(40):
        path = str(tmp_path / f"{number}.db")
        connection = apsw.Connection(path)
        cut_at(connection, number)
        try:
            migrate(connection, STEPS)
            was_cut = False
        except Cut:
            was_cut = True
        connection.exec_trace = None
        connection.close()
        connection = apsw.Connection(path)
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        expected = [set(), {"a", "migrations"}, {"a", "b", "migrations"}]
        assert tables == expected[schema_version(connection)]
        migrate(connection, STEPS)
        assert connection.execute("SELECT x, y FROM a").fetchall() == [(1, 2)]
        assert connection.execute("SELECT number, name FROM migrations").fetchall() == [(1, "one"), (2, "two")]
        connection.close()
        if not was_cut:
            return
    pytest.fail("the migration never came to its end")


def test_steps_are_numbered_without_a_gap():
    assert [step.number for step in known_steps()] == list(range(1, len(known_steps()) + 1))


async def test_a_database_of_a_newer_program_is_refused(path):
    await open_database(path).aclose()
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO migrations VALUES (999, 'of tomorrow', '')")
    connection.close()
    with pytest.raises(StorageUnavailable, match=r"mnemoir\.db was written by a newer Mnemoir \(its schema is 999"):
        open_database(path)


async def test_a_beginning_that_was_cut_short_is_begun_anew(path):
    path.parent.mkdir()
    path.with_name("mnemoir.db.new").write_bytes(b"SQLite format 3\0 and then the power went")
    database = open_database(path)
    assert await database.check_integrity() == []
    await database.aclose()
    assert sorted(file.name for file in path.parent.iterdir()) == ["mnemoir.db", "mnemoir.lock"]


WORDS = "|".join(
    sorted(
        {column for table in (*FACT_TABLES.values(), *PROPOSAL_TABLES.values()) for column in table.sealed}
        - {"state"}
    )
)
COMPARED = re.compile(  # the length of a cell tells no word
    rf"\b(?:{WORDS})\b\s*(?:=|<|>|IS\b|IN\b|LIKE\b)(?! NOT NULL| NULL)|(?:=|<|>|\bIS|\bNOT|\bIN \(SELECT|\bLIKE)\s+"
    rf"(?:\w+\.)?(?:{WORDS})\b|\b(?!octet_length\()\w+\((?:\w+\.)?(?:{WORDS})\b(?=[,)]|\s)"
)
SET = re.compile(r"(?:\bSET|,)\s+\w+ = (?:excluded\.\w+|:\w+|NULL)|INSERT INTO \w+\s+\([^)]*\)")


def test_no_query_compares_words_of_users_or_looks_into_them():
    """Words are compared by hash, or in Python: a column that is encrypted some day has nothing to compare."""
    found = {}
    for subject, name in ALL_QUERIES:
        code = re.sub(r"--.*", "", queries(subject)[name])
        while code != (without := SET.sub(" ", code, count=1)):
            code = without
        if hits := COMPARED.findall(code):
            found[f"{subject}.{name}"] = hits
    assert found == {}


@pytest.mark.parametrize("condition", ["text = :text", "lower(m.text)", "a IN (SELECT new_text", "turns LIKE '%a%'"])
def test_a_query_that_would_compare_words_is_found(condition):
    assert COMPARED.search(" ".join(("SELECT id FROM memories WHERE", condition)))


def test_every_table_belongs_to_a_holding_or_holds_nothing_that_anybody_said(migrated):
    known = {name for (name,) in migrated.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert sorted([*TABLES, *OTHER_TABLES]) == sorted(known - {"sqlite_sequence"})
    for name, table in TABLES.items():
        columns = {row[1] for row in migrated.execute(f"PRAGMA table_xinfo({name})")}
        assert {*table.sealed, *table.columns, table.key} - {table.key if table.key_value else ""} <= columns | {""}
        assert table.is_scoped == ("scope_id" in columns)


def test_queries_made_of_a_table_find_its_rows_by_their_scope(migrated):
    for of in queries_of_tables():
        for query in (of.count, of.rows, of.drop_some, of.drop):
            steps = [step for step in plan_of(migrated, query) if step.startswith(("SEARCH", "SCAN"))]
            assert [step for step in steps if "scope_id=?" not in step and "(rowid=?)" not in step] == [], query


def test_a_step_that_does_not_say_whether_it_expands_or_contracts_is_none():
    assert data_file._step(1, "-- contract\nDROP TABLE a").kind == "contract"
    with pytest.raises(ValueError, match="Migration 0001 does not say"):
        data_file._step(1, "DROP TABLE a")
