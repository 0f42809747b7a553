"""`mnemoir doctor`: one finding for each part, with the step to take."""

import json

import apsw
import pytest

from mnemoir.cli.diagnosis import checks, proxy_checks
from mnemoir.settings import load_settings
from mnemoir.storage.sqlite import open_database
from tests.cli.command_process import run_here
from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess, free_port


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def settings(tmp_path):
    """Settings with a data directory that does not exist yet, and without a model."""

    def load(**environ):
        place = {"HOME": str(tmp_path), "MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "data"), "PORT": str(free_port())}
        return load_settings(None, {}, {**place, "OLLAMA_HOST": f"127.0.0.1:{free_port()}", **environ})

    return load


@pytest.fixture
def doctor(tmp_path, capsys):
    """Runs `mnemoir doctor` with these arguments and variables."""

    def ended(*arguments, **environment):
        place = {"PORT": str(free_port()), "MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "data")}
        return run_here("doctor", *arguments, cwd=tmp_path, capsys=capsys, **{**place, **environment})

    return ended


def test_on_a_fresh_machine_only_the_missing_model_is_reported(doctor, tmp_path):
    ollama = f"127.0.0.1:{free_port()}"
    done = doctor("--json", OLLAMA_HOST=ollama)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {finding["check"]: finding for finding in json.loads(done.stdout)["checks"]}
    assert {check: finding["state"] for check, finding in found.items()} == {
        "settings": "ok",
        "data directory": "ok",
        "identity": "ok",
        "database": "ok",
        "discussions": "ok",
        "conversations": "ok",
        "keys": "ok",
        "model": "warn",
        "embedder": "ok",
        "port": "ok",
    }
    assert "OPENAI_API_KEY" in found["model"]["to_do"]
    assert f"no Ollama with a model answers at http://{ollama}" in found["model"]["found"]
    assert "384 dimensions" in found["embedder"]["found"]
    assert "universal-sentence-encoder-multilingual-3" in found["embedder"]["found"]
    assert not (tmp_path / "data").exists()


def test_the_lines_for_people_say_what_to_do_and_a_failure_ends_with_1(doctor, tmp_path):
    done = doctor(HOST="0.0.0.0", COLUMNS="40")
    assert done.returncode == 1
    for told in ("what to do", "no API key is set", "OPENAI_API_KEY"):
        assert told in done.stdout
    assert str(tmp_path / "data") in done.stdout  # whole, however narrow the terminal is


def test_wrong_settings_are_the_only_finding(doctor):
    done = doctor("--json", STORAGE_BACKEND="tape")
    (finding,) = json.loads(done.stdout)["checks"]
    assert (done.returncode, finding["check"], finding["state"]) == (1, "settings", "fail")
    assert "STORAGE_BACKEND" in finding["found"]


async def test_a_warning_of_the_settings_is_passed_on(settings):
    finding = await checks.check_settings(settings(MEMORY_DECAY_DAYS="six"))
    assert (finding.state, "MEMORY_DECAY_DAYS" in finding.found) == ("warn", True)


async def test_a_data_directory_that_cannot_be_made_fails(settings, tmp_path):
    (tmp_path / "data").write_text("a file")
    assert (await checks.check_directory(settings())).state == "fail"


async def test_a_data_directory_that_others_may_read_is_reported(settings, tmp_path):
    (tmp_path / "data").mkdir(mode=0o755)
    assert (await checks.check_directory(settings())).to_do == f"chmod 700 {tmp_path / 'data'}"


async def test_a_workspace_that_cannot_be_made_fails(settings, tmp_path):
    (tmp_path / "work").write_text("a file")
    finding = await checks.check_workspace(settings(WORKSPACE_ROOT=str(tmp_path / "work")))
    assert (finding.state, "WORKSPACE_ROOT" in finding.to_do) == ("fail", True)


async def test_a_running_server_and_its_database_pass_and_a_damaged_one_is_named(settings, tmp_path):
    database = tmp_path / "data" / "mnemoir.db"
    with ServerProcess(tmp_path / "data") as server:
        here = settings(PORT=str(server.port))
        assert "a Mnemoir is running" in (await checks.check_port(here)).found
        assert (await checks.check_database(here)).state == "ok"
        server.stop()
    whole = database.read_bytes()
    database.write_bytes(whole[:4096] + b"\xff" * 4096 + whole[8192:])
    finding = await checks.check_database(here)
    assert (finding.state, str(database) in finding.found) == ("fail", True)


async def test_a_database_of_another_schema_fails_with_the_way_out(settings, tmp_path):
    path = tmp_path / "data" / "mnemoir.db"
    await open_database(path).aclose()
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE migrations SET name = 'of another text'")
    connection.close()
    finding = await checks.check_database(settings())
    assert (finding.state, "made by an unreleased Mnemoir" in finding.found) == ("fail", True)
    assert finding.to_do.startswith("Export with the program that made it")


async def test_a_port_that_another_program_has_fails(settings):
    async with ScriptedLLM() as other:
        finding = await checks.check_port(settings(PORT=other.url.rpartition(":")[2]))
    assert finding.state == "fail"


async def test_a_model_that_answers_passes_and_one_that_does_not_fails(settings):
    async with ScriptedLLM() as llm:
        chosen = settings(OPENAI_API_KEY="sk-canary", OPENAI_BASE_URL=f"{llm.url}/v1")
        assert (await checks.check_model(chosen)).state == "ok"
    finding = await checks.check_model(chosen)
    assert (finding.state, "sk-canary" in repr(finding)) == ("fail", False)


async def test_an_ollama_without_the_named_model_fails_with_advice(settings):
    async with ScriptedLLM() as llm:
        chosen = {"OLLAMA_HOST": llm.url, "MEMORY_LLM_PROVIDER": "ollama"}
        assert (await checks.check_model(settings(**chosen))).state == "ok"
        finding = await checks.check_model(settings(**chosen, MEMORY_LLM_MODEL="absent"))
    assert (finding.state, finding.to_do) == ("fail", "Start Ollama there and run: ollama pull absent")


async def test_an_embedder_out_of_reach_fails(settings):
    address = f"http://127.0.0.1:{free_port()}/v1"
    finding = await checks.check_embedder(
        settings(MNEMOIR_EMBEDDING__PROVIDER="openai", MNEMOIR_EMBEDDING__BASE_URL=address)
    )
    assert finding.state == "fail"


async def test_it_is_told_through_which_proxy_each_server_is_asked_without_the_password(settings):
    proxies = {
        "HTTPS_PROXY": "http://me:hidden-314@proxy.example:3128",
        "NO_PROXY": "direct.example",
        "MEMORY_LLM_PROVIDER": "openai-chat",
        "OPENAI_API_KEY": "key-of-the-model",
        "OPENAI_BASE_URL": "https://models.example/v1",
        "MEMORY_MANAGEMENT_URL": "https://direct.example/api/memories",
        "MNEMOIR_EMBEDDING__PROVIDER": "openai",
        "MNEMOIR_EMBEDDING__BASE_URL": "https://10.1.2.3/v1",
        "MNEMOIR_AUTH__JWT": json.dumps([{"issuer": "https://issuer.example", "audience": "mnemoir"}]),
    }
    finding = await proxy_checks.check_proxies(settings(**proxies))
    assert (finding.state, finding.found) == (
        "ok",
        "directly: embedding model, memory service; "
        "through http://proxy.example:3128: language model, keys of issuer.example",
    )


def test_without_a_proxy_there_is_no_word_of_any(doctor):
    told = json.loads(doctor("--json").stdout)["checks"]
    assert "proxies" not in [finding["check"] for finding in told]
