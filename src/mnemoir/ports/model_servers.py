"""Model servers of a config tree: the address of an endpoint, and the models behind endpoints."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from mnemoir.ports.llm import ChatModel

ModelServerKind = Literal["openai-chat", "openai-completions", "koboldcpp", "ollama-chat", "ollama-generate"]
COMPLETION_KINDS: frozenset[ModelServerKind] = frozenset({"openai-completions", "koboldcpp", "ollama-generate"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """A model's server as described by an endpoint file.

    `base_url` ends without `/v1` and without a slash; the protocol's whole path is appended. `most_at_once` limits
    the concurrent calls to this endpoint over all requests; 0 means no limit. A time of None means the server's
    setting. `is_asked_once` is True for an endpoint with a backup: the backup is asked instead of a retry.
    """

    name: str  # of the endpoint, for messages
    kind: ModelServerKind
    base_url: str = field(repr=False)  # may hold a password
    api_key: str = field(default="", repr=False)
    most_at_once: int = 0
    connect_timeout_s: float | None = None
    is_asked_once: bool = False


class ModelServers(Protocol):
    """The models behind the endpoints of a config tree."""

    def model(self, server: ModelServer) -> ChatModel:
        """The model behind `server`; the same object for equal values.

        Requests to it carry `options` and their own model name. An answer without a text counts as an empty text, as
        existing configurations expect. Error messages name the endpoint. Raises SettingsError for an invalid URL.
        """
