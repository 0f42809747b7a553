"""Folders of discussions that WilmerAI wrote: the server goes on where they end, and WilmerAI could go on after it.

Built from the documented formats of both releases, and with the names that its documentation gives. In all of them
three chunks are done: the first ends with a sentence, the second with an "ok" that is said at other places too, the
third with braces, which each program hashes in its own way.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from tests.scripted_llm import ScriptedLLM, ThreadedLLM
from tests.serving import ServerProcess
from tests.stages import staged
from tests.tree_kit import Json, newest_run, nodes_of, settle, user, write_tree

SAID = [
    "My aunt keeps forty bees in Ravensburg.",
    "ok",
    "Her neighbour grows tulips behind the mill.",
    "That sounds like a busy little street.",
    "The mill burned down in nineteen twelve.",
    "Was anybody hurt when that happened?",
    "Nobody was, it stood empty in winter.",
    "ok",
    "Her bees swarm when {summer} is hot.",
    'Then write {"swarm": true} in the diary.',
    "I wrote it on the first page.",
    "ok",
]
DONE = (3, 7, 9)  # the places of the messages that end a chunk
LATER = [
    "The tulips were sold to a florist.",
    "Which florist was it, do you know?",
    "It was the one near the harbour.",
    "Then they travel by boat perhaps.",
    "They do, in crates of straw.",
    'The crates say {"fragile"} on top.',
    "ok",
    "Is there anything else about them?",
]
LOOKBACK = 2
SETTLED = SAID + LATER[:-LOOKBACK]
OLD_TEXTS = ("Aunt with bees.", "The mill burned.", "Swarms are noted.")
OLD_SUMMARY = "An aunt, her bees, and a mill."
OLD_TIME = "(Friday, 2025-11-21 16:58:30)"
OTHERS: Mapping[str, bytes] = {
    "condensation_tracker.json": b'{"lastCondensationHash":"abc"}',
    "vision_responses.json": b'{ "picture": "a hive" }\n',
    "state_document.md": "# Bées\r\n".encode(),
    "context_compactor_old.json": b"[ not even JSON",
    "context_compactor_oldest.json": b"",
}

Form = Callable[[str], str]


def raw(text: str) -> str:
    return text


def of_2025(text: str) -> str:
    return text.replace("{", "|{{|").replace("}", "|}}|")


def of_2026(text: str) -> str:
    return text.replace("{", "__WILMER_L_CURLY__").replace("}", "__WILMER_R_CURLY__")


def hashed(text: str, form: Form = raw) -> str:
    return hashlib.sha256(form(text).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where a release keeps the files of the discussion `id`, below the folder of discussions."""

    id: str
    memories: str
    summary: str
    times: str
    records: str
    form: Form
    as_lines: bool = False

    def memory_entries(self) -> list[dict[str, str]]:
        ends = [hashed(SAID[at], self.form) for at in DONE]
        return [{"text_block": text, "hash": end} for text, end in zip(OLD_TEXTS, ends, strict=True)]

    def encoded(self, entries: Sequence[object]) -> str:
        if self.as_lines:
            return "".join(json.dumps(entry) + "\n" for entry in entries)
        return json.dumps(entries, indent=4)

    def decoded(self, text: str) -> list[dict[str, object]]:
        if self.as_lines:
            return [json.loads(line) for line in text.splitlines()]
        found: list[dict[str, object]] = json.loads(text)
        assert text == json.dumps(found, indent=4), "in the form in which it was"
        return found


def flat(id: str, form: Form) -> Layout:
    return Layout(
        id=id,
        memories=f"{id}_memories.json",
        summary=f"{id}_chat_summary.json",
        times=f"{id}_timestamps.json",
        records=f"../Public/{id}_vector_memory.db",
        form=form,
    )


def nested(id: str, form: Form) -> Layout:
    return Layout(
        id=id,
        memories=f"{id}/memories.json",
        summary=f"{id}/chat_summary.json",
        times=f"{id}/timestamps.json",
        records=f"{id}/vector_memory.db",
        form=form,
    )


