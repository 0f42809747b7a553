"""One config tree for several users: in a process each or all in one, edited while it is served."""

import json
from typing import Any

import pytest
import requests

from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess, free_port
from tests.tree_kit import answers, asked_titles, eventually, settle, user, write_json, write_tree

SHARED = "_shared"
CHAT = "Configs/Workflows/{}/Chat.json"


@pytest.fixture(scope="module")
def llm():
    with ScriptedLLM.in_thread() as scripted:
        yield scripted


def two_users(public, llm, ports):
    """A tree of Ada and Ben, each with a workflow of their own, and two shared ones that Ada offers."""
    files = {
        "Users/ada.json": user(port=ports["Ada"], allowSharedWorkflows=True),
        "Users/ben.json": user(port=ports["Ben"]),
        "Users/_current-user.json": {"currentUser": "Ben"},
        "Workflows/Ada/Chat.json": [answers("For Ada")],
        "Workflows/Ben/Chat.json": [answers("For Ben")],
        f"Workflows/{SHARED}/cook/_DefaultWorkflow.json": [answers("Cooking")],
        f"Workflows/{SHARED}/_hidden/_DefaultWorkflow.json": [answers("Hidden")],
    }
    return write_tree(public, llm.url, files)


@pytest.fixture
def ports():
    return {name: free_port() for name in ("Ada", "Ben")}


@pytest.fixture
def tree(llm, ports, tmp_path):
    llm.clear()
    return two_users(tmp_path / "Public", llm, ports)


def served(tree, *arguments, **options):
    """A server over a data directory named by its arguments."""
    name = "-".join(word.strip("-<>") for word in arguments if "/" not in word) or "all"
    return ServerProcess(tree.parent / f"data-{name}", arguments=arguments, **options)


def ask(server, model="", **more):
    body = {"model": model, "messages": [{"role": "user", "content": "Hi"}], **more}
    return requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)


def models_of(server):
    return [model["id"] for model in requests.get(f"{server.url}/v1/models", timeout=60).json()["data"]]


# --- a process each


def test_two_processes_serve_one_tree_on_the_ports_of_their_users(tree, llm, ports):
    ada = served(tree, str(tree), "Ada", own_port=ports["Ada"])
    ben = served(tree, "--ConfigDirectory", str(tree / "Configs"), "--User", "Ben", own_port=ports["Ben"])
    with ada, ben:
        for server in (ada, ben, ada):
            answer = ask(server, "whatever")
            assert answer.status_code == 200, answer.text
    assert asked_titles(llm) == ["For Ada", "For Ben", "For Ada"]
    assert sorted(path.name for path in ada.data_dir.iterdir() if path.suffix == ".db") == ["mnemoir.db", "runs.db"]
    assert ben.data_dir != ada.data_dir


def test_without_a_name_the_tree_s_current_user_is_served(tree, llm, ports):
    with served(tree, "--config-dir", str(tree), own_port=ports["Ben"]) as server:
        assert (models_of(server), ask(server).json()["model"]) == (["Ben"], "Ben")


def test_blank_arguments_as_launch_scripts_pass_them_are_none(tree, ports):
    arguments = ["--ConfigDirectory", str(tree), "--User", "", "--LoggingDirectory", ""]
    with served(tree, *arguments, own_port=ports["Ben"]) as server:
        assert models_of(server) == ["Ben"]


def test_a_port_on_the_command_line_wins_over_the_user_s(tree, ports):
    with served(tree, str(tree), "Ada") as server:
        assert server.port != ports["Ada"]
        with pytest.raises(requests.ConnectionError):
            requests.get(f"http://127.0.0.1:{ports['Ada']}/health", timeout=60)


def test_a_user_the_tree_does_not_have_is_told_at_the_start(tree):
    with pytest.raises(AssertionError, match=r"there is no Users/eve\.json"):
        served(tree, str(tree), "Eve").start()


def test_the_log_goes_to_a_file_in_the_user_s_folder_and_names_nothing_that_was_said(tree, tmp_path):
    logs = tmp_path / "logs"
    with served(tree, "--LoggingDirectory", f"{logs}/<user>", "--config-dir", str(tree), "--user", "Ada") as server:
        ask(server)
        file = logs / "Ada" / "mnemoir.log"
        eventually(lambda: "/v1/chat/completions" in file.read_text())
    assert "Understood." not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


# --- one process for all


