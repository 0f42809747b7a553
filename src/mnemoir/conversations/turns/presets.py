"""The rules that select a history from stored turns, and the named presets of rules.

`default` is Mnemoir's own. The others reproduce existing applications with all their defects, for users who depend on
them: `compat_a_old` and `compat_a_new` two generations of a chat application with branches, `compat_b` a session
memory without branches.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeVar

from mnemoir.conversations.turns.threads import ThreadRule, row_limit, walk_thread
from mnemoir.conversations.windows.counters import (
    CounterName,
    CountsTokens,
    TokenCounter,
    counter_named,
    plain_model_counter,
)
from mnemoir.conversations.windows.fitting import Unit, fit
from mnemoir.core.conversations import Message
from mnemoir.core.errors import SettingsError
from mnemoir.ports.turns import Turn

Some = TypeVar("Some", bound=Message)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRules:
    """The rules that select and cut a history.

    `limit_applies_to`: a limit of N means N finished turns of the thread, or N rows of the whole conversation, other
    branches and the unfinished turn included. `skip_empty_turns` leaves out all turns that were never answered.
    `min_keep` is a number of units. `guards_counter`: a model whose counting fails is replaced by an estimate;
    otherwise a count of 0 is accepted and exceptions are passed on.
    """

    thread: ThreadRule = "scoped"
    limit_applies_to: Literal["turns", "rows"] = "turns"
    skip_empty_turns: bool = True
    unit: Unit = "turn"
    min_keep: int = 0
    counter: CounterName = "model"
    guards_counter: bool = True


DEFAULT = HistoryRules()
COMPAT_A_NEW = HistoryRules(thread="observed", limit_applies_to="rows", skip_empty_turns=False, guards_counter=False)
COMPAT_A_OLD = HistoryRules(
    thread="observed",
    limit_applies_to="rows",
    skip_empty_turns=False,
    unit="message",
    min_keep=1,
    guards_counter=False,
)
COMPAT_B = HistoryRules(thread="linear", skip_empty_turns=False, unit="message", counter="chars4")
PRESETS: dict[str, HistoryRules] = {
    "default": DEFAULT,
    "compat_a_old": COMPAT_A_OLD,
    "compat_a_new": COMPAT_A_NEW,
    "compat_b": COMPAT_B,
}


def preset(name: str) -> HistoryRules:
    """The rules of that name. Raises SettingsError for an unknown name."""
    if name not in PRESETS:
        raise SettingsError(f"The preset {name!r:.40} is not known; choose one of {', '.join(PRESETS)}.")
    return PRESETS[name]


def select_turns(
    rows: Iterable[Turn],
    rules: HistoryRules = DEFAULT,
    *,
    message_limit: int | None = None,
    start: str | None = None,
    has_files: Callable[[Turn], bool] = lambda turn: False,
) -> list[Turn]:
    """The turns of the history, oldest first, from all rows of a conversation, newest first.

    They are the thread of `start` (default: the newest row) without the turn that is still being answered. Rows may
    come from a lazy reader; only needed rows are read. `has_files` is called for turns without an answer only.
    """
    limit = row_limit(message_limit)
    read = islice(rows, limit) if rules.limit_applies_to == "rows" else rows
    turns = _finished_turns(walk_thread(read, rule=rules.thread, start=start))
    if rules.skip_empty_turns:
        turns = (turn for turn in turns if turn.answer or turn.has_tool_calls or has_files(turn))
    return list(islice(turns, limit))[::-1]


def fit_by(rules: HistoryRules, messages: Sequence[Some], budget: int, counter: TokenCounter) -> list[Some]:
    """The messages, cut to the budget by the rules."""
    return fit(messages, budget, counter, unit=rules.unit, min_keep=rules.min_keep)


def counter_of(rules: HistoryRules, model: CountsTokens | None = None) -> TokenCounter:
    """The token counter of the rules. Raises SettingsError for the model's counter without a model."""
    if rules.counter == "model" and model is not None and not rules.guards_counter:
        return plain_model_counter(model)
    return counter_named(rules.counter, model)


def _finished_turns(thread: Iterable[Turn]) -> Iterator[Turn]:
    """The thread without its newest turn if that is still being answered: no answer and no answer tokens."""
    newest_first = iter(thread)
    newest = next(newest_first, None)
    if newest is not None and (newest.answer or newest.answer_tokens):
        yield newest
    yield from newest_first
