"""Properties of every strategy's windows for all stored messages: within the budget, valid, in order, not invented.

Sessions of all kinds are tried: results before their calls, calls that a crash left open, system messages, pins,
given scores, a context that was cleared, a summariser that fails now and then.
"""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.windows.counters import CHARS4, HEURISTIC, FunctionCounter, TokenCounter
from mnemoir.conversations.windows.strategies.choice import strategy_named
from mnemoir.conversations.windows.strategies.hybrid import BudgetTooSmall
from mnemoir.conversations.windows.strategies.summarising import SummaryOptions, SummaryTask
from mnemoir.conversations.windows.validity import INTERRUPTED, SUMMARY_PREFIX, assert_valid_history, close_open_calls
from mnemoir.core.conversations import ROOT, Message
from tests.conversations.histories import any_messages, valid_histories
from tests.conversations.strategy_kit import SESSION, Summariser, opened, save, talk

NAMES = ["simple", "summarization", "hybrid"]
COUNTERS = {"chars4": CHARS4, "heuristic": HEURISTIC, "whole lists": FunctionCounter(HEURISTIC.count)}


def options(counter: TokenCounter, fails: Sequence[bool]) -> SummaryOptions:
    """A summariser that says how much it read, or fails; the pattern of `fails` is repeated."""
    calls = iter(range(10**6))

    def summarise(task: SummaryTask) -> str:
        if fails and fails[next(calls) % len(fails)]:
            raise ConnectionError("no model")
        return f"{task.previous} and {len(task.transcript)} characters more.".strip()

    return SummaryOptions(summarise=summarise, counter=counter, max_summary_tokens=40)


def without_what_is_made_up(window: Sequence[Message]) -> list[Message]:
    """No summary, no hint that something was left out, no result of an open call."""
    return [message for message in window if message.role != "system" and message.text != INTERRUPTED]


def is_part_in_order(part: Sequence[Message], whole: Sequence[Message]) -> bool:
    """Whether the messages stand in the other list too, in this order; results may have been moved to their calls."""
    rest = iter([message for message in whole if message.role in ("user", "assistant")])
    spoken = [message for message in part if message.role in ("user", "assistant")]
    results = [message.text for message in whole if message.role == "tool"]
    return all(message in rest for message in spoken) and all(
        message.text in results for message in part if message.role == "tool"
    )


long_sessions = st.lists(st.one_of(valid_histories(), any_messages()), min_size=1, max_size=6).map(
    lambda parts: [message for part in parts for message in part]
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10, deadline=None)
@given(
    messages=long_sessions,
    later=any_messages(),
    budgets=st.lists(st.integers(0, 400), min_size=1, max_size=3),
    counter=st.sampled_from(sorted(COUNTERS)),
    pins=st.sets(st.integers(0, 60), max_size=4),
    scores=st.dictionaries(st.integers(0, 60), st.floats(0, 1), max_size=8),
    cleared=st.booleans(),
    fails=st.lists(st.booleans(), max_size=3),
)
def test_a_window_keeps_its_promises(
    tmp_path_factory, name, messages, later, budgets, counter, pins, scores, cleared, fails
):
    count = COUNTERS[counter].count
    strategy = strategy_named(name, options(COUNTERS[counter], fails))
    with opened(tmp_path_factory.mktemp("windows")) as rows:
        ids = save(rows, messages)
        for at in pins:
            if ids:
                rows.set_pinned(ids[at % len(ids)], True)
        rows.set_importance({ids[at % len(ids)]: score for at, score in scores.items() if ids})
        if cleared:
            rows.mark_context(SESSION)
            messages = []
        save(rows, later)
        stored = [*messages, *later]
        whole = None if cleared and ids else close_open_calls(stored)
        for budget in budgets:
            try:
                window = strategy.window(rows, SESSION, budget)
            except BudgetTooSmall:
                assert name == "hybrid"
                assert count([message for message in stored if message.role == "system"]) > budget
                continue
            assert count(window) <= budget
            assert_valid_history(window, begins="any" if window == whole else "user")
            assert is_part_in_order(without_what_is_made_up(window), stored)
        assert strategy.drain(10)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=6, deadline=None)
@given(
    branches=st.lists(st.tuples(st.integers(0, 200), st.integers(1, 25)), min_size=1, max_size=6),
    budget=st.integers(100, 500),
    pins=st.sets(st.integers(0, 200), max_size=3),
)
def test_a_window_contains_only_messages_of_the_thread(tmp_path_factory, name, branches, budget, pins):
    """Nor does its summary: a branch that was left is not in it."""
    strategy = strategy_named(name, SummaryOptions(summarise=Summariser(), max_summary_tokens=budget))
    with opened(tmp_path_factory.mktemp("branches")) as rows:
        ids = [ROOT]
        for number, (at, turns) in enumerate(branches):
            said = [
                record_of(SESSION, message) for message in talk(turns, first=100 * number, words="and so on " * 4)
            ]
            ids += rows.append_messages(SESSION, said, parent_id=ids[at % len(ids)])
            for pin in pins:
                rows.set_pinned(ids[pin % len(ids)], True)
            thread = [message.text.split()[0] for message in rows.load_messages(SESSION)]
            window = strategy.window(rows, SESSION, budget)
            told = [message.text for message in window if message.role != "system"]
            summaries = [message.text for message in window if message.role == "system"]
            assert {text.split()[0] for text in told} <= set(thread)
            assert {word for text in summaries for word in summary_words(text)} <= set(thread)


def summary_words(text: str) -> list[str]:
    """But for the last one, which may be cut."""
    return text.removeprefix(SUMMARY_PREFIX).split()[:-1]
