"""Each database has the same tables, columns and keys on both engines, whose schemas are written by hand."""

import re
from dataclasses import dataclass, field
from typing import Any

import apsw
import pytest

from mnemoir.storage.sql.tables import LOG_TABLES
from mnemoir.storage.sqlite.data_file import known_steps
from tests.storage.postgres.conftest import DATABASES

TYPES = {"INTEGER": "bigint", "TEXT": "text", "TIMESTAMP": "text", "BLOB": "bytea", "REAL": "double precision"}
# SQLite notes the steps of a schema beside it, and the numbers that it gave
OF_SQLITE = {"migrations", "sqlite_sequence"}
KEYS = """
SELECT i.indrelid::regclass::text, i.indisprimary, i.indpred IS NOT NULL,
       ARRAY(SELECT a.attname FROM unnest(i.indkey) WITH ORDINALITY AS k (number, place)
               LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number AND k.number > 0
              ORDER BY k.place)
  FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
 WHERE i.indisunique AND c.relnamespace = current_schema()::regnamespace
"""
FOREIGN = """
SELECT conrelid::regclass::text, confrelid::regclass::text, confdeltype,
       ARRAY(SELECT attname FROM unnest(conkey) WITH ORDINALITY AS k (number, place)
               JOIN pg_attribute ON attrelid = conrelid AND attnum = k.number ORDER BY k.place)
  FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
"""
COLUMNS = """
SELECT c.table_name, c.column_name, c.data_type, c.is_nullable = 'YES', c.collation_name
  FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name)
 WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
"""


@dataclass(kw_only=True)
class Schema:
    """Columns by table, with type and whether they may be NULL; keys as (table, columns, …), None for expressions."""

    columns: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)
    primary: set[tuple[str, ...]] = field(default_factory=set)
    unique: set[tuple[object, ...]] = field(default_factory=set)
    foreign: set[tuple[str, ...]] = field(default_factory=set)


def schema_of_sqlite(database: str) -> Schema:
    connection, schema = apsw.Connection(":memory:"), Schema()
    for step in known_steps(database):
        connection.execute(step.sql)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in sorted(set(tables) - OF_SQLITE):
        rows: list[Any] = connection.execute(f"PRAGMA table_xinfo({table})").fetchall()
        for _, name, kind, is_required, _, key, is_hidden in rows:
            assert not is_hidden, f"{table}.{name} is a generated column"
            schema.columns[table, name] = (TYPES[kind], not is_required and not key)
        schema.primary.add((table, *(row[1] for row in sorted(rows, key=lambda row: row[5]) if row[5])))
        for _, name, is_unique, origin, is_partial in connection.execute(f"PRAGMA index_list({table})").fetchall():
            if is_unique and origin != "pk":
                of = [row[2] for row in connection.execute(f"PRAGMA index_info({name})")]
                schema.unique.add((table, bool(is_partial), *of))
        by_number: dict[int, list[tuple]] = {}
        for number, place, other, column, _, _, deleted, _ in connection.execute(f"PRAGMA foreign_key_list({table})"):
            by_number.setdefault(number, []).append((place, column, other, deleted))
        for rows_of_key in by_number.values():
            _, _, other, deleted = rows_of_key[0]
            schema.foreign.add((table, other, deleted, *(column for _, column, _, _ in sorted(rows_of_key))))
    return schema


def schema_of_postgres(connection) -> Schema:
    schema = Schema()
    for table, name, kind, is_nullable, collation in connection.execute(COLUMNS):
        assert (collation == "C") == (kind == "text"), f"{table}.{name} is not compared as in SQLite"
        schema.columns[table, name] = (kind, is_nullable)
    for table, is_primary, is_partial, columns in connection.execute(KEYS):
        if is_primary:
            schema.primary.add((table, *columns))
        else:
            schema.unique.add((table, is_partial, *columns))
    rules = {"a": "NO ACTION", "c": "CASCADE"}
    for table, other, deleted, columns in connection.execute(FOREIGN):
        schema.foreign.add((table, other, rules[deleted], *columns))
    return schema


@pytest.mark.parametrize("database", sorted(DATABASES.keys() - {"servers", "sessions"}))
def test_both_engines_have_the_same_tables(open_database, database):
    assert schema_of_postgres(open_database(database)) == schema_of_sqlite(database)


def test_a_file_of_conversations_has_the_columns_that_the_database_of_all_has():
    one, of_all = (schema_of_sqlite(database).columns for database in ("sessions", ""))
    log = {(table, name): kind for (table, name), (kind, _) in of_all.items() if table in LOG_TABLES}
    assert {key: kind for key, (kind, _) in one.items() if key[0] in LOG_TABLES} == log


@pytest.mark.parametrize("database", ["", "access", "runs", "keys"])
def test_no_database_has_a_trigger(database):
    assert not re.search("CREATE TRIGGER", "".join(step.sql for step in known_steps(database)))
