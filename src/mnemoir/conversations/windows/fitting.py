"""Fitting a history into a budget of tokens: the longest suffix, cut between units, that the counter accepts.

One rule serves both designs. With unit "message" and `min_keep` 1 it is "drop the oldest message while more than one
is left"; with unit "turn" it is "drop the oldest turn, even the last one"; with an additive counter it is "newest
first until full". Whatever the unit, a call and its results are never parted, and no window starts with a result.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from mnemoir.conversations.windows.counters import Counter
from mnemoir.conversations.windows.tool_rounds import AnyMessage, match_results

Unit = Literal["message", "turn"]
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

    The newest `min_keep` units are kept even over the budget, and so are the messages at the indexes `pinned`, each
    with the other messages of its tool round; what is pinned counts against the budget. A window is otherwise never
    over the budget, and may be empty. What the counter raises is passed on.
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
    """The index where the suffix of `fit` begins; `len(messages)` for none."""
    cuts = [*borders(messages, unit), len(messages)]
    floor = max(0, len(cuts) - 1 - max(0, min_keep))
    search = _Search(messages, budget, counter, _with_their_rounds(messages, pinned), cuts[: floor + 1])
    return cuts[_SEARCHES[counter.growth](search, 0)]


def borders(messages: Sequence[AnyMessage], unit: Unit) -> list[int]:
    """The indexes where a window may begin, oldest first: the beginning of each unit.

    Turns begin at a user message; what stands before the first one is a unit of its own. Tool results at the very
    beginning, whose calls are gone, belong to none.
    """
    if not any(message.role == "tool" for message in messages):  # looking for rounds would cost more than the rest
        return [at for at, one in enumerate(messages) if at == 0 or unit == "message" or one.role == "user"]
    last_result = {answered.caller: at for at, answered in match_results(messages).items()}
    starts: list[int] = []
    round_ends = -1
    for at, message in enumerate(messages):
        begins = unit == "message" or message.role == "user" or not starts
        if begins and message.role != "tool" and at > round_ends:
            starts.append(at)
        round_ends = max(round_ends, last_result.get(at, -1))
    return starts


def system_messages(messages: Sequence[AnyMessage]) -> list[int]:
    """The indexes of the system messages, to be pinned."""
    return [at for at, message in enumerate(messages) if message.role == "system"]


@dataclass(frozen=True, slots=True)
class _Search(Generic[Some]):
    """A question for the first of `cuts` whose window fits. The last of them is the answer when none does."""

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
    """For counters of which nothing is known; a counter that gives up on the way becomes what it falls back to."""
    last = len(search.cuts) - 1
    for position in range(first, last):
        if search.counter.growth != "unknown":
            return _SEARCHES[search.counter.growth](search, position)
        if search.fits(search.cuts[position]):
            return position
    return last


def _by_halving(search: _Search[Any], first: int) -> int:
    """For counters that never count a part as more than the whole."""
    last = len(search.cuts) - 1
    return bisect_left(range(last), True, lo=first, hi=last, key=lambda at: search.fits(search.cuts[at]))


def _by_sum(search: _Search[Any], first: int) -> int:
    """For counters whose counts add up: from the newest end, looking at no message that is not needed."""
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
