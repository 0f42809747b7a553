"""OpenAI's protocols as this server speaks them, for its description. `wire` reads and writes them.

Requests may hold more members than are named here; those go on to a model of the same protocol.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FinishReason = Literal["stop", "length", "tool_calls", "function_call", "content_filter"]


class ChatExtensions(BaseModel):
    """What Mnemoir adds to a chat request of any protocol."""

    model_config = ConfigDict(extra="allow")

    user: Annotated[str, Field(description="whose memories; also header X-User-Id")] | None = None
    memoryEnabled: Annotated[bool, Field(description="recall and remember; or `X-Memory: on`")] | None = None
    conversation_id: Annotated[str, Field(description="the conversation it belongs to; kept if given")] | None = None
    history: (
        Annotated[
            Literal["client", "server"],
            Field(description="whether the model is shown what was sent, or what the server has stored"),
        ]
        | None
    ) = None
    store: Annotated[bool, Field(description="whether the chat is to be kept")] | None = None
    parent_id: (
        Annotated[int, Field(ge=0, description="the message that what is new stands behind; 0 is the beginning")]
        | None
    ) = None
    stream: bool | None = None


class ToolFunction(BaseModel):
    """What is called; `arguments` are JSON as text."""

    name: str
    arguments: str


class ToolCall(BaseModel):
    """A call that a model asks for."""

    id: str
    type: Literal["function"]
    function: ToolFunction


class ChatMessage(BaseModel):
    """One message; `content` is a text or a list of parts (`text`, `image_url`)."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None


class StreamOptions(BaseModel):
    """Of a streamed answer."""

    include_usage: bool | None = None


class _Sampling(ChatExtensions):
    model: Annotated[str, Field(description="any name of GET /v1/models; others mean the default workflow")] = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    n: Annotated[int, Field(ge=1, le=8, description="how many answers; more than 1 where the model gives them")] = 1
    stream_options: StreamOptions | None = None


class ChatCompletionBody(_Sampling):
    """`POST /v1/chat/completions`."""

    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    functions: Annotated[list[dict[str, Any]], Field(description="the older word for tools")] | None = None
    function_call: Annotated[str | dict[str, Any], Field(description="the older word for tool_choice")] | None = None
    response_format: dict[str, Any] | None = None
    reasoning_effort: str | None = None


class CompletionBody(_Sampling):
    """`POST /v1/completions`: one prompt, or several where the model takes them, as texts or as token numbers."""

    prompt: str | Annotated[list[str] | list[int] | list[list[int]], Field(min_length=1)]


class CachedTokens(BaseModel):
    """Of the prompt's tokens."""

    cached_tokens: int


class CompletionUsage(BaseModel):
    """Tokens of all model calls of the answer."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: CachedTokens


class AnswerMessage(BaseModel):
    """What the model said; `content` is null where it only calls tools."""

    role: Literal["assistant"]
    content: str | None
    refusal: str | None
    reasoning_content: str = ""
    tool_calls: list[ToolCall] = []
    function_call: Annotated[ToolFunction, Field(description="for requests of functions")] | None = None


class ChatChoice(BaseModel):
    """One answer."""

    index: int
    message: AnswerMessage
    logprobs: dict[str, Any] | None
    finish_reason: FinishReason


class _Head(BaseModel):
    id: str
    created: Annotated[int, Field(description="seconds since 1970")]
    model: str
    system_fingerprint: str


class ChatCompletion(_Head):
    """A whole answer."""

    object: Literal["chat.completion"]
    choices: list[ChatChoice]
    usage: CompletionUsage


class DeltaFunction(BaseModel):
    """A piece of a call: its name comes once, its arguments piece by piece."""

    name: str = ""
    arguments: str


class DeltaToolCall(BaseModel):
    """A piece of a call of that index."""

    index: int
    id: str = ""
    type: Literal["function"] = "function"
    function: DeltaFunction


class Delta(BaseModel):
    """What is new in a chunk."""

    role: Literal["assistant"] = "assistant"
    content: str = ""
    reasoning_content: str = ""
    tool_calls: list[DeltaToolCall] = []
    function_call: DeltaFunction | None = None


class ChunkChoice(BaseModel):
    """One answer, as far as this chunk goes."""

    index: int
    delta: Delta
    logprobs: dict[str, Any] | None
    finish_reason: FinishReason | None


class ChatCompletionChunk(_Head):
    """One `data:` line of a streamed answer. `usage` is asked for by `stream_options`, and then in the last one."""

    object: Literal["chat.completion.chunk"]
    choices: list[ChunkChoice]
    usage: CompletionUsage | None = None


class TextChoice(BaseModel):
    """A text, or a piece of one."""

    text: str
    index: int
    logprobs: dict[str, Any] | None
    finish_reason: FinishReason | None


class TextCompletion(_Head):
    """A text completion, or a `data:` line of a streamed one."""

    object: Literal["text_completion"]
    choices: list[TextChoice]
    usage: CompletionUsage | None = None


class ModelCard(BaseModel):
    """A name that `model` may have."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(BaseModel):
    """All of them."""

    object: Literal["list"]
    data: list[ModelCard]


class EmbeddingsBody(BaseModel):
    """`POST /v1/embeddings`."""

    model_config = ConfigDict(extra="allow")

    model: str = ""
    input: Annotated[str | list[str] | list[int] | list[list[int]], Field(description="texts, or token numbers")]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1)] | None = None


class EmbeddingRow(BaseModel):
    """One vector, as numbers or as base64 of float32, little endian."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingUsage(BaseModel):
    """Tokens that were read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(BaseModel):
    """A vector for each text, in their order."""

    object: Literal["list"]
    data: list[EmbeddingRow]
    model: str
    usage: EmbeddingUsage
