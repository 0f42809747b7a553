"""The members that requests of OpenAI's and Ollama's protocols need here, and those that Mnemoir adds.

The other members are in the protocols' own documentation. They are forwarded to a model of the same protocol.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict


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


class CancelBody(TypedDict):
    """`DELETE` on a chat route: end the answer with that id."""

    request_id: str


class Cancelled(TypedDict):
    """The answer was ended."""

    status: Literal["cancelled"]
    request_id: str
