"""Model servers of a config tree: how an endpoint is reached."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from mnemoir.ports.llm import ChatModel

ModelServerKind = Literal["openai-chat", "openai-completions", "koboldcpp", "ollama-chat", "ollama-generate"]
COMPLETION_KINDS: frozenset[ModelServerKind] = frozenset({"openai-completions", "koboldcpp", "ollama-generate"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """A model's server as an endpoint file names it.

    `base_url` has no `/v1` and no slash at its end; the protocol's whole path is put behind it. `most_at_once` limits
    the calls under way to this endpoint, over all requests; 0 sets no limit. None for a time means the server's own.
    `is_asked_once` is True where another endpoint is asked sooner than this one again.
    """

    name: str  # of the endpoint, for messages
    kind: ModelServerKind
    base_url: str = field(repr=False)  # may hold a password
    api_key: str = field(default="", repr=False)
    most_at_once: int = 0
    connect_timeout_s: float | None = None
    is_asked_once: bool = False


class ModelServers(Protocol):
    """All endpoints a workflow may ask."""

    def model(self, server: ModelServer) -> ChatModel:
        """The model behind it, the same one for an equal `server`.

        Its requests carry `options` and their own model name. Raises SettingsError for a URL that is none. An answer
        without a text counts as an empty text there, as existing configurations expect. Messages name the endpoint.
        """