def documented(id: str, *, as_lines: bool) -> Layout:
    return Layout(
        id=id,
        memories=f"{id}_memories.jsonl",
        summary=f"{id}_summary.jsonl",
        times=f"{id}/timestamps.json",
        records=f"{id}_vector_memory.db",
        form=raw,
        as_lines=as_lines,
    )


LAYOUTS = [
    flat("of-2025", of_2025),
    flat("of-2025-raw", raw),
    nested("of-2026", of_2026),
    nested("Of 2026, é", raw),
    documented("as-array", as_lines=False),
    documented("as-lines", as_lines=True),
]
EACH_LAYOUT = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.id)

TABLES = """
CREATE TABLE memories (id INTEGER PRIMARY KEY, discussion_id TEXT NOT NULL, memory_text TEXT NOT NULL,
                       date_added TEXT NOT NULL, metadata_json TEXT);
CREATE VIRTUAL TABLE memories_fts USING fts5(title, summary, entities, key_phrases, memory_text_unweighted,
                                             tokenize='porter');
"""
TRACKER = """
CREATE TABLE vector_memory_tracker (discussion_id TEXT PRIMARY KEY, last_checked_message_hash TEXT NOT NULL,
                                    last_updated TIMESTAMP NOT NULL);
"""
HASH_LOG = """
CREATE TABLE vector_memory_hash_log (id INTEGER PRIMARY KEY AUTOINCREMENT, discussion_id TEXT NOT NULL,
                                     message_hash TEXT NOT NULL, timestamp DATETIME NOT NULL);
CREATE TABLE memory_embeddings (memory_id INTEGER, model TEXT, dim INTEGER, vector BLOB,
                                PRIMARY KEY (memory_id, model));
"""


def write_records(file: Path, layout: Layout) -> None:
    """A database with one record, whose progress stands in the tracker of 2025 or in the hash log of 2026."""
    hashes = [hashed(SAID[at], layout.form) for at in DONE]
    summary = "Forty bees live in Ravensburg."
    metadata = {"title": "Bees", "summary": summary, "entities": ["Ravensburg"], "key_phrases": ["forty bees"]}
    with closing(sqlite3.connect(file)) as database, database:
        database.executescript(TABLES + (TRACKER if "2025" in layout.id else HASH_LOG))
        row = (layout.id, summary, "2025-11-21T15:58:30+00:00", json.dumps(metadata))
        database.execute("INSERT INTO memories VALUES (1, ?, ?, ?, ?)", row)
        database.execute(
            "INSERT INTO memories_fts (rowid, title, summary, entities, key_phrases, memory_text_unweighted)"
            " VALUES (1, 'Bees', ?, 'Ravensburg', 'forty bees', ?)",
            (summary, summary),
        )
        if "2025" in layout.id:
            logged_at = (layout.id, hashes[-1], "2025-11-21 15:58:30")
            database.execute("INSERT INTO vector_memory_tracker VALUES (?, ?, ?)", logged_at)
            return
        logged = [(layout.id, hash_, "2025-11-21T15:58:30+00:00") for hash_ in hashes]
        database.executemany(
            "INSERT INTO vector_memory_hash_log (discussion_id, message_hash, timestamp) VALUES (?, ?, ?)", logged
        )
        database.execute("INSERT INTO memory_embeddings VALUES (1, 'theirs', 2, x'0000803f00000000')")


def write_folder(root: Path, layout: Layout) -> None:
    entries = layout.memory_entries()
    (root / layout.id).mkdir(parents=True)
    (root / layout.memories).write_text(layout.encoded(entries))
    (root / layout.summary).write_text(layout.encoded([{"text_block": OLD_SUMMARY, "hash": entries[-1]["hash"]}]))
    (root / layout.times).write_text(json.dumps({hashed(SAID[11], layout.form): OLD_TIME}, indent=4))
    write_records(root / layout.records, layout)
    for name, content in OTHERS.items():
        (root / layout.id / name).write_bytes(content)


