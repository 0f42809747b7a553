"""The shapes of the answers of Ollama's protocols, as this server writes them."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # before Python 3.12 pydantic accepts no other

from mnemoir.wire.openai_shapes import CompletionUsage, TextChoice


class OllamaAnswerMessage(TypedDict):
    """The message of the model, or a piece of it."""

    role: Literal["assistant"]
    content: str
    thinking: NotRequired[str]
    tool_calls: NotRequired[list[dict[str, Any]]]


class OllamaLine(TypedDict):
    """A whole answer, or a line of a streamed one; the figures are in the last line only, durations in ns."""

    model: str
    created_at: str
    request_id: str
    done: bool
    done_reason: NotRequired[str]
    total_duration: NotRequired[int]
    load_duration: NotRequired[int]
    prompt_eval_count: NotRequired[int]
    prompt_eval_duration: NotRequired[int]
    eval_count: NotRequired[int]
    eval_duration: NotRequired[int]


class OllamaChatLine(OllamaLine):
    """A line of `/api/chat`."""

    message: OllamaAnswerMessage


class OllamaGenerateLine(OllamaLine):
    """A line of `/api/generate`; a whole answer is a text completion of OpenAI's too."""

    response: str
    thinking: NotRequired[str]
    id: NotRequired[str]
    object: NotRequired[Literal["text_completion"]]
    created: NotRequired[int]
    choices: NotRequired[list[TextChoice]]
    usage: NotRequired[CompletionUsage]


class OllamaEmbeddings(TypedDict):
    """A vector for each text, in their order."""

    model: str
    embeddings: list[list[float]]
    total_duration: int
    load_duration: int
    prompt_eval_count: int


class OllamaEmbedding(TypedDict):
    """The vector of the prompt."""

    embedding: list[float]


class OllamaDetails(TypedDict):
    """The details of a model that Ollama's clients read."""

    parent_model: str
    format: str
    family: str
    families: list[str]
    parameter_size: str
    quantization_level: str


class OllamaTag(TypedDict):
    """A valid value of `model`."""

    name: str
    model: str
    modified_at: str
    size: int
    digest: str
    details: OllamaDetails


class OllamaTags(TypedDict):
    """All valid values of `model`."""

    models: list[OllamaTag]


class OllamaLoaded(OllamaTag):
    """A valid value of `model`, listed as loaded for ever."""

    expires_at: str
    size_vram: int
    context_length: int


class OllamaLoadedModels(TypedDict):
    """All valid values of `model`, listed as loaded."""

    models: list[OllamaLoaded]


class OllamaShown(TypedDict):
    """The description of one model."""

    license: str
    modelfile: str
    parameters: str
    template: str
    modified_at: str
    details: OllamaDetails
    model_info: dict[str, Any]
    capabilities: list[str]


class OllamaVersion(TypedDict):
    """The version of Ollama's protocol."""

    version: str
