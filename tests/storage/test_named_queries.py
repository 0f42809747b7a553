"""One text of a query serves two databases: markers stand for what they write differently."""

import pytest

from mnemoir.storage import named_queries
from mnemoir.storage.named_queries import as_postgres

SOURCE = """-- text: id
-- integers: numbers

-- part: found
number {in numbers}

-- name: one
-- Some rows.
SELECT user, {bytes name}, {cell a.said} FROM a {by a_index} {then join} b ON b.id = :id WHERE {found};

-- postgres: two
SELECT 2;

-- name: two
SELECT 1;
"""
TYPES = {"id": "text", "numbers": "integers"}


def texts(*, is_postgres: bool) -> dict[str, str]:
    markers = named_queries._POSTGRES if is_postgres else named_queries._SQLITE
    return dict(named_queries._texts(SOURCE, markers, TYPES, is_postgres=is_postgres))


def test_sqlite_gets_its_own_words_and_the_comment():
    assert texts(is_postgres=False) == {
        "one": '-- Some rows.\nSELECT user, CAST(name AS BLOB), CAST(a.said AS BLOB) AS "a.said" '
        "FROM a INDEXED BY a_index CROSS JOIN b ON b.id = :id "
        "WHERE number IN (SELECT value FROM json_each(:numbers));",
        "two": "SELECT 1;",
    }


def test_postgresql_gets_types_quotes_and_what_is_written_for_it():
    found = {name: as_postgres(text, TYPES) for name, text in texts(is_postgres=True).items()}
    assert found == {
        "one": 'SELECT "user", name, a.said AS "a.said" FROM a  JOIN b ON b.id = %(id)s::text '
        "WHERE number = ANY (ARRAY(SELECT jsonb_array_elements_text(%(numbers)s::jsonb))::bigint[]);",
        "two": "SELECT 2;",
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT 'a :id user %'", "SELECT 'a :id user %%'"),
        ("SELECT a.user, user_id FROM users", "SELECT a.user, user_id FROM users"),
        ("SELECT number % 2, a::text", "SELECT number %% 2, a::text"),
    ],
)
def test_strings_and_longer_names_stay_as_they_are(query, expected):
    assert as_postgres(query, TYPES) == expected


def test_a_value_without_a_type_and_an_unknown_marker_are_refused():
    with pytest.raises(KeyError, match="other"):
        as_postgres("SELECT :other", TYPES)
    with pytest.raises(ValueError, match="is no part of its file and no marker"):
        named_queries._texts("-- name: a\nSELECT {no such}", named_queries._SQLITE, {}, is_postgres=False)
