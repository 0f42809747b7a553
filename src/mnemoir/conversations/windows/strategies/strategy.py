"""The interface of strategies."""

from abc import ABC, abstractmethod
from typing import Literal, Protocol

from mnemoir.core.conversations import ROOT, Message, StoredMessage, messages_of
from mnemoir.ports.log import WindowRows

StrategyName = Literal["simple", "summarization", "hybrid"]


class Strategy(Protocol):
    """A strategy that chooses windows. One object serves all sessions and threads."""

    def window(self, rows: WindowRows, session_id: str, budget: int) -> list[Message]:
        """The messages to send, oldest first, in at most `budget` tokens; empty for an unknown session.

        Every tool call is followed by its results. Blocks; raises StorageUnavailable.
        """

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait for running summaries, without limit for None; True when all have ended."""


class StoredStrategy(ABC):
    """A strategy whose windows consist of stored messages."""

    __slots__ = ()

    @abstractmethod
    def choose(
        self, rows: WindowRows, session_id: str, budget: int, *, summarises: bool = True
    ) -> list[StoredMessage]:
        """The messages of `window` as stored messages; `made` marks those that are not in the store.

        Without `summarises` no model is called, and the window uses the existing summary.
        """

    def window(self, rows: WindowRows, session_id: str, budget: int) -> list[Message]:
        """The messages to send, oldest first; see `Strategy.window`."""
        return messages_of(self.choose(rows, session_id, budget))

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait for running summaries; True when all have ended."""
        return True


def stored_window(
    strategy: Strategy, rows: WindowRows, session_id: str, budget: int, *, summarises: bool = True
) -> list[StoredMessage]:
    """The window as stored messages; all are marked `made` for a strategy that is not a StoredStrategy."""
    if isinstance(strategy, StoredStrategy):
        return strategy.choose(rows, session_id, budget, summarises=summarises)
    return [
        StoredMessage(id=ROOT, session_id=session_id, message=message, created_at=None, made=True)
        for message in strategy.window(rows, session_id, budget)
    ]
