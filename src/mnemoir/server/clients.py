"""Which kinds of clients call this server, and when each did last: who chats, and agents with the tools of memory.

A kind is told by the headers a client sends anyway; a client that cannot be told so may name itself by the header
`X-Mnemoir-Client`. Of each kind only the last call is known, in memory, and nothing of who called or what was said.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from time import time
from typing import Literal, get_args

from starlette.types import ASGIApp, Receive, Scope, Send

from mnemoir.core.clock import to_text
from mnemoir.server.request import route_of

ClientKind = Literal[
    "open-webui",
    "sillytavern",
    "openai-python",
    "openai-node",
    "ollama-python",
    "ollama-js",
    "curl",
    "node-fetch",
    "mcp",
    "mnemoir-ui",
    "mnemoir-chat",
    "mnemoir",
    "other",
]
KINDS: tuple[ClientKind, ...] = get_args(ClientKind)
_LONGEST_MODEL = 128
_TELLING = frozenset({b"x-mnemoir-client", b"sec-fetch-site", b"origin", b"host", b"user-agent"})
# how the User-Agent begins; node-fetch gives its own name for programs that set none, SillyTavern and many others
_AGENTS: tuple[tuple[str, ClientKind], ...] = (
    ("openai/python", "openai-python"),
    ("asyncopenai/python", "openai-python"),
    ("openai/js", "openai-node"),
    ("ollama-python", "ollama-python"),
    ("ollama-js", "ollama-js"),
    ("curl/", "curl"),
    ("sillytavern", "sillytavern"),
    ("node-fetch", "node-fetch"),
    ("mnemoir-mcp/", "mcp"),
    ("mnemoir-cli/", "mnemoir-chat"),
    ("mnemoir/", "mnemoir"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSeen:
    """The last call of one kind of client, and how many there were since the server was started.

    `mnemoir-ui` is the web UI, `mnemoir-chat` the terminal, `mnemoir` another server, `mcp` the tools for agents,
    `node-fetch` any program of that library which does not say what it is. `model` is as it was asked for; it and
    `memory` are None for a call that was no chat.
    """

    kind: ClientKind
    last_at: str
    route: str
    model: str | None
    memory: bool | None
    count: int


class Clients:
    """One place a kind, so it cannot grow. To note a call costs a few microseconds: every chat does."""

    def __init__(self) -> None:
        self._seen: dict[ClientKind, tuple[float, str, str | None, bool | None, int]] = {}

    def note(self, scope: Scope, *, model: str, memory: bool) -> None:
        """A chat was asked for."""
        self._note(kind_of(scope), f"{scope['method']} {scope['path']}", model[:_LONGEST_MODEL], memory)

    def note_tool(self, scope: Scope) -> None:
        """An agent used a tool. The route is told by its template: a path may hold the id of a memory."""
        route = route_of(scope).replace(":path}", "}")
        self._note("mcp", f"{scope['method']} {route}", None, None)

    def _note(self, kind: ClientKind, route: str, model: str | None, memory: bool | None) -> None:
        before = self._seen.get(kind)
        self._seen[kind] = time(), route, model, memory, before[-1] + 1 if before else 1

    def seen(self) -> list[ClientSeen]:
        """Who called last comes first."""
        newest_first = sorted(self._seen.items(), key=lambda item: item[1][0], reverse=True)
        return [
            ClientSeen(
                kind=kind,
                last_at=to_text(datetime.fromtimestamp(at, UTC)),
                route=route,
                model=model,
                memory=memory,
                count=count,
            )
            for kind, (at, route, model, memory, count) in newest_first
        ]


class ToolsSeen:
    """Notes the requests of `mnemoir mcp`, a process of its own in which each tool is one request to these routes."""

    def __init__(self, app: ASGIApp, clients: Clients) -> None:
        self._app = app
        self._clients = clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
        if scope["type"] == "http" and kind_of(scope) == "mcp":
            self._clients.note_tool(scope)


def kind_of(scope: Scope) -> ClientKind:
    """What sent this request, as far as its headers tell."""
    told: dict[bytes, bytes] = {}
    is_open_webui = False
    for name, value in scope["headers"]:
        if name in _TELLING:
            told[name] = value
        elif name.startswith(b"x-openwebui-"):
            is_open_webui = True
    named = told.get(b"x-mnemoir-client", b"").decode("latin-1")
    if named in KINDS:
        return named
    if is_open_webui:
        return "open-webui"
    return "mnemoir-ui" if _is_own_page(told) else _kind_of_agent(told.get(b"user-agent", b""))


def _is_own_page(told: Mapping[bytes, bytes]) -> bool:
    """A browser tells where a page is from; over plain HTTP from another machine only its origin."""
    if told.get(b"sec-fetch-site") == b"same-origin":
        return True
    origin = told.get(b"origin")
    return origin is not None and origin.partition(b"://")[2] == told.get(b"host")


@lru_cache(maxsize=256)  # clients send the same one with every request
def _kind_of_agent(agent: bytes) -> ClientKind:
    said = agent.decode("latin-1").lower()
    return next((kind for beginning, kind in _AGENTS if said.startswith(beginning)), "other")
