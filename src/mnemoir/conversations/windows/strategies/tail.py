"""The interface of strategies, the newest part of a session, and the strategy `simple`: the newest messages that fit.

A session is read in pages from its newest end, as far as needed to fill a budget. A window that holds the whole
thread is as it is, even if that begins with a greeting; one that was cut begins with a user's message, since
providers refuse a history that begins with an answer.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from mnemoir.conversations.windows.counters import CHARS4, TokenCounter
from mnemoir.conversations.windows.fitting import borders, fitting_cut
from mnemoir.conversations.windows.validity import closed_calls
from mnemoir.core.conversations import ROOT, Message, StoredMessage, messages_of
from mnemoir.ports.log import WindowRows

StrategyName = Literal["simple", "summarization", "hybrid"]
_FIRST_PAGE = 64  # messages; each further page has twice as many


class Strategy(Protocol):
    """A strategy that chooses windows. One object serves all sessions and threads."""

    def window(self, rows: WindowRows, session_id: str, budget: int) -> list[Message]:
        """The messages to send, oldest first, in at most `budget` tokens; empty for an unknown session.

        Behind system messages, the first one is a user's unless the window holds the whole thread. Every tool call is
        followed by its results. Blocks; raises StorageUnavailable.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The newest messages, oldest first, every tool call with a result. It may begin in the middle of a turn.

    `cut` is the index where the window within the budget begins: 0, or a user's message or system messages right
    before one, or the end. An added result has the id of the message before it.
    """

    stored: Sequence[StoredMessage]
    cut: int
    is_whole: bool  # True when there are no older messages

    @property
    def fits(self) -> bool:
        """True when the whole session is within the budget."""
        return self.is_whole and self.cut == 0

    @property
    def messages(self) -> list[Message]:
        """The messages without their storage rows."""
        return messages_of(self.stored)

    def index_after(self, upto: int) -> int | None:
        """The index of the first message after the message `upto`; None when that is older than the tail."""
        found = (at + 1 for at in range(len(self.stored) - 1, -1, -1) if self.stored[at].id == upto)
        return next(found, 0 if self.is_whole else None)

    def border(self, at: int) -> int:
        """The index of the last beginning of a turn at or before the index `at`."""
        return max((start for start in borders(self.messages, "turn") if start <= at), default=0)


def read_tail(rows: WindowRows, session_id: str, budget: int, counter: TokenCounter) -> Tail:
    """Read a tail that exceeds the budget, or the whole session."""
    newest_first: list[StoredMessage] = []
    size, spent = _FIRST_PAGE, 0
    while True:
        before = newest_first[-1].id if newest_first else None
        page = rows.newest_messages(session_id, size, before=before)
        is_whole = len(page) < size
        newest_first += page
        spent += sum(CHARS4.count_one(one.message) for one in page)
        if is_whole or spent > budget:  # even the lowest estimate leaves no room for more
            tail = tail_of(newest_first[::-1], budget, counter, is_whole=is_whole)
            if is_whole or tail.cut:
                return tail
        size *= 2


def tail_of(stored: Sequence[StoredMessage], budget: int, counter: TokenCounter, *, is_whole: bool) -> Tail:
    """The tail of these messages, oldest first, with a result for every tool call.

    `is_whole` is True when none are before them, or windows begin after those: then what is before the first user's
    message is left out, since a window behind a mark is a cut one.
    """
    closed = with_closed_calls(stored)
    if is_whole and stored and _is_behind_others(stored[0]):
        closed = closed[next(iter(borders(messages_of(closed), "exchange")), len(closed)) :]
    messages = messages_of(closed)
    cut = fitting_cut(messages, budget, counter, "exchange")
    holds_all_questions = not any(message.role == "user" for message in messages[:cut])
    if cut and holds_all_questions and counter.count(messages) <= budget:
        cut = 0  # what is before the first question fits, too
    return Tail(stored=closed, cut=cut, is_whole=is_whole)


def _is_behind_others(one: StoredMessage) -> bool:
    """True for a message that is not the first of its conversation; unknown parents are those of other programs."""
    return one.parent_id not in (ROOT, None)


def with_closed_calls(stored: Sequence[StoredMessage]) -> list[StoredMessage]:
    """The messages with a result for every tool call, and without results of unknown calls."""
    if not any(one.message.role == "tool" or one.message.tool_calls for one in stored):
        return [*stored]
    closed: list[StoredMessage] = []
    for at, message in closed_calls(messages_of(stored)):
        if at is None:
            closed.append(replace(closed[-1], message=message, made=True))  # it follows its call
        else:
            one = stored[at]
            closed.append(one if one.message is message else replace(one, message=message))
    return closed


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleStrategy(StoredStrategy):
    """The longest end of the thread that fits and begins with a user's message; empty when none fits."""

    counter: TokenCounter = CHARS4
    unit: Literal["message", "turn"] = "message"  # no difference, since both are cut in front of a user's message

    def choose(
        self, rows: WindowRows, session_id: str, budget: int, *, summarises: bool = True
    ) -> list[StoredMessage]:
        """See StoredStrategy. All messages when they fit."""
        tail = read_tail(rows, session_id, budget, self.counter)
        return [*tail.stored[tail.cut :]]


_: type[Strategy] = SimpleStrategy  # checked, never run
