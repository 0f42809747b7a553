"""`mnemoir serve`: its start lines, and the reasons to refuse the start."""

import json
import shlex
import socket
import subprocess
import sys

import pytest

from tests.cli.command_process import run, run_here
from tests.serving import ServerProcess, clean_environment


@pytest.mark.costly("it runs programs")
def test_the_first_lines_name_address_ui_data_model_embedder_and_a_command_to_try(tmp_path):
    with ServerProcess(tmp_path / "data", forked=False) as server:
        lines = server.log.read_text().splitlines()[:6]
    assert lines[0] == f"Mnemoir serves on {server.url}"
    assert [line.split()[0] for line in lines[1:]] == ["ui", "data", "model", "embedder", "try"]
    assert lines[2].endswith(str(tmp_path / "data"))


def test_the_first_lines_can_be_json(tmp_path):
    with ServerProcess(tmp_path / "data", arguments=["--json"]) as server:
        text = server.log.read_text()
    told = json.loads(text[: text.index("\n}") + 2])
    assert set(told) == {"url", "ui", "data", "model", "embedder", "try"}
    assert told["url"] == server.url


def test_a_warning_of_the_settings_is_printed(tmp_path):
    with ServerProcess(tmp_path / "data", environment={"MEMORY_DECAY_DAYS": "six"}) as server:
        assert "Warning: MEMORY_DECAY_DAYS is 'six'" in server.log.read_text()


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o707, 0o700])
def test_a_data_directory_that_others_may_read_is_warned_of(tmp_path, mode):
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(mode)
    with ServerProcess(tmp_path / "data") as server:
        warned = f"Warning: other users of this machine may read {tmp_path / 'data'}." in server.log.read_text()
    assert warned == (mode != 0o700)


@pytest.mark.slow
@pytest.mark.costly("it runs programs")
@pytest.mark.parametrize("limit", [10, 40])
def test_too_few_open_files_end_the_start_with_one_sentence(tmp_path, limit):
    serve = f"{shlex.quote(sys.executable)} -m mnemoir serve --port 0 --data-dir data"
    done = subprocess.run(
        ["sh", "-c", f"ulimit -n {limit}; exec {serve}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=clean_environment(HOME=str(tmp_path)),
        timeout=300,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"mnemoir: This process may open {limit} files and a server needs 128")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("key", ["", "short"])
def test_an_address_that_others_reach_is_refused_without_a_proper_key_and_nothing_is_created(tmp_path, capsys, key):
    asked = ("serve", "--host", "0.0.0.0", "--port", "0", "--data-dir", "data")
    done = run_here(*asked, cwd=tmp_path, capsys=capsys, API_KEYS=key)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Refused to listen on 0.0.0.0" in done.stderr
    assert "--allow-unauthenticated" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--port", str(port), "--data-dir", "data", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"port {port}" in done.stderr


@pytest.mark.slow
def test_a_data_directory_in_use_is_refused_naming_its_holder(tmp_path):
    with ServerProcess(tmp_path / "data") as server:
        done = run("serve", "--port", "0", "--data-dir", str(server.data_dir), cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert str(server.pid) in done.stderr


@pytest.mark.parametrize(("debug", "times"), [("false", 1), ("true", 0)])
def test_the_process_is_closed_to_other_programs_unless_it_is_to_be_debugged(
    tmp_path, capsys, monkeypatch, debug, times
):
    closed = []
    monkeypatch.setattr("mnemoir.cli.serve.close_to_others", lambda: closed.append(debug))
    given = {"cwd": tmp_path, "capsys": capsys, "MNEMOIR_SERVER__DEBUG_PROCESS": debug}
    assert run_here("serve", "--host", "0.0.0.0", **given).returncode == 1  # without a key it does not serve there
    assert len(closed) == times
