"""The OpenAPI description of the routes that FastAPI does not route and so cannot describe: those of chat clients.

The other members are in the protocols' own documentation. They are forwarded to a model of the same protocol.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from mnemoir.server.door.errors import ErrorAnswer, OpenAIErrorAnswer, RpcErrorAnswer, Surface, surface_of
from mnemoir.server.health import Health, Unhealthy
from mnemoir.wire import ollama_shapes as ollama
from mnemoir.wire import openai_shapes as openai

Json = dict[str, Any]

_DOCS: Mapping[Surface, str] = {
    "openai": "https://platform.openai.com/docs/api-reference",
    "mcp": "https://modelcontextprotocol.io/specification",
}
_OLLAMA_DOCS = "https://docs.ollama.com/api"
_ERRORS: Mapping[Surface, type] = {"openai": OpenAIErrorAnswer, "mcp": RpcErrorAnswer}


@with_config(ConfigDict(extra="allow"))
class Open(TypedDict):
    """A request that may hold more members."""


class ChatBody(Open, total=False):
    """The members that Mnemoir adds to a chat request of any protocol."""

    user: Annotated[str | None, Field(description="whose memories; also header X-User-Id")]
    memoryEnabled: Annotated[bool | None, Field(description="recall and remember; or `X-Memory: on`")]
    conversation_id: Annotated[str | None, Field(description="the conversation it belongs to; kept if given")]
    history: Annotated[
        Literal["client", "server"] | None,
        Field(description="whether the model is shown what was sent, or what the server has stored"),
    ]
    store: Annotated[bool | None, Field(description="whether the chat is to be kept")]
    parent_id: Annotated[
        int | None, Field(ge=0, description="the message that what is new stands behind; 0 is the beginning")
    ]
    stream: bool | None


class ChatMessage(Open):
    """One message; `content` is a text or a list of parts (`text`, `image_url`)."""

    role: str
    content: NotRequired[str | list[dict[str, Any]] | None]


class ChatCompletionBody(ChatBody):
    """`POST /v1/chat/completions`."""

    model: NotRequired[Annotated[str, Field(description="any name of GET /v1/models; else the default workflow")]]
    messages: Annotated[list[ChatMessage], Field(min_length=1)]


class CompletionBody(ChatBody):
    """`POST /v1/completions`: one prompt, or several where the model accepts them, as texts or as token numbers."""

    model: NotRequired[str]
    prompt: str | Annotated[list[str] | list[int] | list[list[int]], Field(min_length=1)]


class EmbeddingsBody(Open):
    """`POST /v1/embeddings`: texts, or token numbers."""

    model: NotRequired[str]
    input: str | list[str] | list[int] | list[list[int]]


class OllamaChatBody(ChatBody):
    """`POST /api/chat`; streamed unless `stream` is false. Without messages it loads or unloads the model."""

    model: str
    messages: NotRequired[list[ChatMessage]]


class OllamaGenerateBody(ChatBody):
    """`POST /api/generate`: one prompt; streamed unless `stream` is false. Without one it loads or unloads."""

    model: str
    prompt: NotRequired[str]


class OllamaEmbedBody(Open):
    """`POST /api/embed`."""

    model: NotRequired[str]
    input: str | list[str]


class OllamaPromptBody(Open):
    """`POST /api/embeddings`."""

    model: NotRequired[str]
    prompt: str


class OllamaShowBody(Open):
    """`POST /api/show`."""

    model: str


class RpcBody(Open):
    """`POST /mcp`: one message of the Model Context Protocol. One without an `id` is a notice."""

    jsonrpc: Literal["2.0"]
    id: NotRequired[str | int]
    method: NotRequired[str]
    params: NotRequired[dict[str, Any]]


class RpcResult(Open):
    """The answer to a message that has an id: `result`, or `error`."""

    jsonrpc: Literal["2.0"]
    id: str | int | None
    result: NotRequired[dict[str, Any]]
    error: NotRequired[dict[str, Any]]


class CancelBody(TypedDict):
    """`DELETE` on a chat route: end the answer with that id."""

    request_id: str


class Cancelled(TypedDict):
    """The answer was ended."""

    status: Literal["cancelled"]
    request_id: str


_EVENTS, _LINES = "text/event-stream", "application/x-ndjson"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One method of a path. `streamed` is the media type and the model of each piece, if answers may be streamed."""

    summary: str
    asked: type | None = None
    answered: type | None = None
    streamed: tuple[str, type] | None = None
    is_chat: bool = False
    is_agents: bool = False
    is_text: bool = False
    tag: str = "models and chat"
    id: str | None = None  # of the operation; None: by its method and path
    unavailable: tuple[str, type] | None = None  # what an answer with status 503 says, and its shape


