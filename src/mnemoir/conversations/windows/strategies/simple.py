"""The strategy `simple`: the newest messages that fit."""

from dataclasses import dataclass

from mnemoir.conversations.windows.counters import CHARS4, TokenCounter
from mnemoir.conversations.windows.fitting import Unit
from mnemoir.conversations.windows.strategies.strategy import StoredStrategy, Strategy
from mnemoir.conversations.windows.strategies.tail import read_tail
from mnemoir.core.conversations import StoredMessage
from mnemoir.ports.log import WindowRows


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleStrategy(StoredStrategy):
    """The newest messages, or with unit "turn" the newest turns; empty when the newest unit is over the budget."""

    counter: TokenCounter = CHARS4
    unit: Unit = "message"

    def choose(
        self, rows: WindowRows, session_id: str, budget: int, *, summarises: bool = True
    ) -> list[StoredMessage]:
        """See StoredStrategy. All messages when they fit."""
        tail = read_tail(rows, session_id, budget, self.counter, self.unit)
        return [*tail.stored[tail.cut :]]


_: type[Strategy] = SimpleStrategy  # checked, never run
