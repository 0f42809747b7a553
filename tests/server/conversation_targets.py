"""What the tests of conversations' routes share: a server, addresses, conversations begun, messages told in short.

A file of tests has one server (`everyones = shared_server()`), and each test a project of its own in it (`server =
own_project()`): nobody else's conversations are there. Such tests run in the loop of their module.
"""

import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest
import pytest_asyncio

from mnemoir.app.parts import open_parts
from mnemoir.core.scope import Scope
from mnemoir.providers.http import AsgiAnswer
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings
from tests.server.server_kit import JSON, Server

CONVERSATIONS = "/api/conversations"
KEYS = {
    *("id", "title", "user_id", "tags", "custom", "system_prompt", "created_at", "updated_at"),
    *("head", "context_after", "message_count", "preview"),
}
MESSAGE_KEYS = {
    *("id", "parent_id", "role", "content", "tool_calls", "tool_call_id", "name", "created_at"),
    *("turn_id", "run_id", "finish_reason", "pinned", "importance", "on_thread", "siblings", "uid"),
}
NODE = "app%2Fnode"
ATTACHMENT = f"{'0' * 64}.png"
ANSWER = "chatcmpl-0"
# method, what stands behind the id, and a body that is right
ROUTES_OF_ONE: Sequence[tuple[str, str, JSON | None]] = (
    ("GET", "", None),
    ("PATCH", "", {"title": "Tea"}),
    ("DELETE", "", None),
    ("PUT", "/head", {"message_id": 1}),
    ("POST", "/branch", {"message_id": 1}),
    ("POST", "/flush", None),
    ("GET", "/messages", None),
    ("POST", "/messages", {"messages": [{"role": "user", "content": "Hi"}]}),
    ("PATCH", "/messages/1", {"pinned": True}),
    ("GET", "/messages/1/learned", None),
    ("GET", "/answers", None),
    ("GET", f"/answers/{ANSWER}", None),
    ("DELETE", f"/answers/{ANSWER}", None),
    ("GET", "/window", None),
    ("GET", "/branches", None),
    ("GET", "/node-memory", None),
    ("DELETE", "/node-memory", None),
    ("GET", f"/node-memory/{NODE}", None),
    ("DELETE", f"/node-memory/{NODE}", None),
    ("GET", "/export", None),
    ("GET", "/attachments", None),
    ("GET", f"/attachments/{ATTACHMENT}", None),
)
ROUTES_OF_ALL: Sequence[tuple[str, str, JSON | None]] = (
    ("GET", "", None),
    ("DELETE", "", None),
    ("POST", "", {}),
    ("GET", "/search?q=tea", None),
    ("GET", "/export", None),
    ("POST", "/import", {}),
    ("POST", "/prune", {"days": 1}),
    ("POST", "/node-memory/cleanup", {}),
)


_numbers = itertools.count()


@dataclass(frozen=True, kw_only=True)
class OwnProject(Server):
    """A server, asked about one project unless a request names another."""

    project: str

    async def ask(self, method: str, target: str, body: object = None, **headers: str) -> AsgiAnswer:
        return await super().ask(method, target, body, **{"x_etienne_project": self.project, **headers})

    def folder(self, user: str = "user") -> Path:
        """Where a user's conversations are, or would be."""
        return self.parts.chats.conversations.folder_of(Scope(project=self.project, user=user))


def shared_server() -> Any:
    """A fixture: one server for all tests of a module."""

    async def everyones(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
        async with _running(tmp_path_factory.mktemp("shared")) as server:
            yield server

    return pytest_asyncio.fixture(scope="module", loop_scope="module")(everyones)


def own_project() -> Any:
    """A fixture: the server of the module, with a project that no other test has."""

    def server(everyones: Server) -> OwnProject:
        return OwnProject(app=everyones.app, parts=everyones.parts, project=f"project-{next(_numbers)}")

    return pytest.fixture(server)


@asynccontextmanager
async def _running(folder: Path) -> AsyncIterator[Server]:
    given = {"storage.data_dir": str(folder / "data"), "llm.provider": "offline"}
    parts = await open_parts(load_settings(None, given, environ={}))
    try:
        await parts.start()
        app = create_app(parts, ServerOptions())
        yield Server(app=app, parts=parts)
    finally:
        await parts.aclose()


def of(id: str, below: str = "", **query: object) -> str:
    """The target of a request about one conversation."""
    return at(f"/{quote(id, safe='')}{below}", **query)


def at(below: str = "", **query: object) -> str:
    """The target of a request about a user's conversations."""
    asked = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
    return f"{CONVERSATIONS}{below}" + (f"?{asked}" if asked else "")


def said(*texts: str) -> list[JSON]:
    """Messages of a user and an assistant in turn."""
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]


def created(answer: AsgiAnswer) -> Any:
    """The JSON of an answer with status 201."""
    assert answer.status == 201, answer.body
    return orjson.loads(answer.body)


async def begin(server: Server, id: str | None = None, *texts: str, **more: object) -> JSON:
    """A new conversation in which that was said."""
    body = {**({} if id is None else {"id": id}), "messages": said(*texts), **more}
    found: JSON = created(await server.ask("POST", CONVERSATIONS, body))
    return found


async def add(server: Server, id: str, *texts: str, **more: object) -> list[JSON]:
    """The messages that were added to it, as answered."""
    answer = await server.ask("POST", of(id, "/messages"), {"messages": said(*texts), **more})
    found: list[JSON] = created(answer)["results"]
    return found


async def thread(server: Server, id: str, **query: object) -> list[str]:
    """What is said on its thread, oldest first."""
    return told(await server.get(of(id, "/messages", **query)))


def told(page: Mapping[str, Any]) -> list[str]:
    """The contents of a page of messages."""
    return [message["content"] for message in page["results"]]
