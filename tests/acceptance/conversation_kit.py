"""A server that keeps conversations, and how tests talk to it: chats of apps, and the routes under /api.

Its model answers each question with words of its own that tell which question it was, so a test can tell whose words
an answer holds, and a regenerated answer from the first one.
"""

import contextlib
import hashlib
import itertools
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from tests.remembering_model import learn_every_turn
from tests.scripted_llm import Answer, Asked, ScriptedLLM, ThreadedLLM
from tests.serving import ServerProcess

Json = dict[str, Any]
CHAT = "/v1/chat/completions"
CONVERSATIONS = "/api/conversations"
FOLDER = "conversations"


def said(text: object) -> Json:
    """A user's message."""
    return {"role": "user", "content": text}


def answered(text: str) -> Json:
    """An assistant's message."""
    return {"role": "assistant", "content": text}


def lines_of(messages: Iterable[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """Role and content of each."""
    return [(message["role"], message["content"]) for message in messages]


class AnsweringModel:
    """Answers what it is asked: `ready` first, then "Answer 1 to …" with the last message's text.

    A question that is sent again is answered in other words. A model that `learns` finds a fact in each thing a user
    says, unless `when_learning` has another answer.
    """

    def __init__(self, llm: ThreadedLLM, *, learns: bool = False) -> None:
        self.llm = llm
        self.when_learning: Callable[[Asked], Answer | None] = lambda asked: None
        if learns:
            learn_every_turn(llm, lambda asked: self.when_learning(asked))
        self.ready: list[Answer] = []
        self._count = itertools.count(1)
        llm.rule(_is_question, self._answer)

    @property
    def last_shown(self) -> list[Json]:
        """The messages of the question asked last."""
        return shown_to([asked for asked in self.llm.requests if _is_question(asked)][-1])

    def _answer(self, asked: Asked) -> Answer | str:
        if self.ready:
            return self.ready.pop(0)
        return f"Answer {next(self._count)} to {text_of(shown_to(asked)[-1])}"


def _is_question(asked: Asked) -> bool:
    return not asked.path.endswith("/embeddings")


def shown_to(asked: Asked) -> list[Json]:
    """The messages that a model was shown."""
    if "messages" in asked.body:
        return list(asked.body["messages"])
    system, given = asked.body.get("instructions"), asked.body["input"]
    rest = [said(given)] if isinstance(given, str) else given
    return [*([{"role": "system", "content": system}] if system else []), *rest]


def text_of(message: Mapping[str, Any]) -> str:
    """The words of a message in any protocol's shape."""
    content = message.get("content") or ""
    parts = content if isinstance(content, list) else [{"text": content}]
    return " ".join(part["text"] for part in parts if isinstance(part.get("text"), str))


@dataclass(kw_only=True)
class Place:
    """The server, its model, and a client of theirs."""

    server: ServerProcess
    model: AnsweringModel
    http: requests.Session = field(default_factory=requests.Session)

    @property
    def conversations(self) -> Path:
        """Where all users have their folders."""
        return self.server.data_dir / FOLDER

    def post(self, messages: Sequence[Json], id: str | None = None, **body: Any) -> requests.Response:
        """A chat as it is sent."""
        headers = {} if id is None else {"X-Session-Id": id.encode()}
        body = {"model": "any", "messages": list(messages), **body}
        return self.http.post(
            f"{self.server.url}{CHAT}", json=body, headers=headers, timeout=30, stream=bool(body.get("stream"))
        )

    def chat(self, messages: Sequence[Json], id: str | None = None, **body: Any) -> str:
        """The text of the answer."""
        reply = self.post(messages, id, **body)
        assert reply.status_code == 200, reply.text
        text: str = reply.json()["choices"][0]["message"]["content"]
        return text

    def ask(self, method: str, path: str = "", **options: Any) -> requests.Response:
        """A request below /api/conversations; every option is one of requests'."""
        return self.http.request(
            method, f"{self.server.url}{CONVERSATIONS}{path}", timeout=options.pop("timeout", 30), **options
        )

    def get(self, path: str = "", **query: Any) -> Json:
        """What a route tells."""
        return told(self.ask("GET", path, params=query))

    def do(self, method: str, path: str = "", body: object = None, **query: Any) -> Json:
        """What a change answers."""
        return told(self.ask(method, path, params=query, json=body))

    def messages(self, id: str, view: str = "thread", **query: Any) -> list[Json]:
        """All messages of a conversation, oldest first."""
        found: list[Json] = []
        cursor: dict[str, str] = {}
        while True:
            page = self.get(f"{path_of(id)}/messages", view=view, **query, **cursor)
            found = [*page["results"], *found] if view == "thread" else [*found, *page["results"]]
            if page["next"] is None:
                return found
            cursor = {"cursor": page["next"]}

    def thread(self, id: str, **query: Any) -> list[tuple[str, Any]]:
        """Role and content of the thread's messages."""
        return lines_of(self.messages(id, **query))

    def ids(self, **query: Any) -> list[str]:
        """The ids of all conversations, newest activity first."""
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = self.get("", **query, **cursor)
            found += [one["id"] for one in page["results"]]
            if page["next"] is None:
                return found
            cursor = {"cursor": page["next"]}

    def flush(self, id: str, **query: Any) -> None:
        """Wait until nothing of the conversation waits for a vector."""
        self.do("POST", f"{path_of(id)}/flush", {}, **query)


def path_of(id: str) -> str:
    """The path of a conversation below /api/conversations, whatever its id."""
    return "/" + quote(id, safe="")


def told(reply: requests.Response) -> Json:
    """The JSON of a success."""
    assert reply.ok, f"{reply.status_code} {reply.request.method} {reply.url}: {reply.text}"
    body: Json = reply.json()
    return body


def environment_of(llm: ThreadedLLM, **more: str) -> dict[str, str]:
    """Of a server that asks this model for everything, and once."""
    return {
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": llm.openai_url,
        "MNEMOIR_LLM__TRIES": "1",
        "MNEMOIR_EMBEDDING__PROVIDER": "openai",
        **more,
    }


@contextlib.contextmanager
def open_place(folder: Path, *, learns: bool = False, **environment: str) -> Iterator[Place]:
    """A server of its own over `folder/data`; where its model `learns`, each thing a user says is a fact."""
    with ScriptedLLM.in_thread() as llm, requests.Session() as http:
        server = ServerProcess(folder / "data", environment=environment_of(llm, **environment))
        with server:
            yield Place(server=server, model=AnsweringModel(llm, learns=learns), http=http)


# --- bytes on the disk


def holds(folder: Path, words: Iterable[str], *more: Path) -> dict[str, list[str]]:
    """Which of the words are somewhere in the bytes of any file: in any case, as UTF-8, UTF-16, or Base64.

    Indexes may leave the beginning of a word to the word in front of it, so a word is found by its end too.
    """
    files = [path for path in (*folder.rglob("*"), *more) if path.is_file()]
    found: dict[str, list[str]] = {}
    for file in files:
        content = file.read_bytes().lower()
        for word in words:
            if any(trace in content for trace in _traces(word)):
                found.setdefault(word, []).append(str(file))
    return found


def _traces(word: str) -> Iterator[bytes]:
    lowered = word.lower()
    end = lowered[len(lowered) // 3 :]
    yield end.encode()
    yield end.encode("utf-16-le")
    for begin in range(3):  # Base64 of a word depends on where in the text it stands
        yield b64encode(word.encode()[begin : begin + (len(word) - begin) // 3 * 3]).lower()


def bytes_below(folder: Path) -> dict[str, str]:
    """A digest of each file, by its place."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
