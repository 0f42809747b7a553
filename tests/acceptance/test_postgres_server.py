"""A server whose memories lie in PostgreSQL serves them like one whose memories lie in a file."""

import base64
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.postgres_server import PostgresServer, binaries_of, servers
from tests.serving import ServerProcess, clean_environment

pytest.importorskip("psycopg", reason="the package psycopg is not installed")
pytestmark = pytest.mark.slow
TEA = {"messages": [{"role": "user", "content": "I drink green tea."}], "user_id": "anna"}


@pytest.fixture(autouse=True)
def _databases_are_free() -> Iterator[None]:
    binaries_of(18)
    yield
    servers.release()


def environment_of(dsn: str) -> dict[str, str]:
    return {"STORAGE_BACKEND": "postgres", "MNEMOIR_STORAGE__POSTGRES__DSN": dsn}


def served(folder: Path, dsn: str, **more: str) -> ServerProcess:
    return ServerProcess(folder / "data", environment=environment_of(dsn) | more)


def command(folder: Path, dsn: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    given = [sys.executable, "-m", "mnemoir", *arguments, "--data-dir", str(folder / "data")]
    environment = clean_environment(**environment_of(dsn), **more)
    return subprocess.run(given, env=environment, capture_output=True, text=True, timeout=300)


def ask(server: ServerProcess, method: str, path: str, body: Any = None) -> Any:
    answer = requests.request(method, f"{server.url}{path}", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


def texts_of(server: ServerProcess, user: str = "anna") -> list[str]:
    return [one["memory"] for one in ask(server, "GET", f"/api/memories?user_id={user}")["results"]]


def runs_of(server: ServerProcess) -> list[tuple[str, str]]:
    """Id and status of the stored runs, newest first."""
    return [(run["id"], run["status"]) for run in ask(server, "GET", "/api/runs")["results"]]


def test_what_is_told_is_found_changed_and_deleted_and_is_there_after_a_kill(tmp_path):
    with served(tmp_path, servers.database_of(18, tmp_path)) as server:
        ask(server, "POST", "/api/memories", TEA)
        chat = {"messages": [{"role": "user", "content": "I live in Graz."}], "user": "anna", "memory": True}
        ask(server, "POST", "/v1/chat/completions", chat)
        (run,) = runs_of(server)
        ask(server, "POST", "/api/memories", TEA | {"user_id": "ben"})
        server.kill()
        server.start()
        found = ask(server, "POST", "/api/memories/search", {"query": "What do I drink?", "user_id": "anna"})
        assert [hit["memory"] for hit in found["results"]][:1] == ["Drinks green tea"]
        assert ask(server, "GET", "/api/status")["room"]["backend"] == "postgres"
        assert runs_of(server) == [run]
        ask(server, "DELETE", "/api/memories?user_id=anna")
        assert (texts_of(server), texts_of(server, "ben")) == ([], ["Drinks green tea"])
        assert runs_of(server) == []
        assert [*(tmp_path / "data").glob("*.db")] == []


def test_a_backup_says_that_the_database_is_not_in_it_and_fits_it_again_when_restored(tmp_path):
    dsn = servers.database_of(18, tmp_path)
    with served(tmp_path, dsn) as server:
        ask(server, "POST", "/api/memories", TEA)
        told = command(tmp_path, dsn, "backup", "create", str(tmp_path / "backup"))
        assert (told.returncode, "lie in PostgreSQL" in told.stderr) == (0, True), told.stderr
    other = tmp_path / "other"
    other.mkdir()
    assert command(other, dsn, "backup", "restore", str(tmp_path / "backup")).returncode == 0
    with served(other, dsn) as server:
        assert texts_of(server) == ["Drinks green tea"]


def test_a_database_of_another_directory_is_refused(tmp_path):
    dsn = servers.database_of(18, tmp_path)
    with served(tmp_path, dsn) as server:
        ask(server, "POST", "/api/memories", TEA)
    other = tmp_path / "other"
    other.mkdir()
    done = command(other, dsn, "serve", "--port", "0")
    assert (done.returncode, "another data directory" in done.stderr, dsn in done.stderr) == (1, True, False)


def test_what_was_said_is_encrypted_behind_a_restart_and_plain_again_behind_another(tmp_path):
    dsn, key, database = servers.database_of(18, tmp_path), tmp_path / "key", servers.of(18)
    key.write_text(base64.b64encode(bytes(32)).decode())
    key.chmod(0o600)
    keyed = {"MNEMOIR_ENCRYPTION__KEY_FILE": str(key)}
    encrypted = keyed | {"MNEMOIR_ENCRYPTION__MODE": "fields"}
    with served(tmp_path, dsn) as server:
        ask(server, "POST", "/api/memories", TEA)
    assert "green tea" in database.dump(dsn)
    with served(tmp_path, dsn, **encrypted) as server:
        ask(server, "POST", "/api/memories", TEA | {"user_id": "ben"})
        chat(server, "I live in Graz.")
        while "Lives in Graz" not in texts_of(server):
            time.sleep(0.1)
        assert texts_of(server, "ben") == ["Drinks green tea"]
        found = ask(server, "POST", "/api/memories/search", {"query": "What do I drink?", "user_id": "ben"})
        assert [hit["memory"] for hit in found["results"]][:1] == ["Drinks green tea"]
    told = command(tmp_path, dsn, "encryption", "apply", **encrypted)
    assert told.returncode == 0, told.stderr
    dump = database.dump(dsn)
    assert [word for word in ("green tea", "in Graz", "Drinks ", "I live") if word in dump] == []
    assert command(tmp_path, dsn, "encryption", "apply", **keyed).returncode == 0
    assert "green tea" in database.dump(dsn)
    with served(tmp_path, dsn, **keyed) as server:
        assert sorted(texts_of(server)) == ["Drinks green tea", "Lives in Graz"]


def test_a_dump_of_before_an_erasure_brings_nobody_back(tmp_path):
    dsn, database = servers.database_of(18, tmp_path), servers.of(18)
    with served(tmp_path, dsn) as server:
        for user in ("anna", "ben"):
            ask(server, "POST", "/api/memories", TEA | {"user_id": user})
    before = database.dump(dsn)
    with served(tmp_path, dsn) as server:
        chat(server, "I live in Graz.")
        ask(server, "POST", "/api/subjects/anna/erase")
        chat(server, "I am back.")
    database.put_back(dsn, before)
    assert "green tea" in database.dump(dsn)
    with served(tmp_path, dsn) as server:
        assert (texts_of(server), texts_of(server, "ben")) == ([], ["Drinks green tea"])
        talks = ask(server, "GET", "/api/conversations?user_id=anna")["results"]
        assert len(talks) == 1  # of now, and so not taken again


def test_keys_in_another_database_open_what_is_encrypted_and_are_copied_into_a_file(tmp_path):
    dsn, keys = servers.database_of(18, tmp_path), servers.database_of(18, tmp_path, "keys")
    key, database, copy = tmp_path / "key", servers.of(18), tmp_path / "copy.db"
    key.write_text(base64.b64encode(bytes(32)).decode())
    key.chmod(0o600)
    encrypted = {"MNEMOIR_ENCRYPTION__MODE": "fields", "MNEMOIR_ENCRYPTION__KEY_FILE": str(key)}
    stored = encrypted | {"MNEMOIR_ENCRYPTION__STORE": keys}
    with served(tmp_path, dsn, **stored) as server:
        ask(server, "POST", "/api/memories", TEA)
        ask(server, "POST", "/api/memories", TEA | {"user_id": "ben"})
        ask(server, "PUT", "/api/holds/ben", {"reason": "Case 12"})
        erase_key = ("encryption", "erase-key", "--user", "ben", "--yes")
        assert "'ben' is on legal hold" in command(tmp_path, dsn, *erase_key, **stored).stderr
        ask(server, "DELETE", "/api/holds/ben")
        assert command(tmp_path, dsn, *erase_key, **stored).returncode == 0
        listed = f"{server.url}/api/memories?user_id=ben"  # is a 503 until what is left is deleted
        while requests.get(listed, timeout=60).json().get("results") != []:
            time.sleep(0.1)
        assert texts_of(server) == ["Drinks green tea"]
        told = command(tmp_path, dsn, "encryption", "backup-keys", str(copy), **stored)
        assert told.returncode == 0, told.stderr
    assert not (tmp_path / "data" / "secrets" / "data-keys.db").exists()
    assert "green tea" not in database.dump(dsn)
    told = command(tmp_path, dsn, "doctor", **stored)
    assert "it lies in the cluster of the memories" in told.stdout
    refused = command(tmp_path, dsn, "serve", "--port", "0", **encrypted)
    assert (refused.returncode, "secrets/data-keys.db is gone" in refused.stderr) == (1, True)
    refused = command(tmp_path, dsn, "serve", "--port", "0", **encrypted | {"MNEMOIR_ENCRYPTION__STORE": dsn})
    assert (refused.returncode, "did not make for this" in refused.stderr) == (1, True)
    with served(tmp_path, dsn, **encrypted, MNEMOIR_ENCRYPTION__STORE=str(copy)) as server:
        assert (texts_of(server), texts_of(server, "ben")) == (["Drinks green tea"], [])


def test_the_doctor_says_whether_the_database_answers(tmp_path):
    dsn = servers.database_of(18, tmp_path)
    assert "the PostgreSQL database answers" in command(tmp_path, dsn, "doctor").stdout
    told = command(tmp_path, "host=/nowhere dbname=memories password=geheim", "doctor")
    assert "memories on /nowhere" in told.stdout
    assert "geheim" not in told.stdout + told.stderr


def chat(server: ServerProcess, text: str) -> requests.Response:
    body: Any = {"messages": [{"role": "user", "content": text}], "user": "anna", "memoryEnabled": True}
    answer = requests.post(
        f"{server.url}/v1/chat/completions", json=body, headers={"X-Session-Id": "trip"}, timeout=60
    )
    assert answer.status_code == 200, answer.text
    return answer


def test_while_the_database_is_away_requests_are_503_chats_go_on_and_then_all_is_served_again(tmp_path):
    with PostgresServer(18) as database, served(tmp_path, database.dsn) as server:
        ask(server, "POST", "/api/memories", TEA)
        assert "X-Mnemoir-Degraded" not in chat(server, "What do I drink?").headers
        database.pause()
        for question in ("How are you?", "What do you know about me?"):
            assert chat(server, question).headers["X-Mnemoir-Degraded"] == "memory"
        answer = requests.get(f"{server.url}/api/memories?user_id=anna", timeout=60)
        assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
        assert requests.get(f"{server.url}/health", timeout=60).status_code == 503
        database.resume()
        while requests.get(f"{server.url}/health", timeout=60).status_code != 200:
            time.sleep(0.1)
        assert texts_of(server) == ["Drinks green tea"]
        assert chat(server, "What do I drink?").headers["X-Memory-Injected"] != "0"
        statuses = [status for _, status in runs_of(server)]
        assert (statuses[0], "running" in statuses) == ("finished", False)  # what fell into it is lost, or failed


def test_a_superuser_is_served_and_its_operator_is_told_everywhere(tmp_path):
    dsn = servers.database_of(18, tmp_path).replace("user=mnemoir", "user=postgres")
    with served(tmp_path, dsn) as server:
        ask(server, "POST", "/api/memories", TEA)
        assert texts_of(server) == ["Drinks green tea"]
        (remark,) = [one for one in ask(server, "GET", "/api/status")["remarks"] if one["about"] == "storage"]
        assert (remark["state"], "Row security is off: the role postgres" in remark["found"]) == ("warn", True)
        assert server.log.read_text().count("Row security is off") == 1
    told = command(tmp_path, dsn, "doctor").stdout
    assert "warn  database        Row security is off" in told


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"STORAGE_BACKEND": "postgres"}, "storage.postgres.dsn"),
        (environment_of("nonsense=1"), "connection string"),
        (environment_of("host=/nowhere password=geheim"), "on /nowhere"),
    ],
)
def test_a_start_that_cannot_be_ends_with_a_sentence(tmp_path, environment, said):
    line = [sys.executable, "-m", "mnemoir", "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    given = clean_environment(**environment)
    done = subprocess.run(line, env=given, capture_output=True, text=True, timeout=300)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "geheim" not in done.stderr
