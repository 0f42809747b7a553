"""Every member of a line of Ollama's answers, of `/api/chat` and `/api/generate`.

Each row changes a plain answer. What the client gets must be the same JSON, but for Mnemoir's own members: among them
are those by which `/api/generate` is a text completion of OpenAI's too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
OWN = frozenset({"model", "created_at", "request_id", "id", "object", "created", "choices", "usage"})
_HEAD: Json = {"model": "up", "created_at": "2026-01-01T00:00:00Z"}
_END: Json = {
    "done": True,
    "done_reason": "stop",
    "total_duration": 1000,
    "load_duration": 10,
    "prompt_eval_count": 7,
    "prompt_eval_duration": 400,
    "eval_count": 5,
    "eval_duration": 500,
}
_CALL: Json = {"id": "call_0", "function": {"index": 0, "name": "weather", "arguments": {"city": "Graz"}}}


@dataclass(frozen=True, kw_only=True)
class LineRow:
    """What an answer has more: in a line with text, in its message, in the last line."""

    name: str
    line: Json | None = None
    message: Json | None = None
    end: Json | None = None

    def whole(self, chat: bool) -> Json:
        """The answer as one object."""
        return {**_HEAD, **self._said(chat, "Hi."), **(self.line or {}), **_END, **(self.end or {})}

    def lines(self, chat: bool) -> list[Json]:
        """The same as a stream of a piece and the end."""
        piece = {**_HEAD, **self._said(chat, "Hi."), "done": False, **(self.line or {})}
        empty: Json = {"message": {"role": "assistant", "content": ""}} if chat else {"response": ""}
        return [piece, {**_HEAD, **empty, **_END, **(self.end or {})}]

    def _said(self, chat: bool, text: str) -> Json:
        if chat:
            return {"message": {"role": "assistant", "content": text, **(self.message or {})}}
        return {"response": text, **(self.message or {})}


def _ending(name: str, value: object) -> LineRow:
    return LineRow(name=name, end={name: value})


ROWS: Sequence[LineRow] = (
    *(LineRow(name=name) for name in ("model", "created_at", "message", "response", "done")),
    _ending("done_reason", "length"),
    *(
        _ending(name, 12_345)
        for name in (
            *("total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration"),
            *("eval_count", "eval_duration"),
        )
    ),
    _ending("context", [1, 2, 3]),
    _ending("image", "iVBORw0KGgo="),
    LineRow(name="completed", line={"completed": 1}),
    LineRow(name="total", line={"total": 2}),
    LineRow(name="logprobs", line={"logprobs": [{"token": "Hi", "logprob": -0.1, "top_logprobs": []}]}),
    LineRow(name="a name of tomorrow", line={"x_new": [1, {"a": None}]}),
    LineRow(name="message.role"),
    LineRow(name="message.content", message={"content": "Grüß Gott.\n"}),
    LineRow(name="message.images", message={"images": ["iVBORw0KGgo="]}),
    LineRow(name="message.tool_name", message={"tool_name": "weather"}),
    LineRow(name="message.a name of tomorrow", message={"x_new": {"a": None}}),
    LineRow(name="message.thinking", message={"content": "", "thinking": "Hm."}),
    LineRow(name="message.tool_calls", message={"content": "", "tool_calls": [_CALL]}),
)
OF_GENERATE: Sequence[LineRow] = (
    *(row for row in ROWS if not row.name.startswith("message.")),
    LineRow(name="thinking", line={"response": "", "thinking": "Hm."}),
)
