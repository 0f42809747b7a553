"""Fitting of a history into a token budget: the longest suffix, cut between units, whose count is within the budget.

One rule covers several designs. With unit "message" and `min_keep` 1 it means "drop the oldest message while more
than one is left"; with unit "turn" it means "drop the oldest turn, even the last one"; with an additive counter it
means "newest first until full". With every unit, a tool call and its results stay together, and no window starts with
a result. With unit "exchange" it starts with a user's message, behind system messages at most.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from mnemoir.conversations.windows.counters import Counter
from mnemoir.conversations.windows.validity import AnyMessage, match_results

Unit = Literal["message", "turn", "exchange"]
Some = TypeVar("Some", bound=AnyMessage)


def fit(
    messages: Sequence[Some],
    budget: int,
    counter: Counter[Some],
    unit: Unit = "turn",
    min_keep: int = 0,
    pinned: Collection[int] = (),
) -> list[Some]:
    """The messages of the window, in their order.

    The newest `min_keep` units and the messages at the indexes `pinned`, each with its whole tool round, are kept
    even over the budget; pinned messages count towards it. Otherwise a window is never over the budget and may be
    empty. Exceptions of the counter are passed on.
    """
    kept_anyway = _with_their_rounds(messages, pinned)
    cut = fitting_cut(messages, budget, counter, unit, min_keep, kept_anyway)
    return [message for at, message in enumerate(messages) if at >= cut or at in kept_anyway]


def fitting_cut(
    messages: Sequence[Some],
    budget: int,
    counter: Counter[Some],
    unit: Unit = "turn",
    min_keep: int = 0,
    pinned: Collection[int] = (),
) -> int:
    """The index where the suffix of `fit` begins; `len(messages)` for an empty suffix."""
    cuts = [*borders(messages, unit), len(messages)]
    floor = max(0, len(cuts) - 1 - max(0, min_keep))
    search = _Search(messages, budget, counter, _with_their_rounds(messages, pinned), cuts[: floor + 1])
    return cuts[_SEARCHES[counter.growth](search, 0)]


def borders(messages: Sequence[AnyMessage], unit: Unit) -> list[int]:
    """The indexes where a window may begin, oldest first: the first message of each unit.

    Turns begin at a user message; the messages before the first one are a unit of their own. An exchange is a turn or
    a system message right before one; the messages before the first one belong to no unit. Neither do tool results at
    the very beginning, whose calls are missing.
    """
    begins = _beginnings(messages, unit)
    if not any(message.role == "tool" for message in messages):  # a search for rounds would cost more than the rest
        return begins
    last_result = {answered.caller: at for at, answered in match_results(messages).items()}
    wanted, starts, round_ends = set(begins), list[int](), -1
    for at, message in enumerate(messages):
        begins_late = unit == "turn" and not starts
        if (at in wanted or begins_late) and message.role != "tool" and at > round_ends:
            starts.append(at)
        round_ends = max(round_ends, last_result.get(at, -1))
    return starts


def _beginnings(messages: Sequence[AnyMessage], unit: Unit) -> list[int]:
    """The borders of messages without tool rounds."""
    if unit == "exchange":
        return _beginnings_of_exchanges(messages)
    return [at for at, one in enumerate(messages) if at == 0 or unit == "message" or one.role == "user"]


def _beginnings_of_exchanges(messages: Sequence[AnyMessage]) -> list[int]:
    found: list[int] = []
    leads = False  # to a user's message, over nothing but system messages
    for at in range(len(messages) - 1, -1, -1):
        role = messages[at].role
        leads = role == "user" or (leads and role == "system")
        if leads:
            found.append(at)
    return found[::-1]


def system_messages(messages: Sequence[AnyMessage]) -> list[int]:
    """The indexes of the system messages, to be pinned."""
    return [at for at, message in enumerate(messages) if message.role == "system"]


@dataclass(frozen=True, slots=True)
class _Search(Generic[Some]):
    """A search for the first of `cuts` whose window fits; the result is the last of them when none fits."""

    messages: Sequence[Some]
    budget: int
    counter: Counter[Some]
    pinned: frozenset[int]
    cuts: Sequence[int]

    def fits(self, cut: int) -> bool:
        kept = [message for at, message in enumerate(self.messages) if at >= cut or at in self.pinned]
        return self.counter.count(kept) <= self.budget

    def cost(self, start: int, stop: int) -> int:
        count_one, messages = self.counter.count_one, self.messages
        return sum(count_one(messages[at]) for at in range(start, stop) if at not in self.pinned)


def _one_by_one(search: _Search[Any], first: int) -> int:
    """Linear search, for counters of unknown growth. When the counter falls back, its new growth decides the rest."""
    last = len(search.cuts) - 1
    for position in range(first, last):
        if search.counter.growth != "unknown":
            return _SEARCHES[search.counter.growth](search, position)
        if search.fits(search.cuts[position]):
            return position
    return last


def _by_halving(search: _Search[Any], first: int) -> int:
    """Binary search, for monotone counters."""
    last = len(search.cuts) - 1
    return bisect_left(range(last), True, lo=first, hi=last, key=lambda at: search.fits(search.cuts[at]))


def _by_sum(search: _Search[Any], first: int) -> int:
    """Summation from the newest message on, for additive counters; older messages are not counted."""
    last = len(search.cuts) - 1
    total = sum(search.counter.count_one(search.messages[at]) for at in search.pinned)
    total += search.cost(search.cuts[last], len(search.messages))
    for position in range(last - 1, first - 1, -1):
        total += search.cost(search.cuts[position], search.cuts[position + 1])
        if total > search.budget:
            return position + 1
    return first


_SEARCHES: dict[str, Callable[[_Search[Any], int], int]] = {
    "additive": _by_sum,
    "monotone": _by_halving,
    "unknown": _one_by_one,
}


def _with_their_rounds(messages: Sequence[AnyMessage], pinned: Collection[int]) -> frozenset[int]:
    if not pinned:
        return frozenset()
    caller_of = {at: answered.caller for at, answered in match_results(messages).items()}
    callers = {caller_of.get(at, at) for at in pinned}
    results = (at for at, caller in caller_of.items() if caller in callers)
    return frozenset(pinned) | callers | frozenset(results)
