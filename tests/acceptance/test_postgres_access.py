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
GONE = (503, "auth_unavailable")
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


def wait_for(server: ServerProcess, key: str, *wanted: tuple[int, str]) -> set[tuple[int, str]]:
    """What is answered to that key until one of these answers comes; fails after a minute."""
    told: set[tuple[int, str]] = set()
    deadline = time.monotonic() + 60
    while (answer := status(server, key)) not in wanted:
        told.add(answer)
        assert time.monotonic() < deadline, told
        time.sleep(0.05)
    return told


def test_what_commands_change_counts_in_the_server_and_stands_in_one_log(tmp_path):
    dsn = servers.database_of(18, tmp_path)
    with served(tmp_path, dsn) as server:
        assert status(server, "")[0] == 200
        key = key_in(command(tmp_path, dsn, "keys", "create", "--role", "admin"))
        assert status(server, key)[0] == 200
        wait_for(server, "", (401, "unauthorized"))
        assert status(server, NOBODY) == (401, "unauthorized")
        id = key.split("_")[2]
        assert command(tmp_path, dsn, "keys", "revoke", id).returncode == 0
        wait_for(server, key, (401, "unauthorized"))
        log = command(tmp_path, dsn, "audit", "verify")
        assert log.returncode == 0, log.stdout + log.stderr
        assert not (tmp_path / "data" / "access.db").exists()


def test_while_the_database_is_away_no_key_is_called_wrong(tmp_path):
    with PostgresServer(18) as database, served(tmp_path, database.dsn) as server:
        key = key_in(command(tmp_path, database.dsn, "keys", "create", "--role", "write"))
        wait_for(server, "", (401, "unauthorized"))  # until it knows that keys are needed
        assert status(server, key)[0] == 200
        database.pause()
        assert wait_for(server, NOBODY, GONE) == set()
        assert {status for status, _ in wait_for(server, key, GONE)} <= {200, 503}
        assert {status for status, _ in wait_for(server, "", GONE)} <= {401, 503}  # once it is seen to be away
        assert status(server, key, "/health")[0] == 503
        database.resume()
        wait_for(server, key, (200, ""))
        assert status(server, NOBODY)[0] == 401


def test_a_database_that_does_not_answer_holds_nobody_else_up(tmp_path):
    with PostgresServer(18) as database, served(tmp_path, database.dsn) as server, ThreadPoolExecutor(8) as pool:
        key = key_in(command(tmp_path, database.dsn, "keys", "create", "--role", "write"))
        wait_for(server, "", (401, "unauthorized"))  # until it knows that keys are needed
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
            assert {status for status, _ in wait_for(server, key, GONE)} <= {200, 503}
        finally:
            database.thaw()
        wait_for(server, key, (200, ""))


def test_keys_that_went_with_their_database_are_a_loss_of_their_own(tmp_path):
    dsn = servers.database_of(18, tmp_path)
    with served(tmp_path, dsn) as server:
        key_in(command(tmp_path, dsn, "keys", "create", "--role", "admin"))
        assert "mnemoir" in command(tmp_path, dsn, "doctor", "--json").stdout
        wait_for(server, "", (401, "unauthorized"))
    with psycopg_module().connect(dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA mnemoir CASCADE")
    assert "--begin-anew postgresql" in command(tmp_path, dsn, "keys", "list").stderr
    begun = command(tmp_path, dsn, "doctor", "--begin-anew", "postgresql")
    assert begun.returncode == 0, begun.stderr
    assert "--begin-anew access.db" in command(tmp_path, dsn, "keys", "list").stderr  # nobody gets in unasked
    begun = command(tmp_path, dsn, "doctor", "--begin-anew", "access.db")
    assert begun.returncode == 0, begun.stderr
    assert "doctor" not in command(tmp_path, dsn, "keys", "list").stderr