_CHAT = Spoken(
    summary="Chat, as OpenAI's servers have it",
    asked=ChatCompletionBody,
    answered=openai.ChatCompletion,
    streamed=(_EVENTS, openai.ChatCompletionChunk),
    is_chat=True,
)
_COMPLETION = Spoken(
    summary="Complete a prompt, as OpenAI's servers have it",
    asked=CompletionBody,
    answered=openai.TextCompletion,
    streamed=(_EVENTS, openai.TextCompletion),
    is_chat=True,
)
_VECTORS = Spoken(
    summary="Vectors of texts, as OpenAI's servers have it",
    asked=EmbeddingsBody,
    answered=openai.EmbeddingList,
)
_MODELS = Spoken(summary="Names that `model` may have", answered=openai.ModelList)
_MODEL = Spoken(summary="One of them", answered=openai.ModelCard)
_OLLAMA_CHAT = Spoken(
    summary="Chat, as Ollama's servers have it",
    asked=OllamaChatBody,
    answered=ollama.OllamaChatLine,
    streamed=(_LINES, ollama.OllamaChatLine),
    is_chat=True,
)
_GENERATE = Spoken(
    summary="Complete a prompt, as Ollama's servers have it",
    asked=OllamaGenerateBody,
    answered=ollama.OllamaGenerateLine,
    streamed=(_LINES, ollama.OllamaGenerateLine),
    is_chat=True,
)
_CANCEL = Spoken(summary="End an answer under way", asked=CancelBody, answered=Cancelled)
_REFUSED = Spoken(summary="Refused: Mnemoir does not manage models")
_OF_OPENAI: Mapping[tuple[str, str], Spoken] = {
    ("/chat/completions", "post"): _CHAT,
    ("/completions", "post"): _COMPLETION,
    ("/embeddings", "post"): _VECTORS,
    ("/models", "get"): _MODELS,
    ("/models/{model_id}", "get"): _MODEL,
}
_SPOKEN: Mapping[tuple[str, str], Spoken] = {
    **_OF_OPENAI,
    **{(f"/v1{path}", method): spoken for (path, method), spoken in _OF_OPENAI.items()},
    ("/api/page/chat/completions", "post"): _CHAT,
    ("/api/page/models", "get"): _MODELS,
    ("/api/chat", "post"): _OLLAMA_CHAT,
    ("/api/chat", "delete"): _CANCEL,
    ("/api/generate", "post"): _GENERATE,
    ("/api/generate", "delete"): _CANCEL,
    ("/api/embed", "post"): Spoken(
        summary="Vectors of texts, as Ollama's servers have it",
        asked=OllamaEmbedBody,
        answered=ollama.OllamaEmbeddings,
    ),
    ("/api/embeddings", "post"): Spoken(
        summary="The vector of a prompt, as older Ollamas have it",
        asked=OllamaPromptBody,
        answered=ollama.OllamaEmbedding,
    ),
    ("/health", "get"): Spoken(
        summary="Whether the server and its storage work",
        answered=Health,
        tag="operations",
        id="health_health_get",  # by which generated clients know it
        unavailable=("The storage does not work", Unhealthy),
    ),
    ("/", "get"): Spoken(summary="That it runs; the web UI for browsers", is_text=True),
    ("/api/version", "get"): Spoken(
        summary="The version of Ollama's protocol that is spoken", answered=ollama.OllamaVersion
    ),
    ("/api/tags", "get"): Spoken(summary="Names that `model` may have, for Ollama", answered=ollama.OllamaTags),
    ("/api/ps", "get"): Spoken(summary="The same, as if they were loaded", answered=ollama.OllamaLoadedModels),
    ("/mcp", "post"): Spoken(
        summary="Tools for agents, by the Model Context Protocol", asked=RpcBody, answered=RpcResult, is_agents=True
    ),
    ("/api/show", "post"): Spoken(summary="What a model can do", asked=OllamaShowBody, answered=ollama.OllamaShown),
}

