"""The shapes of what OpenAI's protocols answer, as this server writes them.

A model's server of the same protocol may add members; they go on to the client.
"""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # before Python 3.12 pydantic takes no other

EndReason = Literal["stop", "length", "tool_calls", "function_call", "content_filter"]


class ToolFunction(TypedDict):
    """What is called; `arguments` are JSON as text."""

    name: str
    arguments: str


class ToolCall(TypedDict):
    """A call that a model asks for."""

    id: str
    type: Literal["function"]
    function: ToolFunction


class CachedTokens(TypedDict):
    """Of the prompt's tokens."""

    cached_tokens: int


class CompletionUsage(TypedDict):
    """Tokens of all model calls of the answer."""

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
    """What every object of an answer carries; `created` is in seconds since 1970."""

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
    """A piece of a call of that index."""

    index: int
    id: NotRequired[str]
    type: NotRequired[Literal["function"]]
    function: DeltaFunction


class Delta(TypedDict, total=False):
    """What is new in a chunk."""

    role: Literal["assistant"]
    content: str
    refusal: str
    reasoning_content: str
    tool_calls: list[DeltaToolCall]
    function_call: DeltaFunction


class ChunkChoice(TypedDict):
    """One answer, as far as this chunk goes."""

    index: int
    delta: Delta
    logprobs: dict[str, Any] | None
    finish_reason: EndReason | None


class ChatCompletionChunk(Head):
    """One `data:` line of a streamed answer. `usage` is asked for by `stream_options`, and then in the last one."""

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
    """A name that `model` may have."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(TypedDict):
    """All names that `model` may have."""

    object: Literal["list"]
    data: list[ModelCard]


class EmbeddingRow(TypedDict):
    """One vector, as numbers or as base64 of float32, little endian."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingUsage(TypedDict):
    """Tokens that were read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(TypedDict):
    """A vector for each text, in their order."""

    object: Literal["list"]
    data: list[EmbeddingRow]
    model: str
    usage: EmbeddingUsage


class OpenAIErrorBody(TypedDict):
    """An error as OpenAI's clients read it; `param` is the member at fault."""

    message: str
    type: str
    param: str | None
    code: str
