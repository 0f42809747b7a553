"""Every member of an answer of OpenAI's chat completions, whole and as chunks.

Each row changes a plain answer of the model's server. What the client gets must be the same JSON, but for `id`,
`model` and `created`, which are Mnemoir's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
OWN = frozenset({"id", "model", "created"})

_LOGPROBS: Json = {"content": [{"token": "Hi", "logprob": -0.1, "bytes": [72], "top_logprobs": []}], "refusal": None}
_CITATION: Json = {
    "type": "url_citation",
    "url_citation": {"title": "t", "url": "u"},
}
_AUDIO: Json = {"id": "audio_1", "data": "AAAA", "expires_at": 1, "transcript": "Hi."}
_CALL: Json = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
_CUSTOM: Json = {"id": "call_1", "type": "custom", "custom": {"name": "poem", "input": "bees"}}
_SIGNED: Json = {**_CALL, "extra_content": {"google": {"thought_signature": "x"}}}
_NESTED: Json = {**_CALL, "function": {"name": "weather", "arguments": "{}", "x_inner": 1}}
USAGE: Json = {
    "prompt_tokens": 5,
    "completion_tokens": 9,
    "total_tokens": 14,
    "prompt_tokens_details": {"cached_tokens": 0},
}


@dataclass(frozen=True, kw_only=True)
class AnswerRow:
    """What the answer has more: at its top, in the choice, in the message or delta, in the usage.

    `delta` is said in a stream in place of `message`. `adds` is what the client finds beside it. `hides` are members
    that a config tree keeps to itself, as its format says: the model's thinking.
    """

    name: str
    top: Json | None = None
    choice: Json | None = None
    message: Json | None = None
    usage: Json | None = None
    delta: Json | None = None
    adds: Json | None = None
    hides: tuple[str, ...] = ()

    def whole(self) -> Json:
        """The answer as one object."""
        message = {"role": "assistant", "content": "Hi.", "refusal": None, **(self.message or {})}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop", **(self.choice or {})}
        return self._around(choice, "chat.completion") | {"usage": USAGE | (self.usage or {})}

    def chunks(self) -> list[Json]:
        """The same as a stream: the role, one piece, the end, and the usage."""
        delta = dict(self.delta or self.message or {"content": "Hi."})
        if "tool_calls" in delta:
            delta["tool_calls"] = [{"index": n, **call} for n, call in enumerate(delta["tool_calls"])]
        beside = dict(self.choice or {})
        reason = beside.pop("finish_reason", "stop")
        pieces = [
            self._piece({"role": "assistant", "content": ""}, None),
            self._piece({name: value for name, value in delta.items() if value is not None}, None, beside),
            self._piece({}, reason),
        ]
        last = {**self._around({}, "chat.completion.chunk"), "choices": [], "usage": USAGE | (self.usage or {})}
        return [*pieces, last]

    def _piece(self, delta: Json, reason: str | None, beside: Json | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason, **(beside or {})}
        return self._around(choice, "chat.completion.chunk") | {"usage": None}

    def _around(self, choice: Json, kind: str) -> Json:
        head = {"id": "up-1", "object": kind, "created": 1, "model": "up", "system_fingerprint": "fp_up"}
        return {**head, **(self.top or {}), "choices": [choice]}


def _details(kind: str, *names: str) -> list[AnswerRow]:
    given = {"prompt_tokens_details": {"cached_tokens": 0}} if kind == "prompt" else {}
    return [
        AnswerRow(
            name=f"usage.{kind}_tokens_details.{name}",
            usage={f"{kind}_tokens_details": {**given.get(f"{kind}_tokens_details", {}), name: 3}},
        )
        for name in names
    ]


ROWS: Sequence[AnswerRow] = (
    AnswerRow(name="id"),
    AnswerRow(name="object"),
    AnswerRow(name="created"),
    AnswerRow(name="model"),
    AnswerRow(name="choices"),
    *(AnswerRow(name=f"usage{name}") for name in ("", ".prompt_tokens", ".completion_tokens")),
    AnswerRow(name="system_fingerprint", top={"system_fingerprint": "fp_2"}),
    AnswerRow(name="service_tier", top={"service_tier": "flex"}),
    AnswerRow(name="metadata", top={"metadata": {"a": "b"}}),
    AnswerRow(name="moderation", top={"moderation": {"input": {"flagged": False}}}),
    AnswerRow(name="obfuscation", top={"obfuscation": "xyz"}),
    AnswerRow(name="a name of tomorrow", top={"x_new": [1, {"a": None}]}),
    AnswerRow(name="choices.index"),
    AnswerRow(name="choices.message"),
    AnswerRow(name="choices.delta"),
    *(
        AnswerRow(name=name, choice={"finish_reason": reason})
        for name, reason in {
            "choices.finish_reason": "stop",
            "choices.finish_reason length": "length",
            "choices.finish_reason content_filter": "content_filter",
        }.items()
    ),
    AnswerRow(name="choices.logprobs", choice={"logprobs": _LOGPROBS}),
    AnswerRow(name="choices.content_filter_results", choice={"content_filter_results": {"hate": {}}}),
    AnswerRow(name="message.role"),
    AnswerRow(name="message.content", message={"content": "Grüß Gott.\n"}),
    AnswerRow(name="message.refusal", message={"content": None, "refusal": "No."}),
    AnswerRow(name="message.annotations", message={"content": "Hi.", "annotations": [_CITATION]}),
    AnswerRow(name="message.audio", message={"content": "Hi.", "audio": _AUDIO}),
    AnswerRow(
        name="message.reasoning_content",
        message={"content": "Hi.", "reasoning_content": "Hm."},
        delta={"reasoning_content": "Hm."},
        hides=("reasoning_content",),
    ),
    AnswerRow(
        name="message.reasoning",
        message={"content": "Hi.", "reasoning": "Hm."},
        delta={"reasoning": "Hm."},
        adds={"reasoning_content": "Hm."},
        hides=("reasoning", "reasoning_content"),
    ),
    AnswerRow(
        name="message.reasoning_details",
        message={"content": "Hi.", "reasoning_details": [{"text": "Hm."}]},
        hides=("reasoning_details",),
    ),
    *(
        AnswerRow(
            name=f"message.{name}",
            message={"content": None, "tool_calls": [call]},
            choice={"finish_reason": "tool_calls"},
        )
        for name, call in {
            "tool_calls": _CALL,
            "tool_calls.custom": _CUSTOM,
            "tool_calls.extra_content": _SIGNED,
            "tool_calls.function.x_inner": _NESTED,
        }.items()
    ),
    *_details(
        "completion",
        *("accepted_prediction_tokens", "audio_tokens", "reasoning_tokens", "rejected_prediction_tokens"),
        *("text_tokens", "a_new_kind_of_tokens"),
    ),
    *_details("prompt", "audio_tokens", "cache_write_tokens", "cached_tokens", "image_tokens", "text_tokens"),
    AnswerRow(name="usage.completion_tokens_details", usage={"completion_tokens_details": {}}),
    AnswerRow(name="usage.prompt_tokens_details", usage={"prompt_tokens_details": {"cached_tokens": 4}}),
    AnswerRow(name="usage.total_tokens", usage={"total_tokens": 99}),
    AnswerRow(name="usage.cost", usage={"cost": 0.5}),
)