PROJECT = "or header `X-Mnemoir-Project`; `X-Etienne-Project`, which apps of Etienne send, means the same"
_AGENT_PARAMETERS = (
    ("query", "project", PROJECT),
    ("header", "X-User-Id", "whose memories, where the key is for all users"),
)
_CHAT_PARAMETERS = (
    ("query", "project", PROJECT),
    ("query", "memoryEnabled", "`true` recalls and remembers"),
    ("header", "X-Memory", "`on` recalls and remembers"),
    ("header", "X-User-Id", "whose memories"),
    ("header", "X-Conversation-Id", "which conversation the chat belongs to"),
    ("header", "X-Idempotency-Key", "the same one sent twice at a time runs once"),
)
_CHAT_HEADERS = {
    "X-Workflow-Run-Id": "the run that answered: GET /api/runs/{id}",
    "X-Conversation-Id": "the conversation it was kept in, percent-encoded",
    "X-Memory-Injected": "how many memories were recalled",
    "X-Mnemoir-Dropped": "names of members of the request that the model did not get",
    "X-Overhead-Duration-Ms": "the time that Mnemoir added",
}


def bodies() -> Iterator[type]:
    """Every shape that a request in `operation` refers to."""
    yield from (spoken.asked for spoken in _SPOKEN.values() if spoken.asked is not None)


def answers() -> Iterator[type]:
    """Every shape that an answer in `operation` refers to."""
    yield from (ErrorAnswer, OpenAIErrorAnswer, RpcErrorAnswer)
    for spoken in _SPOKEN.values():
        streamed = spoken.streamed[1] if spoken.streamed else None
        unavailable = spoken.unavailable[1] if spoken.unavailable else None
        yield from (shape for shape in (spoken.answered, streamed, unavailable) if shape is not None)


def operation(path: str, method: str) -> Json:
    """The description of one method (lower case) of a path; one that is in no table refuses every request."""
    spoken = _SPOKEN.get((path, method), _REFUSED)
    named = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    parameters = [_parameter("path", name) for name in named]
    if spoken.is_chat:
        parameters += [_parameter(*told) for told in _CHAT_PARAMETERS]
    if spoken.is_agents:
        parameters += [_parameter(*told) for told in _AGENT_PARAMETERS]
    described: Json = {
        "tags": [spoken.tag],
        "summary": spoken.summary,
        "operationId": spoken.id or f"{method}{path.translate(_PLAIN)}",
        "responses": {} if spoken is _REFUSED else {"200": _answer(spoken)},
    }
    if spoken.unavailable is not None:
        told, shape = spoken.unavailable
        described["responses"]["503"] = {"description": told, "content": {"application/json": schema_of(shape)}}
    if parameters:
        described["parameters"] = parameters
    if spoken.asked is not None:
        if spoken is not _CANCEL:
            described["externalDocs"] = {"url": _DOCS.get(surface_of(path), _OLLAMA_DOCS)}
        described["requestBody"] = {"required": True, "content": {"application/json": schema_of(spoken.asked)}}
    return described


def error_answer(path: str) -> Json:
    """The error answer that every route may give."""
    model = _ERRORS.get(surface_of(path), ErrorAnswer)
    return {"description": "An error, with its code", "content": {"application/json": schema_of(model)}}


_PLAIN = str.maketrans("/-.{}", "_____")


def _answer(spoken: Spoken) -> Json:
    answer: Json = {"description": "The answer", "content": {}}
    if spoken.is_text:
        answer["content"]["text/plain"] = {"schema": {"type": "string"}}
    if spoken.answered is not None:
        answer["content"]["application/json"] = schema_of(spoken.answered)
    if spoken.streamed is not None:
        kind, piece = spoken.streamed
        answer["content"][kind] = schema_of(piece)
        answer["description"] = "The whole answer, or, streamed, its pieces one after the other"
    if spoken.is_chat:
        answer["headers"] = {
            name: {"description": told, "schema": {"type": "string"}} for name, told in _CHAT_HEADERS.items()
        }
    return answer


def schema_of(model: type) -> Json:
    """A reference to a model's schema, as the content of a body."""
    return {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}


def _parameter(place: str, name: str, told: str = "") -> Json:
    parameter: Json = {"name": name, "in": place, "required": place == "path", "schema": {"type": "string"}}
    return {**parameter, "description": told} if told else parameter
