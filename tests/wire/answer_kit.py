"""What a case of an answer is made of: a body of a protocol, its frames, and the verdict on it.

A verdict is what a reader makes of a body: the answer, in short, or the class and status of its error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from mnemoir.core.errors import ProviderError
from mnemoir.core.events import Reply
from mnemoir.wire import koboldcpp, ollama_chat, ollama_generate, openai_chat, openai_completions, openai_responses
from mnemoir.wire.answers.answer_reader import AnswerReader

READERS: Mapping[str, type[AnswerReader]] = {
    "openai-chat": openai_chat.AnswerReader,
    "openai-completions": openai_completions.AnswerReader,
    "openai-responses": openai_responses.AnswerReader,
    "ollama-chat": ollama_chat.AnswerReader,
    "ollama-generate": ollama_generate.AnswerReader,
    "koboldcpp": koboldcpp.AnswerReader,
}
LINES = ("ollama-chat", "ollama-generate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The short form of an answer or an error; `calls` are (name, arguments), `usage` counts tokens."""

    text: str = ""
    thinking: str = ""
    calls: Sequence[tuple[str, str]] = ()
    reason: str = "stop"
    usage: tuple[int, int] = (0, 0)
    error: str = ""
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A body of a protocol, its label, and its verdict; `words` are in the message of its error.

    All go through the reader. Through all that ask models go those of the reach `all`, and a few of the reach `some`.
    """

    protocol: str
    name: str
    body: bytes
    verdict: Verdict
    words: str = ""
    media_type: str = "text/event-stream"
    reach: Literal["all", "some", "reader"] = "some"


def verdict_of_reply(reply: Reply) -> Verdict:
    return Verdict(
        text=reply.words,
        thinking=reply.thinking,
        calls=tuple((call.name, call.arguments) for call in reply.tool_calls),
        reason=reply.reason,
        usage=(reply.usage.input_tokens, reply.usage.output_tokens),
    )


def verdict_of_error(exc: ProviderError) -> Verdict:
    return Verdict(reason="", error=type(exc).__name__, status=exc.status)


def failed(error: str, status: int | None = None) -> Verdict:
    return Verdict(reason="", error=error, status=status)


UNREADABLE = failed("ProviderInvalidOutput")
BROKEN_OFF = failed("FailedAnswer")


def sse(*frames: object) -> bytes:
    return b"".join(b"data: " + as_json(frame) + b"\n\n" for frame in frames)


def lines(*frames: object) -> bytes:
    return b"".join(as_json(frame) + b"\n" for frame in frames)


def as_json(value: object) -> bytes:
    return value if isinstance(value, bytes) else orjson.dumps(value)


def chunk(delta: Mapping[str, Any] | None = None, reason: str | None = None, **members: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": reason} | ({} if delta is None else {"delta": delta})
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m1",
        "choices": [choice],
        **members,
    }


def whole(message: object, reason: str | None = "stop", **members: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion", "choices": [choice], "usage": USAGE, **members}


USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
HI, END, DONE = chunk({"content": "Hi "}), chunk({}, "stop"), b"[DONE]"
COUNTED = {"choices": [], "usage": USAGE}
SOUND, SAID = Verdict(text="Hi "), Verdict(text="Hi", usage=(3, 2))


def called(*calls: tuple[str, str]) -> Verdict:
    return Verdict(calls=calls, reason="tool_calls")