SETTINGS = {
    "useVectorForQualityMemory": True,
    "endpointName": "Main",
    "systemPrompt": "SUMMARISE",
    "prompt": "[TextChunk]",
    "chunkEstimatedTokenSize": 40,
    "maxMessagesBetweenChunks": 4,
    "vectorMemoryChunkEstimatedTokenSize": 40,
    "vectorMemoryMaxMessagesBetweenChunks": 4,
    "lookbackStartTurn": LOOKBACK,
}
FOLD = {
    "title": "Fold in",
    "type": "chatSummarySummarizer",
    "endpointName": "Main",
    "systemPrompt": "FOLD",
    "prompt": "[CHAT_SUMMARY]<<[LATEST_MEMORIES]",
    "minMemoriesPerSummary": 1,
}
CHAT = [
    {"title": "Found", "type": "VectorMemorySearch", "input": "Ravensburg;florist;nobody says this", "limit": 9},
    {"title": "All", "type": "GetCurrentMemoryFromFile", "customDelimiter": "|"},
    {"title": "Summary", "type": "GetCurrentSummaryFromFile"},
    {
        "title": "Answer",
        "type": "Standard",
        "endpointName": "Main",
        "systemPrompt": "ANSWER",
        "prompt": "",
        "lastMessagesToSendInsteadOfPrompt": 30,
        "addDiscussionIdTimestampsForLLM": True,
        "returnToUser": True,
    },
    {"title": "Lock", "type": "WorkflowLock", "workflowLockId": "memory of {Discussion_Id}"},
    {"title": "Records", "type": "QualityMemory"},
    {"title": "Summaries", "type": "FullChatSummary"},
]


def answer(asked):
    system, *rest = (message["content"] for message in asked.body["messages"])
    if system.startswith("ANSWER"):
        return "Go on."
    if system == "SUMMARISE":
        return f"About: {rest[-1].splitlines()[0]}"
    if system == "FOLD":
        return f"{rest[-1].partition('<<')[0]} More."
    told = next(text for text in (*LATER, *SAID) if text != "ok" and text in rest[-1])
    return json.dumps([{"title": "T", "summary": told, "entities": [], "key_phrases": []}])


@pytest.fixture(scope="module")
def llm():
    with ScriptedLLM.in_thread() as scripted:
        scripted.rule(lambda asked: True, answer)
        yield scripted


def serving(folder: Path, llm: ThreadedLLM, **members: object) -> ServerProcess:
    files = {
        "Users/ann.json": user(
            discussionDirectory=str(folder / "talks"),
            discussionIdMemoryFileWorkflowSettings="Memory",
            chatSummaryToolWorkflow="Fold",
            **members,
        ),
        "Workflows/Ann/Chat.json": CHAT,
        "Workflows/Ann/Fold.json": [FOLD],
        "Workflows/Ann/Memory.json": SETTINGS,
    }
    tree = write_tree(folder / "Public", llm.url, files)
    return ServerProcess(folder / "data", arguments=[str(tree), "Ann"])


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("continued") / "talks"


@pytest.fixture(scope="module")
def server(root, llm):
    with serving(root.parent, llm) as process:
        yield process


@pytest.fixture(autouse=True)
def _fresh(llm, server):
    settle(server)
    llm.clear()


def told(server: ServerProcess, discussion: str, said: Sequence[str]) -> Json:
    """Say it all in the discussion; the trace of the run, when all is done."""
    messages = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    messages[0]["content"] += f"[DiscussionId]{discussion}[/DiscussionId]"
    reply = requests.post(f"{server.url}/v1/chat/completions", json={"messages": messages}, timeout=60)
    assert reply.status_code == 200, reply.text
    assert reply.json()["choices"][0]["message"]["content"] == "Go on."
    settle(server)
    return newest_run(server)


