"""How a history is made out of stored turns: one set of rules, and the named sets.

`default` is the project's own. The others behave as existing applications do, each defect included, for those who
depend on it: `compat_a_old` and `compat_a_new` as two generations of a chat application with branches, `compat_b` as
a session memory without any.
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
from mnemoir.core.conversation_messages import Message
from mnemoir.core.errors import SettingsError
from mnemoir.ports.turns import Turn

Some = TypeVar("Some", bound=Message)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRules:
    """The settings of the one machine behind both designs.

    `limit_applies_to`: a limit of N means N finished turns of the thread, or N rows of the whole conversation, other
    branches and the unfinished turn included. `skip_empty_turns` leaves out turns that were never answered, wherever
    they stand. `min_keep` counts units. `guards_counter`: a model that fails to count is replaced by an estimate;
    otherwise its 0 is believed and what it raises is passed on.
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
    """The rules of that name; SettingsError for a name that is not known."""
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
    """The turns whose messages make the history, oldest first, out of all rows of a conversation, newest first.

    The thread of `start` (the newest row when not given), without the turn that is still being answered. Rows may
    come from a lazy reader: none is read that is not needed. `has_files` is asked of turns without an answer only.
    """
    limit = row_limit(message_limit)
    read = islice(rows, limit) if rules.limit_applies_to == "rows" else rows
    turns = _finished(walk_thread(read, rule=rules.thread, start=start))
    if rules.skip_empty_turns:
        turns = (turn for turn in turns if turn.answer or turn.has_tool_calls or has_files(turn))
    return list(islice(turns, limit))[::-1]


def fit_by(rules: HistoryRules, messages: Sequence[Some], budget: int, counter: TokenCounter) -> list[Some]:
    """The window of these messages, cut as the rules say."""
    return fit(messages, budget, counter, unit=rules.unit, min_keep=rules.min_keep)


def counter_of(rules: HistoryRules, model: CountsTokens | None = None) -> TokenCounter:
    """The counter that the rules name; SettingsError when they name the model's and there is none."""
    if rules.counter == "model" and model is not None and not rules.guards_counter:
        return plain_model_counter(model)
    return counter_named(rules.counter, model)


def _finished(thread: Iterable[Turn]) -> Iterator[Turn]:
    """Without the newest turn when that is still being answered: no answer, and no tokens of one."""
    newest_first = iter(thread)
    newest = next(newest_first, None)
    if newest is not None and (newest.answer or newest.answer_tokens):
        yield newest
    yield from newest_first
