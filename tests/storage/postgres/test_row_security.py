"""A transaction of one user meets no row of another, whatever statement it runs, unless its role sees all."""

import asyncio
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mnemoir.core.ids import JobId
from mnemoir.core.scope import Scope
from mnemoir.storage.named_queries import postgres_queries, subjects
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sql.job_queue import SqlJobQueue
from tests.contracts.words import ALL, ASKED, MIRA, SetClock, fact, texts
from tests.postgres_server import PostgresServer, psycopg_module, servers

pytest.importorskip("psycopg", reason="the package psycopg is not installed")
from mnemoir.storage.postgres.engine import PostgresEngine, _sight_of, open_postgres

SCOPED = """SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
             WHERE relnamespace = 'mnemoir'::regnamespace AND relkind = 'r' AND attname = 'scope_id'
             ORDER BY relname"""
BEGIN_AS_MIRA = "BEGIN" + _sight_of(MIRA).decode()
UNSECURED = """SELECT relname FROM pg_class WHERE relnamespace = 'mnemoir'::regnamespace AND relkind = 'r'
                AND NOT (relrowsecurity AND relforcerowsecurity)"""
# tables whose rows are not one user's
OF_ALL = {
    *("adoptions", "catalogue", "catalogued_conversations", "catalogued_days", "file_index", "file_projects"),
    *("file_vectors", "holds", "identity", "project_settings", "stamps", "tombstones"),
    *("saved_settings", "usage", "versions", "workers"),
    # who may call the server, and what was done with it
    *("access", "api_keys", "audit", "challenges", "identities", "invitations", "limits", "passkeys"),
    *("recovery_codes", "sign_ins", "tenants", "user_sessions", "users"),
}
# what looks at the rows of several users, in transactions that say so
ACROSS_SCOPES = {
    "all_logs.messages_by_day", "all_logs.owners", "all_logs.owners_used_before", "all_logs.owners_with",
    "all_logs.totals", "all_logs.totals_by_user",
    "change_log.owner_of_change", "changes.drop_receipts", "conversation_marks.marked",
    "conversation_marks.unmark_all", "erasing.scope_of_nobody", "integrity.misplaced", "lists.bytes_by_user",
    "lists.owners", "memories.added", "memories.any_memory", "memories.counts_of_all", "memories.owner_of",
    "memories.users", "memories.users_of_agent", "memories.users_of_app", "people.names", "people.projects_of",
    "project_files.want_vectors", "proposals.owner_of_proposal", "proposals.proposals_of_all",
    "proposals.too_old", "proposals.users_with_proposals", "scopes.enter_scope", "scopes.held_scope_id",
    "scopes.scope_id", "sealing.any_keyed", "sealing.scopes_after", "sealing.share", "search.backlog",
    "search.embedded_in_space", "search.embedded_with", "search.next_model", "search.next_model_in_space",
    "search.next_terms", "search.revision", "search.space_backlog", "search.terms_backlog", "search.text_of",
    "search.with_terms_by",
}  # fmt: skip


@pytest.fixture
def dsn(postgres: PostgresServer, tmp_path: Path) -> str:
    """A new database, whose owner is no superuser."""
    return servers.database_of(postgres.version, tmp_path)


async def filled(dsn: str, users: int) -> PostgresEngine:
    """A database with two memories of each user."""
    engine = await asyncio.to_thread(open_postgres, dsn)
    store = SqlMemoryStore(engine, SetClock())
    for n in range(users):
        scope = replace(MIRA, user=f"user-{n}'\\ \n{n}")
        await store.commit(scope, [fact(f"Likes tea {n}-{each}", scope=scope) for each in range(2)], ASKED)
    return engine


def test_the_tables_of_users_have_row_security(dsn):
    asyncio.run(asyncio.to_thread(open_postgres, dsn)).close()
    with psycopg_module().connect(dsn) as connection:
        assert {name for (name,) in connection.execute(UNSECURED)} == OF_ALL


def test_what_looks_at_the_rows_of_several_users_is_known(dsn):
    asyncio.run(asyncio.to_thread(open_postgres, dsn)).close()
    with psycopg_module().connect(dsn) as connection:
        secured = {name for (name,) in connection.execute(SCOPED)} | {"scopes"}
    named = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE)\s+({'|'.join(sorted(secured))})\b")
    across = {
        f"{subject}.{name}"
        for subject in (*subjects(), *subjects("sessions"))
        for name, text in postgres_queries(subject).items()
        if "%(scope_id)s" not in text and named.search(text)
    }
    assert across == ACROSS_SCOPES


