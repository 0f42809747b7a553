"""The shapes of the answers of OpenAI's protocols, as this server writes them.

A model's server of the same protocol may add members; they are forwarded to the client.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # before Python 3.12 pydantic accepts no other

from mnemoir.core.events import Usage
from mnemoir.core.messages import Extra
from mnemoir.wire import upstream
from mnemoir.wire.members import Json, is_object, members_for, merged_members, unread

_COUNTS = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "prompt_tokens": ("promptTokens", "input_tokens", "inputTokens", "promptTokenCount", "prompt_eval_count"),
    "completion_tokens": (
        *("completionTokens", "output_tokens", "outputTokens", "candidatesTokenCount", "eval_count"),
        "generated_tokens",
    ),
    "total_tokens": ("totalTokens", "totalTokenCount"),
}
"""The counts of other protocols and of gateways."""
_ALL_OTHER_NAMES = frozenset(name for names in _OTHER_NAMES.values() for name in names)
_CACHED = frozenset({"cached_tokens"})
EndReason = Literal["stop", "length", "tool_calls", "function_call", "content_filter"]


def read_usage(value: object) -> Usage:
    """The counts of an answer, by any of their usual names; a missing value, or one that is no number, is 0."""
    if not is_object(value):
        return Usage()
    prompt, answer = value.get("prompt_tokens_details"), value.get("completion_tokens_details")
    usage = Usage(
        input_tokens=upstream.count(value.get("prompt_tokens")),
        output_tokens=upstream.count(value.get("completion_tokens")),
        cached_tokens=upstream.count(upstream.member(prompt, "cached_tokens")) if prompt else 0,
        reasoning_tokens=upstream.count(upstream.member(answer, "reasoning_tokens")) if answer else 0,
        extra=_details(value),
    )
    return usage if usage.input_tokens or usage.output_tokens else _read_by_other_names(value) or usage


def _read_by_other_names(value: object) -> Usage | None:
    """The counts of a usage object that has none by their names in OpenAI's chat protocol."""
    if not isinstance(value, dict) or not _COUNTS.isdisjoint(value):
        return None
    ours: dict[str, Any] = {}
    for name, others in _OTHER_NAMES.items():
        if (other := next((other for other in others if upstream.count(value.get(other))), None)) is not None:
            ours[name] = value[other]
    return read_usage({**(unread(value, _ALL_OTHER_NAMES) or {}), **ours}) if ours else None


def write_usage(usage: Usage) -> dict[str, Any]:
    """The counts and their sum, with the other members of the model's server where it speaks this protocol.

    Some servers include more than these two counts in their sum.
    """
    written: dict[str, Any] = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
    if usage.reasoning_tokens:
        written["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    details = members_for(usage.extra, "openai-chat")
    if "total_tokens" in details:
        written["total_tokens"] = details["total_tokens"]
    return merged_members(details, written) if details else written


def _details(value: Json) -> Extra | None:
    """The members of a usage object that are not read; None where there are none."""
    total = value.get("total_tokens")
    is_sum = total == upstream.count(value.get("prompt_tokens")) + upstream.count(value.get("completion_tokens"))
    details = unread(value, _COUNTS if is_sum else _COUNTS - {"total_tokens"}) or {}
    inner = value.get("prompt_tokens_details")
    if not details:
        return None
    if details.keys() == {"prompt_tokens_details"} and (not isinstance(inner, Mapping) or inner.keys() <= _CACHED):
        return None
    return Extra(route="openai-chat", members=details)


class ToolFunction(TypedDict):
    """The function that is called; `arguments` are JSON as text."""

    name: str
    arguments: str


class ToolCall(TypedDict):
    """A tool call requested by the model."""

    id: str
    type: Literal["function"]
    function: ToolFunction


class CachedTokens(TypedDict):
    """Details of the prompt's tokens."""

    cached_tokens: int


class CompletionUsage(TypedDict):
    """Token counts of all model calls for the answer."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: CachedTokens


class AnswerMessage(TypedDict):
    """The message of the model; `content` is null where it only calls tools. `function_call` answers `functions`."""

    role: Literal["assistant"]
    content: str | None
    refusal: str | None
    reasoning_content: NotRequired[str]
    tool_calls: NotRequired[list[ToolCall]]
    function_call: NotRequired[ToolFunction]


class ChatChoice(TypedDict):
    """One answer."""

    index: int
    message: AnswerMessage
    logprobs: dict[str, Any] | None
    finish_reason: EndReason


class Head(TypedDict):
    """The members of every object of an answer; `created` is in seconds since 1970."""

    id: str
    object: str
    created: int
    model: str
    system_fingerprint: str


class ChatCompletion(Head):
    """A whole answer."""

    choices: list[ChatChoice]
    usage: CompletionUsage


class DeltaFunction(TypedDict):
    """A piece of a call: its name comes once, its arguments piece by piece."""

    name: NotRequired[str]
    arguments: str


class DeltaToolCall(TypedDict):
    """A piece of the call with this index."""

    index: int
    id: NotRequired[str]
    type: NotRequired[Literal["function"]]
    function: DeltaFunction


class Delta(TypedDict, total=False):
    """The new parts of the message in a chunk."""

    role: Literal["assistant"]
    content: str
    refusal: str
    reasoning_content: str
    tool_calls: list[DeltaToolCall]
    function_call: DeltaFunction


class ChunkChoice(TypedDict):
    """The part of one answer in a chunk."""

    index: int
    delta: Delta
    logprobs: dict[str, Any] | None
    finish_reason: EndReason | None


class ChatCompletionChunk(Head):
    """One `data:` line of a streamed answer. `usage` is requested by `stream_options`, and is in the last one."""

    choices: list[ChunkChoice]
    usage: NotRequired[CompletionUsage | None]


class TextChoice(TypedDict):
    """A text, or a piece of one."""

    text: str
    index: int
    logprobs: dict[str, Any] | None
    finish_reason: EndReason | None


class TextCompletion(Head):
    """A text completion, or a `data:` line of a streamed one."""

    choices: list[TextChoice]
    usage: NotRequired[CompletionUsage | None]


class ModelCard(TypedDict):
    """A valid value of `model`."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(TypedDict):
    """All valid values of `model`."""

    object: Literal["list"]
    data: list[ModelCard]


class EmbeddingRow(TypedDict):
    """One vector, as numbers or as base64 of float32, little endian."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingUsage(TypedDict):
    """The number of tokens in the texts."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(TypedDict):
    """A vector for each text, in their order."""

    object: Literal["list"]
    data: list[EmbeddingRow]
    model: str
    usage: EmbeddingUsage


class OpenAIErrorBody(TypedDict):
    """An error as OpenAI's clients read it; `param` is the invalid member."""

    message: str
    type: str
    param: str | None
    code: str
