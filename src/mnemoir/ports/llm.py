"""Chat models: a request in no protocol's words, and the answer as events or whole."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from mnemoir.core.clock import now_text
from mnemoir.core.errors import ProviderError
from mnemoir.core.events import ModelEvent, Reply
from mnemoir.core.messages import ModelRequest


@dataclass(slots=True)
class LastCalls:
    """How the last calls of a model ended, for whoever asks whether it is well. Times are ISO 8601."""

    answered_at: str | None = None
    failed_at: str | None = None
    error: str | None = None  # what the last failed call raised; it may quote what was sent
    code: str | None = None  # of that error

    def noting(self) -> AbstractContextManager[None]:
        """Around one call. One that its caller ends tells nothing."""
        return _Noting(self)

    def ended(self, exc: BaseException | None) -> None:
        """A call ended now: with its answer, or with that."""
        if exc is None:
            self.answered_at = now_text()
        elif isinstance(exc, ProviderError):
            self.failed_at, self.error, self.code = now_text(), exc.message, exc.code


class _Noting:
    """A class of its own, for each chat makes one: a generator would cost it three times as much."""

    __slots__ = ("_calls",)

    def __init__(self, calls: LastCalls) -> None:
        self._calls = calls

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls.ended(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a model is asked, without its key, a password, or the value of any member of a query that may be one."""

    url: str
    needs_key: bool


class ChatModel(Protocol):
    """A language model, near or far. Both methods raise ProviderError (or a subclass) and nothing else.

    A request without a `model` goes to the one the back-end was set up with. Only failures before the first
    byte are retried; cancelling the caller ends the call upstream.
    """

    @property
    def name(self) -> str:
        """The model's own name, for example `gpt-5-mini`."""

    @property
    def provider(self) -> str:
        """How it is reached: `openai-responses`, `openai-chat`, `ollama` or `offline`."""

    @property
    def last_calls(self) -> LastCalls:
        """How its calls in this process went."""

    def address(self, *, stream: bool) -> Address | None:
        """Where requests for a whole answer or for a streamed one go; None for a model that runs in this process."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelEvent], None]:
        """The answer as it comes, all events of one network read together, never an empty batch.

        The last event is the one Finished; a broken answer ends with an error instead. Closing the generator early
        ends the call upstream.
        """

    async def ask(self, request: ModelRequest) -> Reply:
        """The whole answer, in one call upstream."""

    async def aclose(self) -> None:
        """Free what the back-end holds; calling it twice is harmless."""
