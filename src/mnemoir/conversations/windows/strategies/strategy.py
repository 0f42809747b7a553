"""What a strategy is."""

from abc import ABC, abstractmethod
from typing import Literal, Protocol

from mnemoir.core.conversation_messages import Message
from mnemoir.core.conversations import ROOT, StoredMessage, messages_of
from mnemoir.ports.log import WindowRows

StrategyName = Literal["simple", "summarization", "hybrid"]


class Strategy(Protocol):
    """Makes windows. One object serves all sessions and threads."""

    def window(self, rows: WindowRows, session_id: str, budget: int) -> list[Message]:
        """The messages to send, oldest first, in at most `budget` tokens; empty for an unknown session.

        A call never stands there without its results. Blocks; raises StorageUnavailable.
        """

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait for the summaries under way, for ever without a time; whether all of them are done."""


class StoredStrategy(ABC):
    """A strategy whose windows tell where each message is stored."""

    __slots__ = ()

    @abstractmethod
    def choose(
        self, rows: WindowRows, session_id: str, budget: int, *, summarises: bool = True
    ) -> list[StoredMessage]:
        """The messages of `window` with their places; `made` are those that the store does not hold.

        Without `summarises` no model is asked: the window is made with the summary there is.
        """

    def window(self, rows: WindowRows, session_id: str, budget: int) -> list[Message]:
        """The messages to send, oldest first; see `Strategy.window`."""
        return messages_of(self.choose(rows, session_id, budget))

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait for the summaries under way; whether all of them are done."""
        return True


def stored_window(
    strategy: Strategy, rows: WindowRows, session_id: str, budget: int, *, summarises: bool = True
) -> list[StoredMessage]:
    """The window with the places of its messages; those of a strategy that tells none count as `made`."""
    if isinstance(strategy, StoredStrategy):
        return strategy.choose(rows, session_id, budget, summarises=summarises)
    return [
        StoredMessage(id=ROOT, session_id=session_id, message=message, created_at=None, made=True)
        for message in strategy.window(rows, session_id, budget)
    ]
