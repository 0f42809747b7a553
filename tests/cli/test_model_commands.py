"""`mnemoir model`: on a running server and on a data directory; a key is never an argument."""

import json
import sys
from pathlib import Path

import pexpect
import pytest

from tests.cli.command_process import Done, run_here
from tests.scripted_llm import ScriptedLLM, ThreadedLLM
from tests.serving import ServerProcess, clean_environment

KEY = "sk-canary-of-the-command-line"


@pytest.fixture
def far():
    """A model's server that nobody is connected to."""
    with ScriptedLLM.in_thread() as llm:
        yield llm


@pytest.fixture
def model(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`mnemoir model` over a data directory."""

    def run(*arguments: str, **given: str) -> Done:
        where = ("--data-dir", str(tmp_path / "data"))
        return run_here("model", *arguments, *where, cwd=tmp_path, capsys=capsys, **given)

    return run


def test_a_model_is_set_tested_shown_and_forgotten(model, far: ThreadedLLM) -> None:
    done = model("set", "compatible", "far-model", "--address", far.openai_url, "--key", stdin=f"{KEY}\n")
    assert done.stdout == f"in use  far-model (openai-chat)  {far.openai_url}  with a key\n"
    tested = model("test")
    assert tested.returncode == 0
    assert tested.stdout.startswith(f"far-model at {far.openai_url}  answered in ")
    assert far.requests[-1].headers["Authorization"] == f"Bearer {KEY}"
    shown = model("show")
    assert f"saved   far-model (openai-chat)  {far.openai_url}  with a key" in shown.stdout
    assert KEY not in shown.stdout + done.stdout + done.stderr
    assert "(offline)" in model("forget").stdout


@pytest.mark.slow
def test_a_key_that_is_typed_is_not_shown(tmp_path: Path, far: ThreadedLLM) -> None:
    arguments = ["set", "compatible", "far-model", "--address", far.openai_url, "--key"]
    child = pexpect.spawn(
        sys.executable,
        ["-m", "mnemoir", "model", *arguments, "--data-dir", str(tmp_path / "data")],
        env=clean_environment(HOME=str(tmp_path)),
        cwd=str(tmp_path),
        encoding="utf-8",
        timeout=120,
    )
    child.expect("API key:")
    child.sendline(KEY)
    child.expect("with a key")
    shown = child.before
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, KEY in shown) == (0, False)


def test_a_running_server_takes_the_model_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], far: ThreadedLLM
) -> None:
    with ServerProcess(tmp_path / "data") as server:
        model = ("compatible", "far-model", "--address", far.openai_url, "--url", server.url)
        done = run_here("model", "set", *model, "--key-from", "FAR", cwd=tmp_path, capsys=capsys, FAR=KEY)
        assert done.stdout == f"in use  far-model (openai-chat)  {far.openai_url}  with a key\n"
        shown = run_here("model", "show", "--json", "--url", server.url, cwd=tmp_path, capsys=capsys)
        assert json.loads(shown.stdout)["setup"]["in_use"]["model"] == "far-model"
    doctor = run_here("doctor", "--data-dir", str(tmp_path / "data"), "--json", cwd=tmp_path, capsys=capsys)
    [finding] = [check for check in json.loads(doctor.stdout)["checks"] if check["check"] == "model"]
    assert (finding["state"], finding["found"]) == ("ok", f"far-model (openai-chat) at {far.openai_url}")


def test_the_models_of_a_server_are_printed(model, far: ThreadedLLM) -> None:
    assert model("list", "compatible", "--address", far.openai_url).stdout == "scripted\n"
    done = model("list", "vllm", "--address", "http://127.0.0.1:9/v1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "http://127.0.0.1:9/v1: it cannot be reached. Start it, or correct the address." in done.stderr


def test_a_test_without_an_answer_ends_with_1_and_says_what_to_do(model) -> None:
    done = model("test")
    assert done.returncode == 1
    assert "no language model is connected" in done.stderr
    done = model("test", "openai", "m", "--address", "http://127.0.0.1:9/v1")
    assert (done.returncode, "it cannot be reached" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("set", "chatgpt", "m"), "'chatgpt' is no server of models. Name one of ollama, openai"),
        (("set", "compatible", "m"), "--address"),
        (("set", "vllm"), "mnemoir model list vllm"),
        (("set", "vllm", "m", "--key-from", "NO_SUCH"), "NO_SUCH is not set"),
        (("set", "compatible", "m", "--address", "http://169.254.169.254/v1"), "link-local"),
        (("set", "compatible", "m", "--address", "nonsense"), "must be a URL"),
    ],
)
def test_what_cannot_be_done_says_why(model, arguments: tuple[str, ...], told: str) -> None:
    done = model(*arguments)
    assert (done.returncode, told in done.stderr) == (1, True), done.stderr


def test_a_damaged_file_stops_the_start_and_the_doctor_names_it(
    model, tmp_path: Path, capsys: pytest.CaptureFixture[str], far: ThreadedLLM
) -> None:
    model("set", "compatible", "far-model", "--address", far.openai_url)
    path = tmp_path / "data" / "settings" / "model.json"
    path.write_text("{")
    where = ("--data-dir", str(tmp_path / "data"))
    served = run_here("serve", "--port", "0", *where, cwd=tmp_path, capsys=capsys)
    assert (served.returncode, f"mnemoir: {path}: is damaged" in served.stderr) == (1, True)
    doctor = run_here("doctor", *where, "--json", cwd=tmp_path, capsys=capsys)
    [finding] = [check for check in json.loads(doctor.stdout)["checks"] if check["check"] == "model"]
    assert (finding["state"], str(path) in finding["found"]) == ("fail", True)


def test_what_the_environment_sets_is_told_and_comes_first(model, far: ThreadedLLM) -> None:
    shown = model("show", MEMORY_LLM_MODEL="theirs")
    assert "fixed   llm.model  theirs  by environment variable MEMORY_LLM_MODEL" in shown.stdout
    done = model("set", "compatible", "mine", "--address", far.openai_url, MEMORY_LLM_MODEL="theirs")
    assert (done.returncode, "environment variable MEMORY_LLM_MODEL" in done.stderr) == (1, True)


def test_an_embedding_model_is_tested_saved_for_the_next_start_and_forgotten(model, far: ThreadedLLM) -> None:
    place = ("compatible", "far-vectors", "--address", far.openai_url)
    tested = model("embedding", "test", *place, "--key-from", "FAR", FAR=KEY)
    assert (tested.returncode, tested.stdout.startswith(f"openai:far-vectors at {far.openai_url}  ")) == (0, True)
    assert far.requests[-1].headers["Authorization"] == f"Bearer {KEY}"
    done = model("embedding", "set", *place, "--key-from", "FAR", FAR=KEY)
    assert f"next    far-vectors (openai)  {far.openai_url}  with a key\n" in done.stdout
    assert "Restart the server to use it." in done.stderr
    shown = model("embedding", "show")  # the command is a start of its own
    assert shown.stdout == f"in use  far-vectors (openai)  {far.openai_url}  with a key\n"
    assert KEY not in shown.stdout + done.stdout + done.stderr
    assert "next    all-MiniLM-L6-v2-int8 (builtin)\n" in model("embedding", "forget").stdout


def test_the_models_of_a_server_that_may_embed_are_printed(model, far: ThreadedLLM) -> None:
    assert model("embedding", "list", "compatible", "--address", far.openai_url).stdout == "scripted\n"
    done = model("embedding", "set", "vllm")
    assert (done.returncode, "mnemoir model embedding list vllm" in done.stderr) == (1, True)
