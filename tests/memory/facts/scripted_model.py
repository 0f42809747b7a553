"""A chat model that answers what a test tells it to: the far side of the port, without a network between."""

from collections.abc import AsyncGenerator, Callable, Sequence

import orjson

from mnemoir.core.events import ModelEvent, Reply, Usage
from mnemoir.core.messages import ModelRequest
from mnemoir.ports.llm import LastCalls

Script = Callable[[ModelRequest], Reply | str]


def facts_reply(*facts: str) -> str:
    return orjson.dumps({"facts": facts}).decode()


def changes_reply(*entries: tuple[object, str, str]) -> str:
    """Entries are (id, text, event)."""
    rows = [{"id": i, "text": text, "event": event, "old_memory": None} for i, text, event in entries]
    return orjson.dumps({"memory": rows}).decode()


def document_of(request: ModelRequest) -> dict:
    read: dict = orjson.loads(request.messages[-1].text)
    return read


class ScriptedModel:
    """Says its replies in turn, or what `script` makes of each request; `asked` keeps the requests."""

    name = "scripted"
    provider = "scripted"

    def __init__(self, *replies: Reply | str, script: Script | None = None) -> None:
        self.asked: list[ModelRequest] = []
        self.last_calls = LastCalls()
        self._replies = list(replies)
        self._script = script

    async def ask(self, request: ModelRequest) -> Reply:
        self.asked.append(request)
        answer = self._script(request) if self._script else self._replies.pop(0)
        if isinstance(answer, Reply):
            return answer
        return Reply(text=answer, usage=Usage(input_tokens=10, output_tokens=2, cached_tokens=1))

    def address(self, *, stream: bool) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelEvent], None]:
        yield [(await self.ask(request)).usage]

    async def aclose(self) -> None:
        pass
