"""Ollama's protocols as this server speaks them, for its description. `wire` reads and writes them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mnemoir.server.protocols.openai import ChatExtensions, CompletionUsage, TextChoice


class OllamaMessage(BaseModel):
    """One message; `images` are base64."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: str | None = None
    images: list[str] | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_name: str | None = None


class _Asked(ChatExtensions):
    model: str
    options: dict[str, Any] | None = None
    format: str | dict[str, Any] | None = None
    think: bool | str | None = None
    keep_alive: str | float | None = None


class OllamaChatBody(_Asked):
    """`POST /api/chat`; streamed unless `stream` is false. Without messages it loads or unloads the model."""

    messages: list[OllamaMessage] = Field(default_factory=list)
    tools: list[dict[str, Any]] | None = None


class OllamaGenerateBody(_Asked):
    """`POST /api/generate`: one prompt; streamed unless `stream` is false. Without one it loads or unloads."""

    prompt: str = ""
    system: str | None = None
    images: list[str] | None = None


class CancelBody(BaseModel):
    """`DELETE` on a chat route: end the answer of that id."""

    request_id: str


class Cancelled(BaseModel):
    """The answer was ended."""

    status: Literal["cancelled"]
    request_id: str


class OllamaAnswerMessage(BaseModel):
    """What the model said, or a piece of it."""

    role: Literal["assistant"]
    content: str
    thinking: str = ""
    tool_calls: list[dict[str, Any]] = []


class _Line(BaseModel):
    """A whole answer, or a line of a streamed one; the figures are in the last line only, durations in ns."""

    model: str
    created_at: str
    request_id: str
    done: bool
    done_reason: str = ""
    total_duration: int = 0
    load_duration: int = 0
    prompt_eval_count: int = 0
    prompt_eval_duration: int = 0
    eval_count: int = 0
    eval_duration: int = 0


class OllamaChatLine(_Line):
    """Of `/api/chat`."""

    message: OllamaAnswerMessage


class OllamaGenerateLine(_Line):
    """Of `/api/generate`; a whole answer is a text completion of OpenAI's too."""

    response: str
    thinking: str = ""
    id: str = ""
    object: Literal["text_completion"] = "text_completion"
    created: int = 0
    choices: list[TextChoice] = []
    usage: CompletionUsage | None = None


class OllamaEmbedBody(BaseModel):
    """`POST /api/embed`."""

    model_config = ConfigDict(extra="allow")

    model: str = ""
    input: str | list[str]
    dimensions: Annotated[int, Field(ge=1)] | None = None


class OllamaEmbeddings(BaseModel):
    """A vector for each text, in their order."""

    model: str
    embeddings: list[list[float]]
    total_duration: int
    load_duration: int
    prompt_eval_count: int


class OllamaPromptBody(BaseModel):
    """`POST /api/embeddings`."""

    model_config = ConfigDict(extra="allow")

    model: str = ""
    prompt: str


class OllamaEmbedding(BaseModel):
    """The vector of the prompt."""

    embedding: list[float]


class OllamaDetails(BaseModel):
    """What Ollama's clients look for in a model."""

    parent_model: str
    format: str
    family: str
    families: list[str]
    parameter_size: str
    quantization_level: str


class OllamaTag(BaseModel):
    """A name that `model` may have."""

    name: str
    model: str
    modified_at: str
    size: int
    digest: str
    details: OllamaDetails


class OllamaTags(BaseModel):
    """All of them."""

    models: list[OllamaTag]


class OllamaLoaded(OllamaTag):
    """The same, as if it were loaded for ever."""

    expires_at: str
    size_vram: int
    context_length: int


class OllamaLoadedModels(BaseModel):
    """All of them."""

    models: list[OllamaLoaded]


class OllamaShowBody(BaseModel):
    """`POST /api/show`."""

    model_config = ConfigDict(extra="allow")

    model: str


class OllamaShown(BaseModel):
    """One model."""

    license: str
    modelfile: str
    parameters: str
    template: str
    modified_at: str
    details: OllamaDetails
    model_info: dict[str, Any]
    capabilities: list[str]


class OllamaVersion(BaseModel):
    """The version of the protocol."""

    version: str
