"""A memory service that notes what it was asked, and requests to run a workflow with."""

from dataclasses import dataclass, field

from mnemoir.core.errors import ProviderUnavailable
from mnemoir.core.fence import RecalledLine
from mnemoir.core.messages import ChatRequest, Message, ModelRequest, text_message
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_service import ChatTurn, Recalled
from mnemoir.workflows.caller import Caller

SCOPE = Scope(project="kitchen", user="alex")
VEGETARIAN = RecalledLine(text="Is vegetarian", day="2026-03-04")


@dataclass
class ListedMemory:
    """A memory service over two lists: a true implementation of the port, without a network."""

    lines: list[RecalledLine] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    kept: list[ChatTurn] = field(default_factory=list)
    unread: list[ChatTurn] = field(default_factory=list)
    limit: int | None = 5
    down: bool = False

    async def search(self, scope: Scope, query: str, *, limit: int, credential: str | None) -> Recalled:
        self.asked.append(query)
        if self.down:
            raise ProviderUnavailable("The memory service could not be reached.")
        return Recalled(lines=self.lines[:limit])

    async def remember(self, scope: Scope, turn: ChatTurn, *, key: str) -> None:
        self.kept.append(turn)

    async def allowance(self, scope: Scope) -> int | None:
        return self.limit

    async def waiting(self, scope: Scope) -> list[ChatTurn]:
        return self.unread

    async def keep(self, scope: Scope, turn: ChatTurn) -> None:
        self.kept.append(turn)


def chat(*messages: Message, stream: bool = True) -> ChatRequest:
    said = messages or (text_message("user", "What shall I cook?"),)
    return ChatRequest(request=ModelRequest(messages=list(said), model="mnemoir"), stream=stream)


def caller(*, memory: bool = True, client_task: bool = False) -> Caller:
    return Caller(scope=SCOPE, request_id="r1", memory=memory, client_task=client_task)
