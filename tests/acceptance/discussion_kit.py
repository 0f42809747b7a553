"""A server over a tree that keeps every kind of memory of discussions, and a model that tells what it was shown.

Every message of a conversation here bears a mark like `m012`. What the model says about an excerpt repeats the marks
in it, so that a test can tell what each memory is of, that none is missing and that none is there twice.
"""

import contextlib
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import requests

from tests.scripted_llm import Answer, Asked, ScriptedLLM, ThreadedLLM
from tests.serving import ServerProcess
from tests.tree_kit import settle, user, write_json, write_tree

Json = dict[str, Any]
LEFT_ALONE = 2  # of the newest messages nothing is remembered yet
SETTINGS: Json = {
    "endpointName": "Memory",
    "systemPrompt": "SUMMARISE",
    "prompt": "[TextChunk]",
    "chunkEstimatedTokenSize": 40,
    "maxMessagesBetweenChunks": 4,
    "lookbackStartTurn": LEFT_ALONE,
    "useVectorForQualityMemory": True,
    "vectorMemoryChunkEstimatedTokenSize": 40,
    "vectorMemoryMaxMessagesBetweenChunks": 4,
}
FOLD = {
    "title": "Fold in",
    "type": "chatSummarySummarizer",
    "endpointName": "Memory",
    "systemPrompt": "FOLD",
    "prompt": "[CHAT_SUMMARY]\n[LATEST_MEMORIES]",
    "minMemoriesPerSummary": 1,
}
READ = [
    {"title": "Summary", "type": "GetCurrentSummaryFromFile"},
    {"title": "Lately", "type": "RecentMemorySummarizerTool", "maxTurnsToPull": 0, "maxSummaryChunksFromFile": -1},
    {"title": "Found", "type": "VectorMemorySearch", "input": "{chat_user_prompt_last_one}", "limit": 5},
]
ANSWER = {
    "title": "Answer",
    "type": "Standard",
    "endpointName": "Main",
    "systemPrompt": "ANSWER\nso far: {agent1Output}\nlately: {agent2Output}\nfound: {agent3Output}\nend",
    "prompt": "",
    "lastMessagesToSendInsteadOfPrompt": 2,
    "returnToUser": True,
}
MAKE = [
    {"title": "Lock", "type": "WorkflowLock", "workflowLockId": "memory of {Discussion_Id}"},
    {"title": "Sum up", "type": "FullChatSummary"},
    {"title": "Record", "type": "QualityMemory"},
]
_MARK = re.compile(r"\b[a-z]\d{3}\b")


def marks_in(text: str) -> list[str]:
    """The marks of messages, in order."""
    return _MARK.findall(text)


def said(count: int, *, first: int = 1, series: str = "m") -> list[Json]:
    """Messages of user and assistant in turn, each with a mark of its own: `m001`, `m002` and so on."""
    roles = ("user", "assistant")
    return [
        {"role": roles[(number - 1) % 2], "content": f"{series}{number:03} is a line with words of its own."}
        for number in range(first, first + count)
    ]


def marks_of(messages: Sequence[Json]) -> list[str]:
    """The marks of a conversation, in order."""
    return [mark for message in messages for mark in marks_in(message["content"])]


def settled(messages: Sequence[Json]) -> list[str]:
    """The marks of those messages that memories are made of."""
    return marks_of(messages[:-LEFT_ALONE])


def kind_of(asked: Asked) -> str:
    """What the model is asked for: `answer`, `summaries`, `rolling` or `records`."""
    system = asked.body["messages"][0]["content"]
    kinds = {"ANSWER": "answer", "SUMMARISE": "summaries", "FOLD": "rolling"}
    return next((kind for begin, kind in kinds.items() if system.startswith(begin)), "records")


def record_of(mark: str, **more: object) -> Json:
    """A record as the model words it."""
    return {"title": mark, "summary": f"About {mark}.", "entities": [], "key_phrases": [f"words of {mark}"], **more}


def shown_in(asked: Asked) -> list[str]:
    """The marks of what a model is to make a memory of."""
    return marks_in(asked.body["messages"][-1]["content"])


def memory_of(asked: Asked) -> str:
    """What a sound model makes of it."""
    marks = shown_in(asked)
    if kind_of(asked) == "records":
        return json.dumps([record_of(mark) for mark in marks])
    return "Kept: " + " ".join(marks)


class MemoryModel:
    """Answers everything a tree asks. `trouble` is asked first about each question on memory; None is no trouble."""

    def __init__(self, llm: ThreadedLLM) -> None:
        self.llm = llm
        self.trouble: Callable[[Asked], Answer | str | None] = lambda asked: None
        self.shown: dict[str, Counter[str]] = {kind: Counter() for kind in ("summaries", "rolling", "records")}
        llm.rule(lambda asked: True, self._answer)

    def questions(self, kind: str) -> list[Asked]:
        """What was asked of that kind since the last `clear`."""
        return [asked for asked in self.llm.requests if kind_of(asked) == kind]

    def clear(self) -> None:
        """Forget what was asked, and have no trouble."""
        self.trouble = lambda asked: None
        self.llm.clear()
        for shown in self.shown.values():
            shown.clear()

    def at_question(self, count: int, *, kind: str = "", is_silent: bool = True) -> threading.Event:
        """Set when the question of that number comes, from 1; it and those behind it then wait for `release`.

        Only questions of that kind count, or all on memory.
        """
        reached, come = threading.Event(), 0

        def trouble(asked: Asked) -> Answer | None:
            nonlocal come
            come += not kind or kind_of(asked) == kind
            if come < count:
                return None
            reached.set()
            return Answer(silent=True, text=memory_of(asked)) if is_silent else None

        self.trouble = trouble
        return reached

    def _answer(self, asked: Asked) -> Answer | str:
        kind = kind_of(asked)
        if kind == "answer":
            return "Go on."
        self.shown[kind].update(shown_in(asked))
        trouble = self.trouble(asked)
        return memory_of(asked) if trouble is None else trouble


