"""Folders in the shape of WilmerAI's examples with memory, which name files of another machine, answer every chat."""

import json
from typing import Any

import pytest
import requests

from tests.cli.command_process import run
from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess
from tests.tree_kit import answers, asks, newest_run, nodes_of, settle, user, write_tree

ABSENT = "Custom instruction file did not exist"
TALK = [{"role": ("user", "assistant")[n % 2], "content": f"Part {n}. " + "A dog ran. " * 60} for n in range(16)]


def reads(title, path):
    return {"title": title, "type": "GetCustomFile", "filepath": path, "delimiter": "", "customReturnDelimiter": "\n"}


ASSISTANT = {
    "bot_name": "Robin",
    "nodes": [
        {"title": "Make records", "type": "QualityMemory", "isResponder": False},
        reads("Who asks", "D:\\temp\\asker.txt"),
        reads("Who answers", "{folder}\\answerer.txt"),
        {"title": "What is true now", "type": "GetCurrentStateDocument", "isResponder": False},
        asks("Think", "{chat_user_prompt_min_n_max_tokens}\n{agent2Output} {agent4Output}", minMessagesInVariable=5),
        {"title": "Search", "type": "VectorMemorySearch", "input": "{agent5Output}", "limit": 30},
        answers("You are {bot_name}", "<facts>{agent6Output}</facts> <self>{agent3Output}</self>"),
    ],
}
GAME = [
    {"title": "The story so far", "type": "FullChatSummary", "isManualConfig": False},
    {"title": "Lately", "type": "RecentMemorySummarizerTool", "maxTurnsToPull": 30, "maxSummaryChunksFromFile": 30},
    reads("Rules", "/data/games/rules.txt"),
    asks("Name the speaker", "{agent2Output} Write <next>NAME</next>."),
    {"title": "Speaker", "type": "TagTextExtractor", "tagToExtractFrom": "{agent4Output}", "fieldToExtract": "next"},
    answers("Play on", "{agent1Output} {agent3Output} You are {agent5Output}."),
]
RECORDS = {"useVectorForQualityMemory": True, "vectorMemoryWorkflowName": "Records", "lookbackStartTurn": 3}
SUMMARIES = {"endpointName": "Main", "preset": "Calm", "prompt": "[Memory_file] [TextChunk]", "lookbackStartTurn": 3}
ROLLING = {**asks("Sum up", "[CHAT_SUMMARY] [LATEST_MEMORIES]"), "type": "chatSummarySummarizer"}


@pytest.fixture(scope="module")
def llm():
    with ScriptedLLM.in_thread() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def public(llm, tmp_path_factory):
    made = {"discussionIdMemoryFileWorkflowSettings": "Settings"}
    files = {
        "Users/robin.json": user(**made, userWideWorkflowVariables={"folder": "D:\\temp"}),
        "Users/game.json": user(**made, chatSummaryToolWorkflow="Rolling"),
        "Workflows/robin/Chat.json": ASSISTANT,
        "Workflows/robin/Settings.json": RECORDS,
        "Workflows/robin/Records.json": [asks("Write records", "{agent1Input}")],
        "Workflows/game/Chat.json": GAME,
        "Workflows/game/Settings.json": SUMMARIES,
        "Workflows/game/Rolling.json": [ROLLING],
    }
    return write_tree(tmp_path_factory.mktemp("shipped") / "Public", llm.url, files)


@pytest.fixture(scope="module")
def server(public):
    users = ["--User", "robin", "--User", "game"]
    with ServerProcess(public.parent / "data", arguments=["--PublicDirectory", str(public), *users]) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(server, llm):
    settle(server)
    llm.clear()
    llm.rule(lambda asked: "Write records" in asked.prompt, "[]")
    llm.rule(lambda asked: "Name the speaker" in asked.prompt, "Of course: <next>Mira</next>")


@pytest.mark.parametrize("name", ["robin", "game"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("discussion", ["", "[DiscussionId]{name}[/DiscussionId]"], ids=["alone", "discussion"])
def test_every_chat_is_answered(server, name, stream, discussion):
    system = {"role": "system", "content": "Be brief. " + discussion.format(name=name)}
    messages = [system, *TALK, {"role": "user", "content": "And then?"}]
    body = {"model": name, "stream": stream, "messages": messages}
    answered = requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=120)
    assert (answered.status_code, "Understood." in answered.text) == (200, True), answered.text
    assert newest_run(server)["status"] == "finished"


def test_files_of_another_machine_are_a_sentence_to_the_workflow_and_a_note_to_its_author(server, llm):
    body: dict[str, Any] = {"model": "robin", "messages": [{"role": "user", "content": "Hello."}]}
    assert requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=120).status_code == 200
    nodes = nodes_of(newest_run(server))
    assert [nodes[title]["output"] for title in ("Who asks", "Who answers")] == [ABSENT, ABSENT]
    assert "is written for Windows" in nodes["Who asks"]["notes"][0]
    assert f"<self>{ABSENT}</self>" in llm.requests[-1].prompt


def test_what_a_model_wrote_between_tags_is_used(server, llm):
    body: dict[str, Any] = {"model": "game", "messages": [{"role": "user", "content": "Go on."}]}
    assert requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=120).status_code == 200
    assert "You are Mira." in llm.requests[-1].prompt


@pytest.mark.slow
def test_the_check_names_the_literal_paths_and_finds_no_error(public):
    done = run("check", "--config-dir", str(public), "--json", cwd=public.parent)
    told = json.loads(done.stdout)
    assert (done.returncode, told["errors"]) == (0, 0)
    assert [problem["path"] for problem in told["problems"]] == ["$[2].filepath", "$.nodes[1].filepath"]
