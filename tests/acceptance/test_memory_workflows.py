"""Workflows that remember a discussion, as people write them: through every front end, with an id and without."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence

import pytest
import requests

from tests.scripted_llm import Asked, ScriptedLLM, ThreadedLLM, failure
from tests.serving import ServerProcess
from tests.stages import staged
from tests.tree_kit import Json, newest_run, nodes_of, settle, user, write_tree

NO_SUMMARY = "There is not yet a summary file"
NO_MEMORIES = "There are not yet any memories"
FAILING: set[str] = set()  # system prompts that the model fails at
TOO_SHORT = "There are no memories. This conversation has not gone long enough for there to be memories."

SETTINGS = {
    "endpointName": "Main",
    "systemPrompt": "SUMMARISE",
    "prompt": "[TextChunk]",
    "chunkEstimatedTokenSize": 40,
    "maxMessagesBetweenChunks": 3,
    "vectorMemoryChunkEstimatedTokenSize": 40,
    "lookbackStartTurn": 2,
}
# the settings of the reference's worked examples
TRACED = {**SETTINGS, "chunkEstimatedTokenSize": 20, "vectorMemoryChunkEstimatedTokenSize": 20}
FOLD = {
    "title": "Fold in",
    "type": "chatSummarySummarizer",
    "endpointName": "Main",
    "systemPrompt": "FOLD",
    "prompt": "[CHAT_SUMMARY]<<[LATEST_MEMORIES]",
    "loopIfMemoriesExceed": 2,
    "minMemoriesPerSummary": 1,
    "returnToUser": True,
}
LOCK = {"title": "Lock", "type": "WorkflowLock", "workflowLockId": "MemoryLock"}
LATELY = {
    "title": "Lately",
    "type": "RecentMemorySummarizerTool",
    "maxTurnsToPull": 4,
    "maxSummaryChunksFromFile": 2,
    "lookbackStart": 1,
    "customDelimiter": "\n***\n",
}


def asks(title: str, prompt: str = "", **members: object) -> Json:
    said = {"title": title, "type": "Standard", "endpointName": "Main", "systemPrompt": title, "prompt": prompt}
    return said | members


def answers(*earlier: int, **members: object) -> Json:
    """The responder, which is shown the outputs of these nodes."""
    shown = "|".join(f"{{agent{number}Output}}" for number in earlier)
    return asks(f"ANSWER {shown}", "", returnToUser=True, **members)


GAME_BOT: list[Json] = [
    {"title": "Summary", "type": "GetCurrentSummaryFromFile"},
    LATELY,
    answers(1, 2),
    LOCK,
    {"title": "Sum up", "type": "FullChatSummary", "isManualConfig": False},
]
ASSISTANT = [
    asks("KEYWORDS", "{chat_user_prompt_last_one}"),
    {"title": "Found", "type": "VectorMemorySearch", "input": "{agent1Output}", "limit": 2},
    answers(2),
    LOCK,
    {"title": "Remember", "type": "QualityMemory"},
]
OLD_ASSISTANT: list[Json] = [
    {"title": "Recent", "type": "RecentMemory"},
    {"title": "Older", "type": "ConversationMemory"},
    {"title": "Whole", "type": "GetCurrentMemoryFromFile", "customDelimiter": "/"},
    {"title": "New", "type": "ChatSummaryMemoryGatheringTool", "maxTurnsToPull": 4},
    answers(1, 2, 3, 4),
]
SEARCHING = {
    "nodes": [
        asks("KEYWORDS", "{chat_user_prompt_last_one}"),
        {"type": "KeywordSearchPerformerTool", "title": "Said", "keywords": "{agent1Output}"},
        {
            "type": "memorykeywordsearchperformertool",
            "title": "Summed up",
            "keywords": "{agent1Output}",
            "searchTarget": "RecentMemories",
        },
        {
            "type": "SlowButQualityRAG",
            "title": "Read",
            "ragTarget": "{agent2Output}--ChunkBreak--{agent3Output}",
            "ragType": "CurrentConversation",
            "endpointName": "Main",
            "systemPrompt": "READ [Chat_Summary]/[Memory_file]/[Full_Memory_file]",
            "prompt": "<[TextChunk]>",
        },
    ]
}
BY_HAND = [
    {"title": "Remember", "type": "QualityMemory"},
    asks("CONDENSE", "All of it"),
    {"title": "Write", "type": "WriteCurrentSummaryToFileAndReturnIt", "input": "By hand: {agent2Output}"},
    {"title": "Manual", "type": "FullChatSummary", "isManualConfig": True},
    answers(3, 4),
]
NOTHING_KEPT: list[Json] = [
    {"title": "Summary", "type": "GetCurrentSummaryFromFile"},
    LATELY,
    {"title": "Whole", "type": "GetCurrentMemoryFromFile"},
    {"title": "Found", "type": "VectorMemorySearch", "input": "tea"},
    {"title": "Manual", "type": "FullChatSummary", "isManualConfig": True},
    {"title": "New", "type": "ChatSummaryMemoryGatheringTool", "maxTurnsToPull": 4},
    {"title": "Sum up", "type": "chatSummarySummarizer", "endpointName": "Main", "prompt": "[CHAT_SUMMARY]"},
    {
        "title": "Words",
        "type": "ConversationalKeywordSearchPerformerTool",
        "keywords": "tea",
        "lookbackStartTurn": 90,
    },
    {"title": "Older", "type": "ConversationMemory"},
    {"title": "Remember", "type": "QualityMemory"},
    {"title": "Chat summary", "type": "FullChatSummary"},
    answers(*range(1, 12)),
]
USERS: Mapping[str, Sequence[Json] | Json] = {
    "gamebot": GAME_BOT,
    "assistant": ASSISTANT,
    "old": OLD_ASSISTANT,
    "hand": BY_HAND,
    "nothing": NOTHING_KEPT,
    "summarizer": [{"title": "Remember", "type": "RecentMemory"}, FOLD],
    "first": [{"title": "Sum up", "type": "FullChatSummary"}, answers(1)],
    "traced": [answers(), {"title": "Remember", "type": "QualityMemory"}],
    "vectors": [answers(addDiscussionIdTimestampsForLLM=True), {"title": "Remember", "type": "QualityMemory"}],
}


def files() -> Mapping[str, object]:
    found: dict[str, object] = {}
    for name, workflow in USERS.items():
        settings = TRACED if name in ("traced", "vectors") else SETTINGS
        found[f"Users/{name}.json"] = user(
            discussionIdMemoryFileWorkflowSettings="Memory.json",
            chatSummaryToolWorkflow="Fold",
            recentMemoryToolWorkflow="" if name == "nothing" else "Recent",
            conversationMemoryToolWorkflow="Searching",
        )
        bodies = {
            "Chat": workflow,
            "Fold": [FOLD],
            "Recent": [LATELY],
            "Searching": SEARCHING,
            "Memory": {**settings, "useVectorForQualityMemory": name in ("assistant", "vectors")},
        }
        found |= {f"Workflows/{name}/{file}.json": body for file, body in bodies.items()}
    return found


def reply(asked: Asked) -> str:
    system, *rest = (message["content"] for message in asked.body["messages"])
    text = rest[-1] if rest else ""
    first = (re.findall(r"\bm\d+\b", text) or ["?"])[0]
    said = {
        "ANSWER": "Hello.",
        "KEYWORDS": "m5 says; about",
        "SUMMARISE": f"about {first}",
        "FOLD": text.replace("\n------------\n", "+"),
        "READ": f"read{text}",
        "CONDENSE": "Tea was had.",
    }
    record = {"title": first, "summary": f"{first} of lilac", "entities": [], "key_phrases": [f"{first} says"]}
    return said.get(system.split()[0]) or json.dumps([record, {"title": "incomplete"}])


def lines(count: int) -> list[Json]:
    """A conversation: `m1 says …`."""
    return [
        {"role": ("user", "assistant")[number % 2], "content": f"m{number + 1} says something about lilac"}
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def llm() -> Iterator[ThreadedLLM]:
    with ScriptedLLM.in_thread() as scripted:
        scripted.rule(lambda asked: asked.body["messages"][0]["content"] in FAILING, failure(500))
        scripted.rule(lambda asked: True, reply)
        yield scripted


@pytest.fixture(scope="module")
def tree(llm, tmp_path_factory):
    return write_tree(tmp_path_factory.mktemp("memory") / "Public", llm.url, files())


@pytest.fixture(scope="module")
def server(tree):
    users = [text for name in USERS for text in ("--user", name)]
    with ServerProcess(tree.parent / "data", arguments=["--config-dir", str(tree), *users]) as process:
        yield process


@pytest.fixture(autouse=True)
def _fresh(server, llm):
    settle(server)
    llm.clear()
    FAILING.clear()


@pytest.fixture
def talk(request):
    """A discussion for each test."""
    return re.sub(r"\W+", "-", request.node.name)


OPENAI, OLLAMA = "/v1/chat/completions", "/api/chat"
FRONT_ENDS = [(route, stream) for route in (OPENAI, OLLAMA) for stream in (False, True)]


def say(
    server: ServerProcess,
    name: str,
    messages: Sequence[Json],
    id: str = "",
    *,
    by: str = "tag",
    route: str = OPENAI,
    stream: bool = False,
) -> str:
    """The answer the client sees; the id of the discussion goes by the tag, by a header or by a member."""
    body: Json = {"model": name, "messages": [dict(message) for message in messages], "stream": stream}
    if id and by == "tag":
        body["messages"][0]["content"] += f"[DiscussionId]{id}[/DiscussionId]"
    elif id and by == "metadata":
        body["metadata"] = {"session_id": id}
    headers = {"X-Session-Id": id} if id and by == "header" else {}
    answer = requests.post(server.url + route, json=body, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    settle(server)
    if not stream:
        told = answer.json()
        return str((told["choices"][0] if route == OPENAI else told)["message"]["content"])
    frames = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    parsed = [json.loads(frame) for frame in frames if frame.startswith("{")]
    if route == OLLAMA:
        return "".join(frame["message"]["content"] for frame in parsed)
    return "".join(choice["delta"].get("content") or "" for frame in parsed for choice in frame["choices"])


def asked_as(llm: ThreadedLLM, begin: str) -> list[tuple[str, str]]:
    """System prompt and last message of what a model was asked under a system prompt that begins so."""
    asked = [[message["content"] for message in asked.body["messages"]] for asked in llm.requests]
    return [(texts[0], texts[-1]) for texts in asked if texts[0].startswith(begin)]


def shown_to_answer(llm: ThreadedLLM) -> str:
    """What the responder was shown last of the nodes before it."""
    return asked_as(llm, "ANSWER")[-1][0].removeprefix("ANSWER ")


SUMMED_UP = f"{NO_SUMMARY}<<about m1+about m2<<about m5+about m8"


@pytest.mark.parametrize("by", staged(["tag", "header", "metadata"], quick=1))
@pytest.mark.parametrize(("route", "stream"), FRONT_ENDS)
def test_a_game_bot_reads_what_it_summed_up_behind_its_answers(server, llm, talk, route, stream, by):
    assert say(server, "gamebot", lines(12), talk, by=by, route=route, stream=stream) == "Hello."
    assert shown_to_answer(llm) == f"{NO_SUMMARY}|No memories have been generated yet"
    assert say(server, "gamebot", lines(14), talk, by=by, route=route, stream=stream) == "Hello."
    assert shown_to_answer(llm) == f"{SUMMED_UP}|about m5\n***\nabout m8"
    assert len(asked_as(llm, "SUMMARISE")) == 4
    assert len(asked_as(llm, "FOLD")) == 2
    assert "DiscussionId" not in json.dumps([asked.body for asked in llm.requests])


@pytest.mark.parametrize(("route", "stream"), FRONT_ENDS)
def test_without_an_id_a_game_bot_is_shown_recent_messages(server, llm, route, stream):
    messages = [{"role": "system", "content": "Play."}, *lines(9)]
    assert say(server, "gamebot", messages, route=route, stream=stream) == "Hello."
    said = "\n".join(message["content"] for message in lines(9)[4:7])
    assert shown_to_answer(llm) == f"{NO_SUMMARY}|{said}"
    assert [asked.body["messages"][0]["content"].split()[0] for asked in llm.requests] == ["ANSWER"]


def test_an_assistant_finds_records_by_keywords_that_a_model_chose(server, llm, talk):
    say(server, "assistant", lines(12), talk)
    assert shown_to_answer(llm) == "No relevant memories found in the vector database for the given keywords."
    say(server, "assistant", lines(13), talk)
    assert shown_to_answer(llm) == "m5 of lilac"
    say(server, "assistant", lines(13))
    assert shown_to_answer(llm) == "Cannot perform VectorMemorySearch without a discussionId."
    assert nodes_of(newest_run(server))["Lately"]["output"].startswith("m9 says")


def test_an_older_assistant_makes_memories_first_and_reads_them_in_every_way(server, llm, talk):
    said = "\n".join(message["content"] for message in lines(11))
    say(server, "old", lines(12), talk)
    recent, older, whole, new = shown_to_answer(llm).split("|")
    assert recent == "about m5\n***\nabout m8"
    assert older == f"read<{said}>read<about m1>"
    assert whole == "about m1/about m2/about m5/about m8"
    assert new == "\n------------\n".join(whole.split("/"))
    kept = whole.split("/")
    earlier = [f"{NO_SUMMARY}/" + "/".join(map("\n--------------\n".join, (kept[-3:], kept)))]
    kept.append(f"read<{said}>")
    earlier += [f"{NO_SUMMARY}/" + "/".join(map("\n--------------\n".join, (kept[-3:], kept)))]
    assert [system for system, _ in asked_as(llm, "READ")] == [f"READ {text}" for text in earlier]


def test_without_an_id_an_older_assistant_is_shown_recent_messages(server, llm):
    say(server, "old", lines(12))
    texts = [message["content"] for message in lines(12)]
    recent, older, whole, new = shown_to_answer(llm).split("|")
    assert (recent, new) == ("\n".join(texts[7:10]), "\n".join(texts[8:11]))
    assert older == whole == NO_MEMORIES


def test_a_summary_may_be_written_by_a_workflow(server, llm, talk):
    say(server, "hand", lines(12), talk)
    assert shown_to_answer(llm) == "|".join(["By hand: Tea was had."] * 2)
    summary = requests.get(f"{server.url}/api/discussions/{talk}/summary?user=hand", timeout=60).json()["summary"]
    assert summary["text"] == "By hand: Tea was had."
    say(server, "hand", lines(12))
    assert shown_to_answer(llm) == "By hand: Tea was had.|None"


def test_what_there_is_nothing_of_is_told_in_fixed_words(server, talk):
    say(server, "nothing", lines(1), talk)
    of_discussion = {title: node["output"] for title, node in nodes_of(newest_run(server)).items()}
    say(server, "nothing", lines(1))
    without = {title: node["output"] for title, node in nodes_of(newest_run(server)).items()}
    both = {"Summary": NO_SUMMARY, "Whole": NO_MEMORIES, "Sum up": NO_SUMMARY, "Words": TOO_SHORT}
    assert {title: of_discussion[title] for title in both} == {title: without[title] for title in both} == both
    told = {
        "Lately": ("No memories have been generated yet", "There are no memories to grab yet"),
        "Found": (
            "No relevant memories found in the vector database for the given keywords.",
            "Cannot perform VectorMemorySearch without a discussionId.",
        ),
        "Manual": ("No summary found", ""),
        "New": ("", "There are no memories to grab yet"),
        "Remember": ("", ""),
        "Chat summary": (NO_SUMMARY, ""),
    }
    assert {title: (of_discussion[title], without[title]) for title in told} == told


@pytest.mark.parametrize(("route", "stream"), FRONT_ENDS)
def test_the_summary_itself_may_be_the_answer(server, talk, route, stream):
    assert say(server, "summarizer", lines(12), talk, route=route, stream=stream) == SUMMED_UP


@pytest.mark.slow
def test_a_chat_is_answered_though_the_summary_before_it_cannot_be_made(server, llm, talk):
    say(server, "first", lines(12), talk)
    FAILING.add("FOLD")
    say(server, "first", lines(20), talk)
    assert shown_to_answer(llm) == SUMMED_UP
    assert "was not updated" in json.dumps(nodes_of(newest_run(server))["Fold in"]["notes"])
    FAILING.clear()
    say(server, "first", lines(20), talk)
    assert shown_to_answer(llm).startswith(f"{SUMMED_UP}<<about ")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *((name, file) for name in ("first", "gamebot", "summarizer") for file in ("memories", "summary")),
        ("old", "memories"),
        ("hand", "memories"),
    ],
)
def test_a_chat_is_answered_though_a_file_of_its_memory_is_damaged(server, llm, tree, talk, name, file):
    damaged = tree / "DiscussionIds" / "%users" / name / f"{talk}_{file}.jsonl"
    damaged.parent.mkdir(parents=True, exist_ok=True)
    damaged.write_bytes(b"[1, 2")
    assert say(server, name, lines(12), talk) == (NO_SUMMARY if name == "summarizer" else "Hello.")
    assert damaged.read_bytes() == b"[1, 2"
    assert "damaged" in json.dumps([node["notes"] for node in nodes_of(newest_run(server)).values()])


# --- the reference's worked examples


def repeated(count: int) -> list[Json]:
    """`m1 m1 m1 `, `m2 m2 m2 ` and so on."""
    return [{"role": ("user", "assistant")[at % 2], "content": f"m{at + 1} " * 3} for at in range(count)]


def test_the_worked_example_of_chunk_summaries_comes_out(server, llm, talk, tree):
    ledger = tree / "DiscussionIds" / "%users" / "traced" / f"{talk}_memories.jsonl"
    made = []
    for count in (4, 10, 12, 14):
        llm.clear()
        say(server, "traced", repeated(count), talk)
        made.append([text.split()[0] + "-" + text.split()[-1] for _, text in asked_as(llm, "SUMMARISE")])
        assert ledger.exists()
    assert made == [[], ["m1-m4", "m5-m8"], [], ["m9-m12"]]
    hashes = [json.loads(line)["hash"] for line in ledger.read_text().splitlines()]
    assert hashes == [hashlib.sha256((f"m{at} " * 3).encode()).hexdigest() for at in (4, 8, 12)]


def test_the_worked_examples_of_records_and_times_come_out(server, llm, talk, tree):
    say(server, "vectors", repeated(8), talk)
    chunks = [re.findall(r"\bm\d\b", text) for system, text in asked_as(llm, "") if "ANSWER" not in system]
    assert chunks == [["m1"] * 3 + ["m2"] * 3] * 2 + [[f"m{at}" for at in range(3, 7) for _ in range(3)]] * 2
    root = tree / "DiscussionIds" / "%users" / "vectors"
    times = json.loads((root / talk / "timestamps.json").read_text())
    assert hashlib.sha256(b"m1 m1 m1 ").hexdigest() in times
    found = requests.get(f"{server.url}/api/discussions/{talk}/records?user=vectors", timeout=60).json()
    assert "incomplete" not in json.dumps(found)
    assert "Item 2 lacks summary" in json.dumps(nodes_of(newest_run(server))["Remember"]["notes"])
