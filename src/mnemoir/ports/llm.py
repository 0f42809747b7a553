"""Chat models and the servers behind endpoints: requests independent of the protocol, and answers as events."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Protocol

from mnemoir.core.clock import now_text
from mnemoir.core.errors import NO_NAMES, ProviderError, UpstreamNames
from mnemoir.core.events import ModelEvent, Reply
from mnemoir.core.messages import ModelRequest

ModelServerKind = Literal["openai-chat", "openai-completions", "koboldcpp", "ollama-chat", "ollama-generate"]
# the paths of each protocol, which are put behind the address of a server
PATHS: Mapping[ModelServerKind, Sequence[str]] = {
    "openai-chat": ("/v1/chat/completions",),
    "openai-completions": ("/v1/completions",),
    "koboldcpp": ("/api/v1/generate", "/api/extra/generate/stream"),
    "ollama-chat": ("/api/chat",),
    "ollama-generate": ("/api/generate",),
}
COMPLETION_KINDS: frozenset[ModelServerKind] = frozenset({"openai-completions", "koboldcpp", "ollama-generate"})


@dataclass(slots=True)
class LastCalls:
    """The outcome of a model's last calls, for status displays. Times are ISO 8601."""

    answered_at: str | None = None
    failed_at: str | None = None
    error: str | None = None  # message of the last failure; it may quote the request
    code: str | None = None  # code of the last failure
    names: UpstreamNames = NO_NAMES  # that its server gave the last failure

    def noting(self) -> AbstractContextManager[None]:
        """A context around one call that records its outcome; a call cancelled by its caller is not recorded."""
        return _Noting(self)

    def note_end(self, exc: BaseException | None) -> None:
        """Record the end of a call now: its answer for None, its failure for a ProviderError."""
        if exc is None:
            self.answered_at = now_text()
        elif isinstance(exc, ProviderError):
            self.failed_at, self.error, self.code, self.names = now_text(), exc.message, exc.code, exc.names


class _Noting:
    """Context manager of `noting`. Each chat creates one, and a generator would cost three times as much."""

    __slots__ = ("_calls",)

    def __init__(self, calls: LastCalls) -> None:
        self._calls = calls

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls.note_end(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address of a model, without its key, passwords, and values in the query that may be secret."""

    url: str
    needs_key: bool


class ChatModel(Protocol):
    """A language model, local or remote. `stream` and `ask` raise only ProviderError and its subclasses.

    A request without a `model` goes to the model configured for the back-end. Only failures before the first byte
    are retried; cancelling the caller ends the upstream call.
    """

    @property
    def name(self) -> str:
        """The model's own name, for example `gpt-5-mini`."""

    @property
    def provider(self) -> str:
        """The protocol of the model: `openai-responses`, `openai-chat`, `ollama` or `offline`."""

    @property
    def last_calls(self) -> LastCalls:
        """The outcome of the model's last calls in this process."""

    def address(self, *, stream: bool) -> Address | None:
        """The address for streamed or for whole answers; None for a model that runs in this process."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelEvent], None]:
        """The answer as it arrives, in batches of the events of one network read; no batch is empty.

        The last event is the only Finished; a broken answer ends with an error instead. Closing the generator early
        ends the upstream call.
        """

    async def ask(self, request: ModelRequest) -> Reply:
        """The whole answer, by one upstream call."""

    async def aclose(self) -> None:
        """Free the back-end's resources; calling it twice is harmless."""


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
