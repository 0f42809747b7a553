"""Every named statement is SQL for PostgreSQL, too, nearly all of them in the words that SQLite runs."""

import re
from collections.abc import Mapping

import pytest

from mnemoir.storage import named_queries
from mnemoir.storage.named_queries import (
    as_postgres,
    databases,
    postgres_form,
    postgres_forms,
    postgres_queries,
    queries,
    subjects,
    types_of,
)
from mnemoir.storage.sealing.resealing import _statements
from mnemoir.storage.sql.access.api_keys import API_KEYS
from mnemoir.storage.sql.access.passkeys import CHALLENGES
from mnemoir.storage.sql.access.sessions import SESSIONS
from mnemoir.storage.sql.access.sign_ins import SIGN_INS
from mnemoir.storage.sql.access.users import INVITATIONS, RECOVERY_CODES
from mnemoir.storage.sql.table_queries import queries_of_tables
from mnemoir.storage.sql.tables import RUN_TABLES, main_file
from tests.storage.postgres.conftest import DATABASES

PLACEHOLDER = re.compile(r"%\((\w+)\)s")
FOREIGN_FORMATS = {"locks", "own_files", "records", "vectors"}  # files whose format SQLite is a part of
MOST_VARIANTS = 25
KINDS_OF_TOKENS = (API_KEYS, SESSIONS, INVITATIONS, RECOVERY_CODES, SIGN_INS, CHALLENGES)


def failure(connection, query: str) -> str | None:
    """Why PostgreSQL does not prepare the query; None when it does."""
    psycopg = pytest.importorskip("psycopg")
    names = list(dict.fromkeys(PLACEHOLDER.findall(query)))
    text = PLACEHOLDER.sub(lambda found: f"${names.index(found[1]) + 1}", query).replace("%%", "%")
    try:
        with connection.transaction():
            connection.execute(f"PREPARE statement AS {text}")
            connection.execute("DEALLOCATE statement")
    except psycopg.Error as exc:
        return str(exc)
    return None


@pytest.mark.parametrize("database", DATABASES)
def test_every_statement_prepares(open_database, database):
    connection = open_database(database)
    every = {
        f"{subject}.{name}": text
        for subject in subjects(database)
        for name, text in postgres_queries(subject).items()
    }
    failures = {name: cause for name, text in every.items() if (cause := failure(connection, text)) is not None}
    assert failures == {}
    assert every


def test_the_statements_made_of_a_table_prepare(open_database):
    connection, file = open_database(""), main_file()
    every = [text for of in queries_of_tables() for text in (of.count, of.rows, of.drop_some, of.drop)]
    for table in file.tables.keys() - RUN_TABLES.keys():
        for seals in (True, False):
            every += _statements(file, table, seals, is_scoped=table not in file.unscoped)
    assert [cause for text in every if (cause := failure(connection, postgres_form(text))) is not None] == []


def test_the_statements_of_every_kind_of_token_prepare(open_database):
    connection = open_database("access")
    every = [text for kind in KINDS_OF_TOKENS for text in kind.statements]
    assert [cause for text in every if (cause := failure(connection, postgres_form(text))) is not None] == []


def test_the_other_files_say_why_they_are_sqlite_alone():
    alone = {subject for database in databases() for subject in subjects(database) if not postgres_queries(subject)}
    assert {subject.split("/")[0] for subject in alone} == FOREIGN_FORMATS
    assert set(databases()) == {*DATABASES, *FOREIGN_FORMATS}


def variants() -> Mapping[str, list[tuple[str, str]]]:
    """By database, the queries that PostgreSQL has in words of its own, with the common text that they replace."""
    found: dict[str, list[tuple[str, str]]] = {}
    for database in DATABASES:
        for subject in subjects(database):
            common = named_queries._texts(
                named_queries._source(subject), named_queries._POSTGRES, types_of(subject), is_postgres=False
            )
            for name, text in postgres_queries(subject).items():
                told = f"-- {subject}.{name}\n{as_postgres(common[name], types_of(subject))}"
                if told != text:
                    found.setdefault(database, []).append((f"{subject}.{name}", told))
    return found


def test_a_statement_is_written_again_only_where_the_common_text_does_not_prepare(open_database):
    told = variants()
    assert sum(map(len, told.values())) <= MOST_VARIANTS
    for database, replaced in told.items():
        connection = open_database(database)
        assert [name for name, text in replaced if failure(connection, text) is None] == []


def test_an_engine_finds_its_form_of_a_statement_by_the_text_that_stores_name():
    for database in DATABASES:
        for subject in subjects(database):
            for name, text in postgres_queries(subject).items():
                assert postgres_forms()[queries(subject)[name]].split("\n")[1:] == text.split("\n")[1:]


def test_the_types_of_a_file_are_those_of_the_values_that_it_binds():
    for database in DATABASES:
        for subject in subjects(database):
            listed = types_of(subject).keys() - {"scope_id"}
            bound = {
                name for text in queries(subject).values() for name in re.findall(r"(?<!:):(\w+)", no_comments(text))
            }
            assert not postgres_queries(subject) or listed == bound - {"scope_id"}, subject


def no_comments(text: str) -> str:
    return re.sub(r"--.*", "", text)
