"""What the tests of conversations' routes share: addresses, conversations begun, messages told in short."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import orjson

from mnemoir.providers.asgi_call import AsgiAnswer
from tests.server.server_kit import JSON, Server

CONVERSATIONS = "/api/conversations"
KEYS = {
    *("id", "title", "user_id", "tags", "custom", "system_prompt", "created_at", "updated_at"),
    *("head", "context_after", "message_count", "preview"),
}
MESSAGE_KEYS = {
    *("id", "parent_id", "role", "content", "tool_calls", "tool_call_id", "name", "created_at"),
    *("turn_id", "run_id", "finish_reason", "pinned", "importance", "on_thread"),
}
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
    ("GET", "/window", None),
    ("GET", "/export", None),
)
ROUTES_OF_ALL: Sequence[tuple[str, str, JSON | None]] = (
    ("GET", "", None),
    ("POST", "", {}),
    ("GET", "/search?q=tea", None),
    ("GET", "/export", None),
    ("POST", "/import", {}),
    ("POST", "/prune", {"days": 1}),
)


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
    return created(await server.ask("POST", CONVERSATIONS, body))


async def add(server: Server, id: str, *texts: str, **more: object) -> list[JSON]:
    """The messages that were added to it, as answered."""
    answer = await server.ask("POST", of(id, "/messages"), {"messages": said(*texts), **more})
    return created(answer)["results"]


async def thread(server: Server, id: str, **query: object) -> list[str]:
    """What is said on its thread, oldest first."""
    return told(await server.get(of(id, "/messages", **query)))


def told(page: Mapping[str, Any]) -> list[str]:
    """The contents of a page of messages."""
    return [message["content"] for message in page["results"]]
