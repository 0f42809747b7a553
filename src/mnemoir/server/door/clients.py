"""The kinds of clients that call this server, each with its last call: chat clients, and agents with memory tools.

A kind is recognised by the headers a client sends anyway; a client without such headers may name itself by the header
`X-Mnemoir-Client`. Only the last call of each kind is kept, in RAM, without the caller's identity or any content.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from time import time
from typing import Literal, get_args

from starlette.types import ASGIApp, Receive, Scope, Send

from mnemoir.core.clock import to_text
from mnemoir.server.door.request import route_of

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
    "claude-code",
    "claude",
    "codex",
    "cursor",
    "vs-code",
    "chatgpt",
    "n8n",
    "librechat",
    "mcp-inspector",
    "mnemoir-ui",
    "mnemoir-chat",
    "mnemoir",
    "other",
]
KINDS: tuple[ClientKind, ...] = get_args(ClientKind)
_KIND = "mnemoir.client"
_LONGEST_MODEL = 128
_LONGEST_NAME = 64  # of an agent
_TELLING = frozenset({b"x-mnemoir-client", b"sec-fetch-site", b"origin", b"host", b"user-agent"})
# agents, by the beginning of what they call themselves in the protocol of tools, or as User-Agent
_AGENTS_BY_NAME: tuple[tuple[str, ClientKind], ...] = (
    ("claude-code", "claude-code"),
    ("claude", "claude"),
    ("codex", "codex"),
    ("cursor", "cursor"),
    ("visual studio code", "vs-code"),
    ("openai-mcp", "chatgpt"),
    ("@n8n/", "n8n"),
    ("n8n", "n8n"),
    ("@librechat/", "librechat"),
    ("librechat", "librechat"),
    ("inspector", "mcp-inspector"),
    ("mcp-inspector", "mcp-inspector"),
)
_AGENT_KINDS = frozenset({"mcp", *(kind for _, kind in _AGENTS_BY_NAME)})
# beginnings of User-Agent; node-fetch sends its own name for programs that set none, SillyTavern and many others
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
    *_AGENTS_BY_NAME,
    ("mnemoir-cli/", "mnemoir-chat"),
    ("mnemoir/", "mnemoir"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSeen:
    """The last call of one kind of client, and the number of its calls since the server was started.

    `mnemoir-ui` is the web UI, `mnemoir-chat` the terminal, `mnemoir` another server, `mcp` an agent of no known
    kind that uses tools, `node-fetch` any program with that library which does not name itself. `model` is as it was
    requested; it and `memory` are None for a call that was no chat.
    """

    kind: ClientKind
    last_at: str
    route: str
    model: str | None
    memory: bool | None
    count: int


class Clients:
    """One entry a kind, so its size is bounded. Noting a call takes a few microseconds, since every chat does it."""

    def __init__(self) -> None:
        self._seen: dict[ClientKind, tuple[float, str, str | None, bool | None, int]] = {}

    def note(self, scope: Scope, *, model: str, memory: bool) -> None:
        """Note a request for a chat."""
        self._note(kind_of(scope), f"{scope['method']} {scope['path']}", model[:_LONGEST_MODEL], memory)

    def note_tool(self, scope: Scope) -> None:
        """Note an agent's use of a tool, by the template of the route: a path may hold the id of a memory."""
        route = route_of(scope).replace(":path}", "}")
        self._note(kind_of(scope), f"{scope['method']} {route}", None, None)

    def note_agent(self, scope: Scope, kind: ClientKind) -> None:
        """Note an agent's message that asked for no tool."""
        self._note(kind, f"{scope['method']} {scope['path']}", None, None)

    def _note(self, kind: ClientKind, route: str, model: str | None, memory: bool | None) -> None:
        before = self._seen.get(kind)
        self._seen[kind] = time(), route, model, memory, before[-1] + 1 if before else 1

    def recent_clients(self) -> list[ClientSeen]:
        """All kinds that have called, latest call first."""
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
    """Notes the requests of agents' tools: each is one to these routes, made by `mnemoir mcp` or by this server."""

    def __init__(self, app: ASGIApp, clients: Clients) -> None:
        self._app = app
        self._clients = clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
        if scope["type"] == "http" and kind_of(scope) in _AGENT_KINDS:
            self._clients.note_tool(scope)


def kind_of(scope: Scope) -> ClientKind:
    """The kind of client that sent this request, as far as its headers show it."""
    known: ClientKind | None = scope.get(_KIND)
    if known is None:
        known = scope[_KIND] = _kind_by_headers(scope)
    return known


def _kind_by_headers(scope: Scope) -> ClientKind:
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


def agent_kind(scope: Scope, name: str) -> ClientKind:
    """The kind of an agent that asks for tools, by what it calls itself, else as `kind_of`; `mcp` for any other."""
    kind = _kind_of_agent(name[:_LONGEST_NAME].encode("utf-8", "replace")) if name else kind_of(scope)
    return kind if kind in _AGENT_KINDS else "mcp"


def _is_own_page(told: Mapping[bytes, bytes]) -> bool:
    """True for a page of this server. A browser sends Sec-Fetch-Site, over plain remote HTTP only the origin.

    Mnemoir's own commands send the server's origin, too, and name themselves.
    """
    if told.get(b"user-agent", b"").startswith(b"mnemoir-"):
        return False
    if told.get(b"sec-fetch-site") == b"same-origin":
        return True
    origin = told.get(b"origin")
    return origin is not None and origin.partition(b"://")[2] == told.get(b"host")


@lru_cache(maxsize=256)  # clients send the same one with every request
def _kind_of_agent(agent: bytes) -> ClientKind:
    said = agent.decode("latin-1").lower()
    return next((kind for beginning, kind in _AGENTS if said.startswith(beginning)), "other")