def talk(server: ServerProcess, discussion: str, said: Sequence[str]) -> dict[str, str]:
    """The same, for the outputs of the nodes by their titles."""
    nodes = nodes_of(told(server, discussion, said))
    assert [node["error"] for node in nodes.values() if node["error"]] == []
    return {title: node["output"] for title, node in nodes.items()}


def asked_as(llm: ThreadedLLM, system: str) -> list[str]:
    """What a model was asked under that system prompt."""
    asked = [[message["content"] for message in asked.body["messages"]] for asked in llm.requests]
    return [texts[-1] for texts in asked if texts[0] == system]


def left_of_memories(entries: Sequence[Mapping[str, object]], said: Sequence[str], form: Form) -> Sequence[str]:
    """What the 2026 release would still find new: all that is settled behind the newest message whose hash it has."""
    stored = {entry["hash"] for entry in entries}
    settled = len(said) - LOOKBACK
    at = next((at for at in range(settled - 1, -1, -1) if hashed(said[at], form) in stored), -1)
    return said[at + 1 : settled]


def left_of_records(
    file: Path, discussion: str, said: Sequence[str], form: Form
) -> tuple[Sequence[str], Sequence[str]]:
    """What each release would make records of: by the tracker (2025), by the last ten of the hash log (2026)."""
    with closing(sqlite3.connect(file)) as database:
        (tracked,) = database.execute(
            "SELECT last_checked_message_hash FROM vector_memory_tracker WHERE discussion_id = ?", (discussion,)
        ).fetchone()
        logged = database.execute(
            "SELECT message_hash FROM vector_memory_hash_log WHERE discussion_id = ? ORDER BY id DESC LIMIT 10",
            (discussion,),
        ).fetchall()
    settled = said[:-LOOKBACK]
    last = {hashed(text, form): at for at, text in enumerate(settled)}
    first = next((last[hash_] for (hash_,) in logged if hash_ in last), -1)
    return settled[last.get(tracked, -1) + 1 :], settled[first + 1 :]


@EACH_LAYOUT
def test_a_folder_is_gone_on_with_where_it_ends_and_its_program_could_go_on_again(server, llm, root, layout):
    write_folder(root, layout)
    outputs = talk(server, layout.id, SAID + LATER)
    assert outputs["All"] == "|".join(OLD_TEXTS)
    assert outputs["Summary"] == OLD_SUMMARY
    assert "Forty bees live in Ravensburg." in outputs["Found"]

    new = SETTLED[DONE[-1] + 1 :]
    summarised = asked_as(llm, "SUMMARISE")
    assert "\n".join(summarised) == "\n".join(new), "nothing is summed up again, and nothing is left out"
    entries = layout.decoded((root / layout.memories).read_text())
    assert [entry["text_block"] for entry in entries[:3]] == list(OLD_TEXTS)
    assert [entry["hash"] for entry in entries[:3]] == [entry["hash"] for entry in layout.memory_entries()]
    assert [entry["text_block"] for entry in entries[3:]] == [f"About: {text.splitlines()[0]}" for text in summarised]
    assert left_of_memories(entries, SAID + LATER, of_2026) == []

    folds = asked_as(llm, "FOLD")
    assert folds[0].startswith(f"{OLD_SUMMARY}<<About: I wrote it")
    (summary,) = layout.decoded((root / layout.summary).read_text())
    assert summary["text_block"] == OLD_SUMMARY + " More." * len(folds)
    assert summary["hash"] == entries[-1]["hash"]

    assert left_of_records(root / layout.records, layout.id, SAID + LATER, of_2026) == ([], [])
    times = json.loads((root / layout.times).read_text())
    assert times[hashed(SAID[11], layout.form)] == OLD_TIME
    assert len(times) > len(SAID)
    assert f"{OLD_TIME} ok" in [message["content"] for message in llm.requests[0].body["messages"]]
    assert {name: (root / layout.id / name).read_bytes() for name in OTHERS} == OTHERS

    llm.clear()
    outputs = talk(server, layout.id, SAID + LATER)
    assert [asked.body["messages"][0]["content"] for asked in llm.requests] == ["ANSWER"], "all is done"
    assert "Forty bees live in Ravensburg." in outputs["Found"]
    assert LATER[0] in outputs["Found"]


