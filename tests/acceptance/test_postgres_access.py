"""Keys and people in PostgreSQL: who cannot be looked up is told so, and never that their key is wrong."""

import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.acceptance.test_postgres_server import command, served
from tests.postgres_server import PostgresServer, binaries_of, psycopg_module, servers
from tests.serving import ServerProcess

pytest.importorskip("psycopg", reason="the package psycopg is not installed")
pytestmark = pytest.mark.slow
NOBODY = "mn_live_abcdefgh_" + "x" * 43


@pytest.fixture(autouse=True)
def _databases_are_free() -> Iterator[None]:
    binaries_of(18)
    yield
    servers.release()


def key_in(told: subprocess.CompletedProcess[str]) -> str:
    """The text of a key that a command made."""
    assert told.returncode == 0, told.stderr
    return next(word for word in told.stdout.split() if word.startswith("mn_live_"))


def status(server: ServerProcess, key: str, path: str = "/api/memories?user_id=anna") -> tuple[int, str]:
    """Status and code of an answer to that key."""
    answer = requests.get(f"{server.url}{path}", headers={"X-API-Key": key}, timeout=60)
    return answer.status_code, answer.json().get("code", "")


def test_what_commands_change_counts_in_the_server_and_stands_in_one_log(tmp_path):
    dsn = servers.database_of(18, tmp_path)
    with served(tmp_path, dsn) as server:
        assert status(server, "")[0] == 200
        key = key_in(command(tmp_path, dsn, "keys", "create", "--role", "admin"))
        assert status(server, key)[0] == 200
        while status(server, "")[0] != 401:
            time.sleep(0.05)
        assert status(server, NOBODY) == (401, "unauthorized")
        id = key.split("_")[2]
        assert command(tmp_path, dsn, "keys", "revoke", id).returncode == 0
        while status(server, key)[0] != 401:
            time.sleep(0.05)
        log = command(tmp_path, dsn, "audit", "verify")
        assert log.returncode == 0, log.stdout + log.stderr
        assert not (tmp_path / "data" / "access.db").exists()


def test_while_the_database_is_away_no_key_is_called_wrong(tmp_path):
    with PostgresServer(18) as database, served(tmp_path, database.dsn) as server:
        key = key_in(command(tmp_path, database.dsn, "keys", "create", "--role", "write"))
        assert status(server, key)[0] == 200
        database.pause()
        for asked in (key, NOBODY, ""):
            while (told := status(server, asked))[1] != "auth_unavailable":  # until a look at the keys has failed
                assert told[0] == 503 or asked != NOBODY
        assert status(server, key, "/health")[0] == 503
        database.resume()
        while status(server, key)[0] != 200:
            time.sleep(0.1)
        assert status(server, NOBODY)[0] == 401


def test_a_database_that_does_not_answer_holds_nobody_else_up(tmp_path):
    with PostgresServer(18) as database, served(tmp_path, database.dsn) as server, ThreadPoolExecutor(8) as pool:
        key = key_in(command(tmp_path, database.dsn, "keys", "create", "--role", "write"))
        assert status(server, key)[0] == 200
        database.freeze()
        try:
            asked = [pool.submit(status, server, one) for one in (key, NOBODY, key, NOBODY)]
            while not all(one.done() for one in asked):  # pages need no key, and are served all the while
                began = time.monotonic()
                assert requests.get(f"{server.url}/", timeout=60).status_code == 200
                assert time.monotonic() - began < 2
                time.sleep(0.1)
            assert {one.result()[0] for one in asked} <= {200, 503}
            while (told := status(server, key))[1] != "auth_unavailable":  # until a look at the keys has failed
                assert told[0] == 503
        finally:
            database.thaw()
        while status(server, key)[0] != 200:
            time.sleep(0.1)


def test_keys_that_went_with_their_database_are_a_loss_of_their_own(tmp_path):
    dsn = servers.database_of(18, tmp_path)
    with served(tmp_path, dsn) as server:
        key_in(command(tmp_path, dsn, "keys", "create", "--role", "admin"))
        assert "mnemoir" in command(tmp_path, dsn, "doctor", "--json").stdout
        while status(server, "")[0] != 401:
            time.sleep(0.05)
    with psycopg_module().connect(dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA mnemoir CASCADE")
    assert "--begin-anew postgresql" in command(tmp_path, dsn, "keys", "list").stderr
    begun = command(tmp_path, dsn, "doctor", "--begin-anew", "postgresql")
    assert begun.returncode == 0, begun.stderr
    assert "--begin-anew access.db" in command(tmp_path, dsn, "keys", "list").stderr  # nobody gets in unasked
    begun = command(tmp_path, dsn, "doctor", "--begin-anew", "access.db")
    assert begun.returncode == 0, begun.stderr
    assert "doctor" not in command(tmp_path, dsn, "keys", "list").stderr