@pytest.mark.slow
async def test_five_hundred_statements_under_fifty_scopes_meet_no_foreign_row(dsn):
    engine = await filled(dsn, 50)
    await engine.aclose()
    chosen = random.Random(7)
    with psycopg_module().connect(dsn, autocommit=True) as connection:
        connection.execute("SET search_path TO mnemoir")
        tables = [name for (name,) in connection.execute(SCOPED)]
        met = 0
        for _ in range(500):
            n, table = chosen.randrange(50), chosen.choice(tables)
            scope = replace(MIRA, user=f"user-{n}'\\ \n{n}")
            connection.execute(b"BEGIN" + _sight_of(scope))
            (number,) = connection.execute(ENTER, scope_names(scope)).fetchone()
            statement = chosen.choice(STATEMENTS).format(table, number)
            if statement.startswith("DELETE") and table == "sources":
                connection.execute("DELETE FROM history")  # which names them
            found = {of for (of,) in connection.execute(statement)}
            assert found <= {number}, (statement, table)
            met += bool(found)
            connection.execute("ROLLBACK")
            assert connection.execute(STATEMENTS[0].format(table)).fetchall() == []  # of no scope
        assert met > 50


STATEMENTS = [
    "SELECT scope_id FROM {0}",
    "SELECT scope_id FROM {0} WHERE scope_id <> {1} OR scope_id IS NULL",
    "SELECT other.scope_id FROM {0} LEFT JOIN memories AS other ON true WHERE other.scope_id IS NOT NULL",
    "UPDATE {0} SET scope_id = scope_id RETURNING scope_id",
    "DELETE FROM {0} RETURNING scope_id",
]
ENTER = """SELECT set_config('mnemoir.scope', id::text, true)::bigint FROM mnemoir.scopes
            WHERE tenant = %s AND project = %s AND "user" = %s"""


def scope_names(scope: Scope) -> tuple[str, str, str]:
    return scope.tenant, scope.project, scope.user


@pytest.mark.parametrize("begin", ["BEGIN", "BEGIN; SET LOCAL mnemoir.scope TO '1'", BEGIN_AS_MIRA])
async def test_the_jobs_of_all_are_seen_by_what_goes_over_all_users_alone(dsn, begin):
    engine = await filled(dsn, 1)
    jobs = SqlJobQueue(engine)
    await jobs.put(JobId("one"), "learn", {"said": "Likes tea"})
    await engine.aclose()
    with psycopg_module().connect(dsn, autocommit=True) as connection:
        connection.execute(begin)
        assert connection.execute("SELECT id FROM mnemoir.jobs").fetchall() == []
        connection.execute("ROLLBACK; BEGIN" + _sight_of(None).decode())
        assert connection.execute("SELECT id FROM mnemoir.jobs").fetchall() == [("one",)]


async def test_a_row_cannot_be_written_into_another_scope(dsn):
    engine = await filled(dsn, 2)
    await engine.aclose()
    psycopg = psycopg_module()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("BEGIN; SET LOCAL search_path TO mnemoir; SET LOCAL mnemoir.scope TO '1'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE receipts SET scope_id = 2; UPDATE sources SET scope_id = 2")


async def test_a_role_that_sees_all_is_served_with_a_warning(postgres, dsn):
    ours = await filled(dsn, 1)
    seen = await asyncio.to_thread(open_postgres, dsn.replace("user=mnemoir", "user=postgres"))
    try:
        assert (ours.warning, "Row security is off: the role postgres of" in seen.warning) == ("", True)
        assert len(await SqlMemoryStore(seen, SetClock()).owners("default")) == 1
    finally:
        for engine in (ours, seen):
            await engine.aclose()


async def test_a_role_that_owns_nothing_can_be_given_what_a_server_needs(dsn):
    owner = await filled(dsn, 1)
    await owner.aclose()
    with psycopg_module().connect(dsn) as connection:
        superuser = dsn.replace("user=mnemoir", "user=postgres")
        with psycopg_module().connect(superuser, autocommit=True) as almighty:
            if almighty.execute("SELECT 1 FROM pg_roles WHERE rolname = 'app'").fetchone() is None:
                almighty.execute("CREATE ROLE app LOGIN")
        connection.execute(GRANTS)
    engine = await asyncio.to_thread(open_postgres, dsn.replace("user=mnemoir", "user=app"))
    try:
        store = SqlMemoryStore(engine, SetClock())
        await store.commit(MIRA, [fact("Likes tea")], ASKED)
        assert await texts(store) == ["Likes tea"]
        assert await store.delete_all(MIRA) == 1
        assert await store.count(MIRA, ALL) == 0
    finally:
        await engine.aclose()


GRANTS = """
GRANT USAGE ON SCHEMA mnemoir TO app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mnemoir TO app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA mnemoir TO app;
"""