def test_the_empty_arrays_that_the_2026_release_makes_are_filled(server, llm, root):
    layout = nested("empty", raw)
    (root / layout.id).mkdir(parents=True)
    for file in (layout.memories, layout.summary):
        (root / file).write_text("[]")
    outputs = talk(server, layout.id, SAID)
    assert outputs["All"] == "There are not yet any memories"
    assert "\n".join(asked_as(llm, "SUMMARISE")) == "\n".join(SAID[:-LOOKBACK])
    entries = layout.decoded((root / layout.memories).read_text())
    (summary,) = layout.decoded((root / layout.summary).read_text())
    assert summary["hash"] == entries[-1]["hash"]
    assert left_of_memories(entries, SAID, of_2026) == []


def test_messages_are_known_again_with_the_role_names_that_the_user_asked_for(tmp_path, llm):
    layout = nested("prefixed", lambda text: f"{'User' if SAID.index(text) % 2 == 0 else 'Assistant'}: {text}")
    write_folder(tmp_path / "talks", layout)
    with serving(tmp_path, llm, chatCompleteAddUserAssistant=True) as server:
        talk(server, layout.id, SAID + LATER)
    assert asked_as(llm, "SUMMARISE")[0].startswith("User: I wrote it on the first page.")
    entries = layout.decoded((tmp_path / "talks" / layout.memories).read_text())
    assert entries[-1]["hash"] == hashed("Assistant: " + of_2026(SETTLED[-1]))


@pytest.mark.parametrize(
    "damage", staged([b'[{"text_block": "half', b"\xff\xfe", b'{"a": 1}', b"not a database" * 99], quick=1)
)
@pytest.mark.parametrize("kind", ["memories", "summary", "records"])
def test_a_damaged_file_is_left_as_it_is_and_the_chat_goes_on(server, llm, root, kind, damage):
    layout = nested(f"damaged {kind} {damage[:3].hex()}", raw)
    write_folder(root, layout)
    file = root / getattr(layout, kind)
    file.write_bytes(damage)
    run = told(server, layout.id, SAID + LATER)
    assert file.read_bytes() == damage
    assert re.search(rf"{file.name}|left as it is", json.dumps(run))
    others = {"memories": ["Records"], "summary": ["Records"], "records": ["Summaries"]}[kind]
    assert [nodes_of(run)[title]["error"] for title in others] == [None] * len(others)


@pytest.mark.slow
@pytest.mark.parametrize(
    "layout", [flat("back-of-2025", raw), nested("back-of-2026", of_2026)], ids=lambda layout: layout.id
)
def test_after_its_program_went_on_nothing_of_either_is_summed_up_again(server, llm, root, layout):
    write_folder(root, layout)
    talk(server, layout.id, SAID + LATER)
    llm.clear()

    more = [f"Sentence number {number} is about the harbour." for number in range(1, 11)]
    ours = layout.decoded((root / layout.memories).read_text())
    theirs = {"text_block": "By the other program.", "hash": hashed(more[1])}
    kept = [
        {"text_block": entry["text_block"], "hash": entry["hash"]} for entry in ours
    ]  # it drops what it knows not
    (root / layout.memories).write_text(layout.encoded([*kept, theirs]))
    talk(server, layout.id, SAID + LATER + more)
    summarised = "\n".join(asked_as(llm, "SUMMARISE"))
    assert summarised == "\n".join(more[2:-LOOKBACK])
    entries = layout.decoded((root / layout.memories).read_text())
    assert [entry["text_block"] for entry in entries][: len(ours) + 1] == [
        *(entry["text_block"] for entry in ours),
        "By the other program.",
    ]
    assert left_of_memories(entries, SAID + LATER + more, of_2026) == []
