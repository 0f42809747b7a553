"""Reading of a streamed answer."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import orjson

from mnemoir.core.errors import MnemoirError, ProviderInvalidOutput, ProviderUnavailable

_DATA = b"data:"


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
