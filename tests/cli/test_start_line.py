"""Start lines of WilmerAI start Mnemoir."""

import json
from pathlib import Path
from typing import Any

import pytest
import requests

from mnemoir.cli.start_line import StartLine
from tests.cli.command_process import run
from tests.serving import ServerProcess
from tests.tree_kit import user, write_json

LOCK = {"type": "WorkflowLock", "workflowLockId": "one"}
READ = {"type": "GetCurrentStateDocument", "returnToUser": True}


@pytest.fixture
def public(tmp_path):
    """A tree whose user names folders of its own, which the start line overrides."""
    named = user(discussionDirectory="elsewhere", sqlLiteDirectory="elsewhere")
    write_json(tmp_path / "Public/Configs/Users/ann.json", named)
    write_json(tmp_path / "Public/Configs/Workflows/ann/Chat.json", [LOCK, READ])
    return tmp_path / "Public"


def ask(server, text):
    body: dict[str, Any] = {"model": "ann", "messages": [{"role": "user", "content": text}]}
    answered = requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)
    assert answered.status_code == 200, answered.text
    return answered.json()["choices"][0]["message"]["content"]


def test_a_start_line_of_2026_starts_the_server_with_warnings_about_ineffective_options(public, tmp_path):
    named = ["--DiscussionDirectory", str(tmp_path / "talk"), "--UserLevelSqlLiteDirectory", str(tmp_path / "locks")]
    limits = ["--concurrency", "2", "--concurrency-timeout", "900", "--concurrency-level", "wilmer"]
    arguments = ["--PublicDirectory", str(public), "--User", "ann", *named, *limits]
    (tmp_path / "talk/d1").mkdir(parents=True)
    (tmp_path / "talk/d1/state_document.md").write_text("It rains.")
    with ServerProcess(tmp_path / "data", arguments=arguments) as server:
        assert ask(server, "[DiscussionId]d1[/DiscussionId] Hello.") == "It rains."
        server.stop()
        log = server.log.read_text()
    assert "Warning: --concurrency-timeout has no effect" in log
    assert "Warning: --concurrency-level has no effect" in log
    kept = {path.name for path in (tmp_path / "locks").iterdir()}
    assert kept == {"WilmerDb.ann.sqlite"}
    assert not (public / "elsewhere").exists()


@pytest.mark.slow
def test_listen_without_an_address_is_all_addresses_and_needs_a_key(public, tmp_path):
    done = run("serve", "--listen", "--port", "0", "--PublicDirectory", str(public), "--User", "ann", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Refused to listen on 0.0.0.0" in done.stderr


@pytest.mark.slow
def test_listen_at_the_end_of_the_line_and_with_an_address_work_as_well(tmp_path):
    last = run("serve", "--port", "0", "--listen", cwd=tmp_path)
    assert "Refused to listen on 0.0.0.0" in last.stderr
    with ServerProcess(tmp_path / "data", arguments=["--listen", "127.0.0.1", "--json"]) as server:
        text = server.log.read_text()
    assert json.loads(text[: text.index("\n}") + 2])["url"] == server.url


def test_blank_folder_options_count_as_not_given(public, tmp_path):
    blank = ["--DiscussionDirectory", "", "--UserLevelSqlLiteDirectory", " ", "--PublicDirectory", ""]
    with ServerProcess(
        tmp_path / "data", arguments=["--ConfigDirectory", str(public), "--User", "ann", *blank]
    ) as server:
        assert ask(server, "Hello.") == "No state document has been created yet"
    assert (public / "elsewhere/WilmerDb.ann.sqlite").exists()


def test_the_limit_is_one_of_calls_to_each_endpoint():
    assert StartLine(concurrency=3).settings()["workflows.endpoint_calls_at_once"] == 3
    assert set(StartLine().settings().values()) == {None}


@pytest.mark.parametrize(
    ("public", "configs", "told"),
    [
        ("/a/Public", None, 0),
        ("/a/Public", "/a/Public/Configs", 0),
        ("/a/Public", "/a/Public", 0),
        ("/a/Public", "/b/Configs", 1),
        (None, "/b/Configs", 0),
    ],
)
def test_a_public_folder_beside_the_configs_of_another_has_no_effect(public, configs, told):
    line = StartLine(public_directory=Path(public) if public else None)
    assert len(list(line.without_effect(Path(configs) if configs else None))) == told
