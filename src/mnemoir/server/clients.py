"""Which kinds of clients chat with this server, and when each did last.

A kind is guessed from the headers a client sends anyway; a client that cannot be told may name itself by the header
`X-Mnemoir-Client`. Of each kind only the last call is known, in memory, and nothing of who called or what was said.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from starlette.types import Scope

from mnemoir.core.clock import to_text, utc_now
from mnemoir.server.visit import header

ClientKind = Literal[
    "open-webui",
    "sillytavern",
    "openai-python",
    "openai-node",
    "ollama-python",
    "ollama-js",
    "curl",
    "mnemoir-ui",
    "mnemoir-chat",
    "mnemoir",
    "other",
]
KINDS: tuple[ClientKind, ...] = get_args(ClientKind)
_LONGEST_MODEL = 128
# how the User-Agent begins; node-fetch gives its own name for SillyTavern, which sets none
_AGENTS: tuple[tuple[str, ClientKind], ...] = (
    ("openai/python", "openai-python"),
    ("asyncopenai/python", "openai-python"),
    ("openai/js", "openai-node"),
    ("ollama-python", "ollama-python"),
    ("ollama-js", "ollama-js"),
    ("curl/", "curl"),
    ("sillytavern", "sillytavern"),
    ("node-fetch", "sillytavern"),
    ("mnemoir-cli/", "mnemoir-chat"),
    ("mnemoir/", "mnemoir"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSeen:
    """The last call of one kind of client, and how many there were since the server was started.

    `mnemoir-ui` is the web UI, `mnemoir-chat` the terminal, `mnemoir` another server; `model` is as it was asked for.
    """

    kind: ClientKind
    last_at: str
    route: str
    model: str
    memory: bool
    count: int


class Clients:
    """One place a kind, so it cannot grow."""

    def __init__(self) -> None:
        self._seen: dict[ClientKind, ClientSeen] = {}

    def note(self, scope: Scope, *, model: str, memory: bool) -> None:
        """A chat was asked for."""
        kind = kind_of(scope)
        before = self._seen.get(kind)
        self._seen[kind] = ClientSeen(
            kind=kind,
            last_at=to_text(utc_now()),
            route=f"{scope['method']} {scope['path']}",
            model=model[:_LONGEST_MODEL],
            memory=memory,
            count=1 if before is None else before.count + 1,
        )

    def seen(self) -> list[ClientSeen]:
        """Who called last comes first."""
        return sorted(self._seen.values(), key=lambda client: client.last_at, reverse=True)


def kind_of(scope: Scope) -> ClientKind:
    """What sent this request, as far as its headers tell."""
    named = header(scope, b"x-mnemoir-client")
    if named in KINDS:
        return named
    if any(name.startswith(b"x-openwebui-") for name, _ in scope["headers"]):
        return "open-webui"
    if _is_own_page(scope):
        return "mnemoir-ui"
    agent = (header(scope, b"user-agent") or "").lower()
    return next((kind for beginning, kind in _AGENTS if agent.startswith(beginning)), "other")


def _is_own_page(scope: Scope) -> bool:
    """A browser tells where a page is from; over plain HTTP from another machine only its origin."""
    if header(scope, b"sec-fetch-site") == "same-origin":
        return True
    origin = header(scope, b"origin")
    return origin is not None and origin.partition("://")[2] == header(scope, b"host")
