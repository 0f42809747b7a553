"""What a strategy is."""

from typing import Literal, Protocol

from mnemoir.conversations.messages import Message
from mnemoir.conversations.session_storage import WindowRows

StrategyName = Literal["simple", "summarization", "hybrid"]


class Strategy(Protocol):
    """Makes windows. One object serves all sessions and threads."""

    def window(self, rows: WindowRows, session_id: str, budget: int) -> list[Message]:
        """The messages to send, oldest first, in at most `budget` tokens; empty for an unknown session.

        A call never stands there without its results. Blocks; raises StorageUnavailable.
        """

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait for the summaries under way, for ever without a time; whether all of them are done."""