def served_for_both(tree):
    return served(tree, "--config-dir", str(tree), "--user", "Ada", "--user", "Ben")


@pytest.fixture(scope="module")
def running(llm, tmp_path_factory):
    ports = {name: free_port() for name in ("Ada", "Ben")}
    with served_for_both(two_users(tmp_path_factory.mktemp("both") / "Public", llm, ports)) as server:
        yield server


@pytest.fixture
def both(running, llm):
    """For who edits nothing."""
    llm.clear()
    yield running
    settle(running)


def test_the_model_s_name_chooses_the_user(both, llm):
    answered = [ask(both, name, stream=stream) for name in ("Ada", "Ben", "ada:latest") for stream in (False, True)]
    assert [answer.status_code for answer in answered] == [200] * 6
    assert asked_titles(llm) == ["For Ada", "For Ada", "For Ben", "For Ben", "For Ada", "For Ada"]
    assert answered[4].json()["model"] == "Ada"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", ["", "gpt-5", "eve:cook"])
def test_a_name_that_is_no_user_s_is_refused_and_the_users_are_named(both, llm, model, stream):
    answer = ask(both, model, stream=stream)
    assert answer.status_code == 400
    assert "Ada, Ben" in answer.json()["error"]["message"]
    assert llm.requests == []


def test_ollama_s_routes_refuse_it_in_their_own_shape(both):
    body: dict[str, Any] = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}]}
    answer = requests.post(f"{both.url}/api/chat", json=body, timeout=60)
    assert (answer.status_code, "Ada, Ben" in answer.json()["error"]) == (400, True)


def test_shared_workflows_are_listed_for_who_offers_them_and_chosen_by_folder(both, llm):
    assert models_of(both) == ["Ada", "Ben", "Ada:cook"]
    assert ask(both, "Ada:cook").json()["model"] == "Ada:cook"
    assert ask(both, "Ben:_hidden:latest").json()["model"] == "Ben:_hidden"
    assert ask(both, "Ada:nowhere").json()["model"] == "Ada"
    assert asked_titles(llm) == ["Cooking", "Hidden", "For Ada"]


def test_a_single_user_s_shared_workflow_goes_by_the_folder_alone_too(tree, llm):
    with served(tree, str(tree), "Ada") as server:
        for model in ("cook", "whoever:cook", "gpt-5"):
            assert ask(server, model).status_code == 200
    assert asked_titles(llm) == ["Cooking", "Cooking", "For Ada"]


def test_a_run_tells_which_user_answered(both):
    ids = {name: ask(both, name).headers["x-workflow-run-id"] for name in ("Ada", "Ben")}
    traced = {name: requests.get(f"{both.url}/api/runs/{run}", timeout=60).json() for name, run in ids.items()}
    assert [(run["user"], run["workflows"][0]["folder"]) for run in traced.values()] == [("Ada",) * 2, ("Ben",) * 2]


# --- edits


@pytest.fixture
def edited(tree):
    with served_for_both(tree) as server:
        yield server
        settle(server)


def test_an_edited_workflow_counts_from_the_next_request_on(edited, tree, llm):
    ask(edited, "Ada")
    write_json(tree / CHAT.format("Ada"), [answers("Edited")])
    ask(edited, "Ada")
    write_json(tree / "Configs/Users/ben.json", user(customWorkflow="Other"))
    write_json(tree / "Configs/Workflows/Ben/Other.json", [answers("New")])
    ask(edited, "Ben")
    assert asked_titles(llm) == ["For Ada", "Edited", "New"]


def test_a_broken_edit_leaves_the_last_good_version_in_use_until_it_is_mended(edited, tree, llm):
    file = tree / CHAT.format("Ada")
    ask(edited, "Ada")
    assert "Chat.json" not in edited.log.read_text()
    file.write_text('[{"title": "Broken", ')
    assert ask(edited, "Ada").status_code == 200
    eventually(lambda: "Chat.json" in edited.log.read_text())
    file.write_text(json.dumps([answers("Mended")]))
    ask(edited, "Ada")
    assert asked_titles(llm) == ["For Ada", "For Ada", "Mended"]


def test_a_workflow_that_is_taken_away_is_named_in_the_error(edited, tree):
    (tree / CHAT.format("Ben")).unlink()
    answer = ask(edited, "Ben")
    assert answer.status_code == 500
    assert "Workflows/Ben/Chat.json" in answer.json()["error"]["message"]