@dataclass(kw_only=True)
class House:
    """The server, its tree and its model; `user` is who chats unless a chat says otherwise."""

    folder: Path
    server: ServerProcess
    model: MemoryModel
    user: str
    session: requests.Session = field(default_factory=requests.Session)

    @property
    def root(self) -> Path:
        """Where the discussions of a single user are."""
        return self.folder / "Public" / "DiscussionIds"

    def write(self, path: str, content: object) -> None:
        """A file of the tree, below its Configs; it counts from the next request on."""
        write_json(self.folder / "Public" / "Configs" / path, content)

    def memory_asks(self, url: str) -> None:
        """Let the endpoint of memory be at that address from now on."""
        self.write("Endpoints/Memory.json", endpoint(url))

    def post(
        self, messages: Sequence[Json], headers: Mapping[str, Any] | None = None, **body: Any
    ) -> requests.Response:
        """A chat as it is sent."""
        url = f"{self.server.url}/v1/chat/completions"
        return self.session.post(
            url, json={"messages": messages, "model": self.user, **body}, headers=headers, timeout=30
        )

    def chat(self, id: str, messages: Sequence[Json], *, settles: bool = True, **body: Any) -> None:
        """A chat of that discussion, which is answered. It `settles` when all that runs behind its answer is over."""
        reply = self.post(messages, metadata={"session_id": id}, **body)
        assert (reply.status_code, reply.json()["choices"][0]["message"]["content"]) == (200, "Go on."), reply.text
        if settles:
            settle(self.server)

    def get(self, id: str, below: str = "", **query: Any) -> Json:
        """What `/api/discussions` tells of one."""
        url = f"{self.server.url}/api/discussions/{quote(id, safe='')}{below}"
        told = self.session.get(url, params=cast(Any, query), timeout=60)
        assert told.status_code == 200, told.text
        answer: Json = told.json()
        return answer

    def summaries(self, id: str, **user: str) -> list[str]:
        """The marks in the live chunk summaries, in their order."""
        found = self.get(id, "/memories", limit=1000, **user)["results"]
        return [mark for one in found for mark in marks_in(one["text"])]

    def records(self, id: str, **user: str) -> list[str]:
        """The marks in the records, sorted."""
        found = self.get(id, "/memories", kind="records", limit=1000, **user)["results"]
        return sorted(mark for one in found for mark in marks_in(one["text"]))

    def rolling(self, id: str) -> list[str]:
        """The marks in the rolling summary, in their order."""
        summary = self.get(id, "/summary")["summary"]
        return marks_in(summary["text"]) if summary else []

    def remembers(self, id: str, marks: Sequence[str]) -> None:
        """Fail unless chunk summaries and records are of these marks, of each once."""
        assert self.summaries(id) == list(marks)
        assert self.records(id) == sorted(marks)

    def notes(self) -> str:
        """All that the traces of runs say, one after the other."""
        listed = self.session.get(f"{self.server.url}/api/runs?limit=20", timeout=60).json()["results"]
        runs = [self.session.get(f"{self.server.url}/api/runs/{run['id']}", timeout=60).text for run in listed]
        return "\n".join(runs)


def endpoint(url: str) -> Json:
    return {
        "endpoint": url,
        "apiTypeConfigFileName": "Open-AI-API",
        "modelNameToSendToAPI": "far-model",
        "maxContextTokenSize": 8192,
    }


def tree_files(url: str, *users: str) -> Mapping[str, object]:
    """The files of a tree for these users beyond the common ones; every file may be replaced later."""
    files: dict[str, object] = {
        "Endpoints/Memory.json": endpoint(url),
        "Users/_current-user.json": {"currentUser": users[0]},
    }
    for name in users:
        files |= {
            f"Users/{name.lower()}.json": user(
                discussionIdMemoryFileWorkflowSettings="Memory", chatSummaryToolWorkflow="Fold"
            ),
            f"Workflows/{name}/Chat.json": [*READ, ANSWER, *MAKE],
            f"Workflows/{name}/Fold.json": [FOLD],
            f"Workflows/{name}/Memory.json": SETTINGS,
        }
    return files


@contextlib.contextmanager
def open_house(folder: Path, *users: str) -> Iterator[House]:
    """A house for these users, `Ann` when none are named."""
    users = users or ("Ann",)
    with ScriptedLLM.in_thread() as llm, requests.Session() as session:
        tree = write_tree(folder / "Public", llm.url, tree_files(llm.url, *users))
        # a chat that nobody waits for long: what fails is asked once
        chosen = [word for name in users for word in ("--User", name)]
        environment = {"MNEMOIR_LLM__TRIES": "1"}
        server = ServerProcess(folder / "data", arguments=[str(tree), *chosen], environment=environment)
        with server:
            yield House(folder=folder, server=server, model=MemoryModel(llm), user=users[0], session=session)
