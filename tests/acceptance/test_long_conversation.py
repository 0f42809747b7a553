"""A conversation of 300 turns through the chat API: what was said early is at hand when it is long out of sight."""

import itertools
import json
from typing import Any

import pytest
import requests

from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess
from tests.tree_kit import settle, user, write_tree

pytestmark = pytest.mark.slow

TURNS = 300
FACT = "My aunt Wilhelmina keeps bees in Ravensburg."
QUESTION = "Where does Wilhelmina keep her bees?"
SETTINGS = {
    "endpointName": "Main",
    "systemPrompt": "SUMMARISE",
    "prompt": "[TextChunk]",
    "chunkEstimatedTokenSize": 400,
    "maxMessagesBetweenChunks": 20,
    "lookbackStartTurn": 4,
}
FOLD = {
    "title": "Fold in",
    "type": "chatSummarySummarizer",
    "endpointName": "Main",
    "systemPrompt": "FOLD",
    "prompt": "[CHAT_SUMMARY]\n[LATEST_MEMORIES]",
}
READ = [
    {"title": "Summary", "type": "GetCurrentSummaryFromFile"},
    {"title": "Lately", "type": "RecentMemorySummarizerTool", "maxTurnsToPull": 0, "maxSummaryChunksFromFile": 2},
    {"title": "Found", "type": "VectorMemorySearch", "input": "{chat_user_prompt_last_one};Wilhelmina", "limit": 3},
]
ANSWER = {
    "title": "Answer",
    "type": "Standard",
    "endpointName": "Main",
    "systemPrompt": "ANSWER\nso far: {agent1Output}\nlately: {agent2Output}\nfound: {agent3Output}",
    "prompt": "",
    "lastMessagesToSendInsteadOfPrompt": 4,
    "returnToUser": True,
}
MAKE = [
    {"title": "Lock", "type": "WorkflowLock", "workflowLockId": "memory of {Discussion_Id}"},
    {"title": "Remember", "type": "QualityMemory"},
    {"title": "Sum up", "type": "FullChatSummary"},
]


def kept(text):
    """What a model that sums up keeps: the lines that tell of the aunt."""
    return "\n".join(dict.fromkeys(line for line in text.splitlines() if "Wilhelmina" in line)) or "Small talk."


def answer(asked):
    system, *rest = (message["content"] for message in asked.body["messages"])
    if system.startswith("ANSWER"):
        return "Go on."
    if system in ("SUMMARISE", "FOLD"):
        return kept(rest[-1])
    told = kept(rest[-1])
    record = {"title": "Aunt", "summary": told, "entities": ["Wilhelmina"], "key_phrases": ["bees"]}
    return json.dumps([record] if "Wilhelmina" in told else [])


@pytest.mark.parametrize("records", [False, True], ids=["chunk summaries", "records"])
def test_a_fact_of_turn_3_reaches_the_prompt_at_turn_300(tmp_path, records):
    with ScriptedLLM.in_thread() as llm:
        llm.rule(lambda asked: True, answer)
        files = {
            "Users/ann.json": user(discussionIdMemoryFileWorkflowSettings="Memory", chatSummaryToolWorkflow="Fold"),
            "Users/_current-user.json": {"currentUser": "Ann"},
            "Workflows/Ann/Chat.json": [*READ, ANSWER, *(MAKE[:2] if records else MAKE)],
            "Workflows/Ann/Fold.json": [FOLD],
            "Workflows/Ann/Memory.json": {**SETTINGS, "useVectorForQualityMemory": records},
        }
        tree = write_tree(tmp_path / "Public", llm.url, files)
        with ServerProcess(tmp_path / "data", arguments=[str(tree), "Ann"]) as server, requests.Session() as client:
            history = []
            for turn in range(1, TURNS + 1):
                said = {3: FACT, TURNS: QUESTION}.get(turn, f"This is turn {turn}, about weather number {turn}.")
                history.append({"role": "user", "content": said})
                if turn in (TURNS // 2, TURNS):
                    settle(server)  # what runs behind the answers is waited for twice only
                body: dict[str, Any] = {"messages": history, "metadata": {"session_id": "the long talk"}}
                reply = client.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)
                assert reply.status_code == 200, reply.text
                history.append(reply.json()["choices"][0]["message"])
            settle(server)
            memories = client.get(f"{server.url}/api/discussions/the%20long%20talk/memories", timeout=60)

    [*_, last] = [asked for asked in llm.requests if asked.body["messages"][0]["content"].startswith("ANSWER")]
    system, *sent = [message["content"] for message in last.body["messages"]]
    assert FACT in system
    assert FACT not in sent
    assert memories.status_code == 200
    if not records:
        chunks = [asked.body["messages"][-1]["content"] for asked in llm.requests if "SUMMARISE" in asked.prompt]
        lines = list(itertools.chain.from_iterable(chunk.splitlines() for chunk in chunks))
        turns = [line for line in lines if line.startswith("This is turn")]
        assert len(turns) == len(set(turns)), "nothing is summarised twice"
