"""`mnemoir doctor`: one finding for each part, and what to do."""

import json
import socket

from tests.cli.command_process import run
from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess, free_port


def findings(tmp_path, *, expect=0, **environment):
    environment = {"PORT": str(free_port()), "MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "data"), **environment}
    done = run("doctor", "--json", cwd=tmp_path, **environment)
    assert done.returncode == expect, done.stdout + done.stderr
    return {finding["check"]: finding for finding in json.loads(done.stdout)["checks"]}


def test_on_a_fresh_machine_only_the_missing_model_is_remarked_on(tmp_path):
    found = findings(tmp_path)
    states = {check: finding["state"] for check, finding in found.items()}
    assert states == {
        "settings": "ok",
        "data directory": "ok",
        "database": "ok",
        "model": "warn",
        "embedder": "ok",
        "port": "ok",
    }
    assert "OPENAI_API_KEY" in found["model"]["to_do"]
    assert "384 dimensions" in found["embedder"]["found"]
    assert not (tmp_path / "data").exists()


def test_the_table_for_people_says_the_same(tmp_path):
    done = run("doctor", cwd=tmp_path, PORT=str(free_port()), COLUMNS="200")
    assert done.returncode == 0
    assert "what to do" in done.stdout
    assert "OPENAI_API_KEY" in done.stdout


def test_wrong_settings_fail(tmp_path):
    found = findings(tmp_path, expect=1, STORAGE_BACKEND="tape")
    assert list(found) == ["settings"]
    assert "STORAGE_BACKEND" in found["settings"]["found"]


def test_an_open_address_without_a_key_fails(tmp_path):
    assert "no API key" in findings(tmp_path, expect=1, HOST="0.0.0.0")["settings"]["found"]


def test_a_data_directory_that_cannot_be_made_fails(tmp_path):
    (tmp_path / "data").write_text("a file")
    assert findings(tmp_path, expect=1)["data directory"]["state"] == "fail"


def test_a_data_directory_that_others_may_read_is_remarked_on(tmp_path):
    (tmp_path / "data").mkdir(mode=0o755)
    assert findings(tmp_path)["data directory"]["to_do"] == f"chmod 700 {tmp_path / 'data'}"


def test_a_running_server_is_well(tmp_path):
    with ServerProcess(tmp_path / "data") as server:
        found = findings(tmp_path, PORT=str(server.port))
    assert "is running" in found["port"]["found"]
    assert "whole" in found["database"]["found"]


def test_a_damaged_database_is_named(tmp_path):
    with ServerProcess(tmp_path / "data") as server:
        server.stop()
    database = tmp_path / "data" / "mnemoir.db"
    whole = database.read_bytes()
    database.write_bytes(whole[:4096] + b"\xff" * 4096 + whole[8192:])
    found = findings(tmp_path, expect=1)["database"]
    assert (found["state"], str(database) in found["found"]) == ("fail", True)


def test_a_port_that_another_program_has_fails(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = findings(tmp_path, expect=1, PORT=str(taken.getsockname()[1]))
    assert found["port"]["state"] == "fail"


def test_a_model_that_answers_is_well_and_one_that_does_not_fails(tmp_path):
    with ScriptedLLM.in_thread() as llm:
        openai = {"OPENAI_API_KEY": "sk-canary", "OPENAI_BASE_URL": f"{llm.url}/v1"}
        assert findings(tmp_path, **openai)["model"]["state"] == "ok"
    found = findings(tmp_path, expect=1, **openai)["model"]
    assert found["state"] == "fail"
    assert "sk-canary" not in json.dumps(found)


def test_an_embedder_out_of_reach_fails(tmp_path):
    environment = {
        "MNEMOIR_EMBEDDING__PROVIDER": "openai",
        "MNEMOIR_EMBEDDING__BASE_URL": f"http://127.0.0.1:{free_port()}/v1",
    }
    assert findings(tmp_path, expect=1, **environment)["embedder"]["state"] == "fail"
