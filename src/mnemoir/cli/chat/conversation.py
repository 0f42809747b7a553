"""The conversation of a chat, stored by the server or held by this process only.

Both kinds build the request for a new message. For a stored conversation the request holds the message only, and the
server gives the model a window of the stored messages. Without memory each request holds the whole conversation and
tells the server not to store it.
"""

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from mnemoir.core.errors import MnemoirError, ProviderInvalidOutput, ProviderUnavailable

_DATA = b"data:"
Body = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Answer:
    """An answer so far. `reason` is None until it is complete; `tools` are the names of the tools it calls."""

    model: str = ""  # the server's name for the model that answers
    text: str = ""
    reason: str | None = None
    tools: list[str] = field(default_factory=list)

    def take(self, chunk: Mapping[str, Any]) -> str:
        """Add a chunk; the text it adds. Raises MnemoirError for an error chunk."""
        if chunk.get("error"):
            raise _failure(chunk["error"])
        self.model = chunk.get("model") or self.model
        piece = ""
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            piece += delta.get("content") or ""
            self.reason = choice.get("finish_reason") or self.reason
            for call in delta.get("tool_calls") or ():
                name = (call.get("function") or {}).get("name")
                self.tools += [name] if name else []
        self.text += piece
        return piece


async def pieces(lines: AsyncGenerator[bytes, None], answer: Answer) -> AsyncIterator[str]:
    """The pieces of text in a stream of chunks, as they arrive; `answer` is filled meanwhile.

    Raises MnemoirError when the answer fails or ends before it is complete.
    """
    async with aclosing(lines):
        async for line in lines:
            data = line.removeprefix(_DATA).strip()
            if not line.startswith(_DATA) or data == b"[DONE]":
                continue
            piece = answer.take(_chunk(data))
            if piece:
                yield piece
    if answer.reason is None:
        raise ProviderUnavailable("The answer ended before it was complete. Ask again.")


def _chunk(data: bytes) -> Mapping[str, Any]:
    try:
        chunk = orjson.loads(data)
    except orjson.JSONDecodeError as exc:
        raise ProviderInvalidOutput(f"The server sent a chunk that is not JSON: {exc.msg}.") from exc
    return chunk if isinstance(chunk, dict) else {}


def _failure(error: object) -> MnemoirError:
    fields = error if isinstance(error, dict) else {"message": error}
    return MnemoirError(str(fields.get("message") or "The server reported an error without a message."))


class Conversation(Protocol):
    """The conversation of a chat; `id` is None when it is not stored."""

    @property
    def id(self) -> str | None: ...

    def request(self, text: str) -> tuple[Body, Mapping[str, str]]:
        """The body and the headers of the chat request for a new message."""

    def record_turn(self, text: str, answer: Answer) -> None:
        """Record a message with its answer, which may be incomplete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """A conversation that the server stores under its id, from the first message on."""

    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    has_memory: bool = True

    def request(self, text: str) -> tuple[Body, Mapping[str, str]]:
        """See Conversation."""
        messages = [{"role": "user", "content": text}]
        body = {"messages": messages, "history": "server", "memoryEnabled": self.has_memory}
        return body, {"x-session-id": self.id}

    def record_turn(self, text: str, answer: Answer) -> None:
        """See Conversation. Does nothing: the server has stored both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstoredConversation:
    """A conversation that this process holds in `said` until it ends."""

    id: None = None
    said: list[dict[str, str]] = field(default_factory=list)
    system_prompt: str = ""

    def request(self, text: str) -> tuple[Body, Mapping[str, str]]:
        """See Conversation."""
        prompt = [{"role": "system", "content": self.system_prompt}] if self.system_prompt else []
        messages = [*prompt, *self.said, {"role": "user", "content": text}]
        return {"messages": messages, "history": "client", "store": False}, {}

    def record_turn(self, text: str, answer: Answer) -> None:
        """See Conversation."""
        if answer.text:
            self.said.append({"role": "user", "content": text})
            self.said.append({"role": "assistant", "content": answer.text})

    def taken_back(self) -> str | None:
        """Take back the last message and its answer; the message, None without one."""
        if not self.said:
            return None
        question = self.said[-2]["content"]
        del self.said[-2:]
        return question


_: tuple[type[Conversation], ...] = (StoredConversation, UnstoredConversation)  # checked, never run
