"""What a server tells of its runs while it works, and what is left of them when a user is deleted."""

import json
from typing import Any

import pytest
import requests

from tests.cli.command_process import run
from tests.scripted_llm import ScriptedLLM, failure
from tests.serving import ServerProcess
from tests.tree_kit import answers, asked_by, asks, eventually, nodes_of, run_of, settle, user, write_tree

SECRET = "Zanzibar-Kolibri-4711"
FILES = {
    "Users/mira.json": user(),
    "Workflows/Mira/Chat.json": [
        {"title": "Look", "type": "CustomWorkflow", "workflowName": "Inner"},
        answers("Answering", "{agent1Output} {chat_user_prompt_last_one}"),
        asks("Afterwards", "{agent2Output}"),
    ],
    "Workflows/Mira/Inner.json": [asks("Within", "{chat_user_prompt_last_one}")],
}


@pytest.fixture(scope="module")
def llm():
    with ScriptedLLM.in_thread() as scripted:
        scripted.rule(asked_by("Within"), "Looked.")
        scripted.rule(asked_by("Afterwards"), "Noted.")
        yield scripted


@pytest.fixture(scope="module")
def server(llm, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    tree = write_tree(folder / "Public", llm.url, FILES)
    with ServerProcess(folder / "data", arguments=["--config-dir", str(tree), "--user", "Mira"]) as process:
        yield process


@pytest.fixture(autouse=True)
def _fresh(server, llm):
    settle(server)
    llm.clear()


BODY: dict[str, Any] = {"model": "Mira", "messages": [{"role": "user", "content": "Hi"}], "stream": True}


def ask(server, said="Hi", *, stream=False, **more):
    body = {**BODY, "messages": [{"role": "user", "content": said}], "stream": stream, **more}
    return requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)


def told(lines):
    """The next event of a feed."""
    return json.loads(next(line for line in lines if line.startswith(b"data: ")).removeprefix(b"data: "))


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_names_its_run_which_tells_every_node(server, llm, stream):
    llm.reply("Good morning.", usage=(120, 4))
    run = run_of(server, ask(server, stream=stream).headers["x-workflow-run-id"])
    assert (run["status"], run["user"], run["stream"], run["model"]) == ("finished", "Mira", stream, "Mira")
    (workflow,) = run["workflows"]
    assert [node["title"] for node in workflow["nodes"]] == ["Look", "Answering", "Afterwards"]
    assert workflow["nodes"][0]["children"][0]["nodes"][0]["output"] == "Looked."
    answering = workflow["nodes"][1]
    assert answering["prompt"] == [
        {"role": "system", "content": "Answering"},
        {"role": "user", "content": "Looked. Hi"},
    ]
    assert (answering["endpoint"], answering["preset"], answering["model"]) == ("Main", "Calm", "far-model")
    assert (answering["output"], answering["output_tokens"] > 0) == ("Good morning.", True)


def test_the_model_s_own_count_of_tokens_is_told(server, llm):
    llm.reply("Good morning.", usage=(120, 4))
    answering = nodes_of(run_of(server, ask(server).headers["x-workflow-run-id"]))["Answering"]
    assert (answering["input_tokens"], answering["output_tokens"], answering["tokens_counted"]) == (120, 4, False)


def test_times_stand_in_the_order_things_happened(server):
    run = run_of(server, ask(server, stream=True).headers["x-workflow-run-id"])
    nodes = nodes_of(run)
    answering = nodes["Answering"]
    assert nodes["Within"]["started_ms"] <= answering["started_ms"] <= answering["first_token_ms"]
    assert answering["first_token_ms"] - 5 <= run["first_token_ms"] <= run["answered_ms"] <= run["duration_ms"]


def test_a_run_that_fails_says_where_and_why(server, llm):
    llm.queue(failure(400, "no such preset"))
    refused = ask(server)
    assert refused.status_code == 400
    run = run_of(server, refused.headers["X-Workflow-Run-Id"])
    assert (run["status"], "no such preset" in run["error"]) == ("failed", True)
    assert "no such preset" in nodes_of(run)["Answering"]["error"]


def test_the_live_feed_tells_of_a_run_as_it_begins_and_as_it_ends(server, llm):
    llm.reply("Very fine.", stall_after=1)
    with requests.get(f"{server.url}/api/runs/live", stream=True, timeout=60) as feed:
        lines = feed.iter_lines()
        next(lines)
        with requests.post(f"{server.url}/v1/chat/completions", json=BODY, stream=True, timeout=60) as answer:
            begun = told(lines)
            assert (begun["status"], begun["user"]) == ("running", "Mira")
            assert requests.get(f"{server.url}/api/runs/{begun['id']}", timeout=60).json()["status"] == "running"
            llm.release()
            assert "fine." in answer.text
        ended = told(lines)
    assert (ended["id"], ended["status"], ended["workflow"]) == (begun["id"], "finished", "Chat")


@pytest.mark.slow
def test_the_command_line_lists_runs_and_shows_one(server):
    run_id = run_of(server, ask(server).headers["x-workflow-run-id"])["id"]
    listed = run("runs", "list", "--url", server.url, cwd=server.data_dir.parent)
    assert listed.stdout.splitlines()[0].split()[0] == run_id
    shown = run("runs", "show", run_id, "--url", server.url, cwd=server.data_dir.parent).stdout
    titles = [line.split()[1] for line in shown.splitlines() if line.strip()[:2] in ("1 ", "2 ", "3 ")]
    assert titles == ["Look", "Within", "Answering", "Afterwards"]


def files_with(text, folder):
    """The names of the files below a folder that hold the text anywhere."""
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_deleting_a_user_s_memories_leaves_no_trace_of_a_chat_in_any_file(server):
    gone = ask(server, f"I live in {SECRET}", user="mira").headers["x-workflow-run-id"]
    kept = ask(server, "I live in Graz", user="ben").headers["x-workflow-run-id"]
    settle(server)
    eventually(lambda: files_with(SECRET, server.data_dir))
    assert requests.delete(f"{server.url}/api/memories?user_id=mira", timeout=60).status_code == 200
    assert requests.get(f"{server.url}/api/runs/{gone}", timeout=60).status_code == 404
    assert run_of(server, kept)["status"] == "finished"
    assert files_with(SECRET, server.data_dir) == []


def test_a_run_under_way_when_its_user_is_deleted_is_not_written_down(server, llm):
    llm.reply("Very fine.", stall_after=1)
    body: dict[str, Any] = {**BODY, "messages": [{"role": "user", "content": SECRET}], "user": "mira"}
    with requests.post(f"{server.url}/v1/chat/completions", json=body, stream=True, timeout=60) as answer:
        eventually(lambda: any(map(asked_by("Answering"), llm.requests)))
        requests.delete(f"{server.url}/api/memories?user_id=mira", timeout=60)
        llm.release()
        assert "fine." in answer.text
    eventually(lambda: any(map(asked_by("Afterwards"), llm.requests)))
    server.stop()
    assert files_with(SECRET, server.data_dir) == []
    server.start()
