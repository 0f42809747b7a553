"""Cutting of a history to a budget, compared with the reference's rule: drop the oldest unit, count again."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.windows.counters import (
    CHARS4,
    HEURISTIC,
    AdditiveCounter,
    Counter,
    FunctionCounter,
    model_counter,
)
from mnemoir.conversations.windows.fitting import borders, fit, fitting_cut, system_messages
from mnemoir.conversations.windows.validity import assert_valid_history, match_results
from mnemoir.core.conversations import Message
from tests.conversations.histories import any_messages, caller, result, valid_histories
from tests.narrowing import present

units = st.sampled_from(["message", "turn"])
budgets = st.integers(-2, 60)


def letters(messages):
    return sum(len(message.text) for message in messages)


def uneven(messages):
    """No sum and not monotone: a short list may count for more than a long one."""
    return 3 + letters(messages) + (17 if len(messages) % 3 == 1 else 0)


ADDITIVE: AdditiveCounter[Message] = AdditiveCounter(lambda message: len(message.text))
UNKNOWN = FunctionCounter(uneven)
COUNTERS: dict[str, tuple[Counter[Message], Callable[[Sequence[Message]], int]]] = {
    "additive": (ADDITIVE, letters),
    "monotone": (FunctionCounter(lambda messages: 3 + letters(messages), "monotone"), lambda m: 3 + letters(m)),
    "unknown": (UNKNOWN, uneven),
}


def oracle(messages, budget, count, unit, min_keep):
    """Drop the oldest unit while the rest is over the budget and more than `min_keep` units are left."""
    window = drop_orphans(list(messages))
    while window and count(window) > budget and len(split(window, unit)) > min_keep:
        window = [message for part in split(window, unit)[1:] for message in part]
    return window


def drop_orphans(window):
    while window and window[0].role == "tool":
        window.pop(0)
    return window


def split(window, unit):
    """Units as lists, of valid histories: a round of tools goes with the message that calls."""
    parts: list[list[Message]] = []
    for message in window:
        if not parts or message.role == "user" or (unit == "message" and message.role != "tool"):
            parts.append([])
        parts[-1].append(message)
    return parts


@pytest.mark.parametrize("growth", COUNTERS)
@given(messages=valid_histories(), budget=budgets, unit=units, min_keep=st.integers(0, 3))
def test_a_window_is_the_result_of_dropping_the_oldest_unit_repeatedly(growth, messages, budget, unit, min_keep):
    counter, count = COUNTERS[growth]
    assert fit(messages, budget, counter, unit, min_keep) == oracle(messages, budget, count, unit, min_keep)


@given(messages=any_messages(), budget=budgets, unit=units, min_keep=st.integers(0, 2))
def test_a_window_is_a_suffix_that_is_over_the_budget_only_for_what_must_be_kept(messages, budget, unit, min_keep):
    window = fit(messages, budget, ADDITIVE, unit, min_keep)
    cut = len(messages) - len(window)
    assert window == messages[cut:]
    if window and letters(window) > budget:
        assert cut in borders(messages, unit)[-min_keep:]
        assert min_keep


@given(messages=any_messages(), budget=budgets, unit=units, pins=st.sets(st.integers(0, 15), max_size=3))
def test_no_window_parts_a_call_from_its_result_or_begins_with_a_result(messages, budget, unit, pins):
    matched = [
        at for at in pins if at < len(messages) and (messages[at].role != "tool" or at in match_results(messages))
    ]
    numbered = [Message(m.role, m.content, m.tool_calls, m.tool_call_id, str(at)) for at, m in enumerate(messages)]
    window = fit(numbered, budget, ADDITIVE, unit, pinned=matched)
    kept = {int(present(message.name)) for message in window}
    for at, answered in match_results(messages).items():
        assert (at in kept) == (answered.caller in kept)
    assert not window or window[0].role != "tool"


@given(messages=valid_histories(), budget=budgets)
def test_a_window_of_turns_is_a_history_that_providers_accept(messages, budget):
    pinned = system_messages(messages)
    assert_valid_history(fit(messages, budget, ADDITIVE, "turn", pinned=pinned))


@given(messages=valid_histories(), budget=budgets)
def test_with_system_messages_pinned_whole_rounds_are_added_from_the_newest_until_one_does_not_fit(messages, budget):
    kept = [message for message in messages if message.role == "system"]
    rounds = split([message for message in messages if message.role != "system"], "turn")
    chosen: list[Message] = []
    for one in reversed(rounds):
        if letters([*kept, *one, *chosen]) > budget:
            break
        chosen = [*one, *chosen]
    assert fit(messages, budget, ADDITIVE, "turn", pinned=system_messages(messages)) == [*kept, *chosen]


@given(messages=valid_histories(), budget=budgets, unit=units, pins=st.sets(st.integers(0, 20), max_size=4))
def test_every_search_finds_the_same_cut(messages, budget, unit, pins):
    pinned = [at for at in pins if at < len(messages)]
    cuts = {
        fitting_cut(messages, budget, counter, unit, pinned=pinned)
        for counter in (ADDITIVE, FunctionCounter(letters, "monotone"), FunctionCounter(letters))
    }
    assert len(cuts) == 1


PAIR = [Message("user", "u" * 10), Message("assistant", "a" * 10)]


def test_exactly_at_the_limit_nothing_is_dropped():
    assert fit(PAIR * 2, 40, ADDITIVE, "turn") == PAIR * 2
    assert fit(PAIR * 2, 39, ADDITIVE, "turn") == PAIR


@pytest.mark.parametrize("budget", [0, -5])
def test_without_a_budget_turns_leave_nothing_and_messages_leave_the_last(budget):
    assert fit(PAIR, budget, ADDITIVE, "turn") == []
    assert fit(PAIR, budget, ADDITIVE, "message", min_keep=1) == PAIR[1:]


def test_an_oversized_newest_turn_leaves_an_empty_history():
    assert fit([*PAIR, Message("user", "u" * 100)], 50, ADDITIVE, "turn") == []


def test_an_empty_history_stays_empty_and_is_not_counted():
    def refuse(messages):
        raise AssertionError("asked")

    assert fit([], 0, FunctionCounter(refuse), "message", min_keep=1) == []


def test_a_pinned_message_counts_and_keeps_its_tool_round():
    messages = [Message("user", "u" * 5), caller("x"), result("x", "r" * 5), *PAIR]
    assert fit(messages, 25, ADDITIVE, "turn", pinned=[2]) == [messages[1], messages[2], *PAIR]
    assert fit(messages, 24, ADDITIVE, "turn", pinned=[2]) == [messages[1], messages[2]]


def test_results_whose_calls_are_gone_are_dropped_from_the_front_even_when_all_fits():
    assert fit([result("x"), *PAIR], 1000, ADDITIVE, "message") == PAIR


def test_messages_before_the_first_user_message_are_a_unit_without_leading_results():
    assert borders([result("x"), Message("assistant", "so"), Message("system", "be kind"), *PAIR], "turn") == [1, 3]


def test_a_late_result_keeps_its_turn_together_with_the_turn_of_its_call():
    messages = [Message("user", "go"), caller("x"), Message("user", "wait"), result("x"), Message("user", "next")]
    assert borders(messages, "turn") == [0, 4]
    assert borders(messages, "message") == [0, 1, 4]


def test_a_call_without_a_result_joins_no_units():
    assert borders([caller("x"), Message("user", "go on"), caller("x"), result("x")], "message") == [0, 1, 2]


def test_exceptions_of_an_unguarded_counter_are_passed_on():
    def broken(messages):
        raise OSError("no model")

    with pytest.raises(OSError, match="no model"):
        fit(PAIR, 5, FunctionCounter(broken))


def test_an_additive_counter_counts_only_the_messages_the_window_needs():
    seen: list[Message] = []

    def cost(message: Message) -> int:
        seen.append(message)
        return 10

    counter = AdditiveCounter(cost)
    assert fit(PAIR * 500, 40, counter, "message") == PAIR * 2
    assert len(seen) == 5


class FailsOnLongLists:
    def get_llm_num_tokens(self, messages):
        raise ValueError("too long")


@pytest.mark.parametrize("unit", ["message", "turn"])
def test_a_counter_that_falls_back_cuts_like_the_estimate(unit):
    messages = PAIR * 20
    assert fit(messages, 50, model_counter(FailsOnLongLists()), unit) == fit(messages, 50, HEURISTIC, unit)


class SaysNothing:
    calls = 0

    def get_llm_num_tokens(self, messages):
        self.calls += 1
        return 0


def test_ten_thousand_turns_are_not_counted_again_for_every_turn_when_the_model_cannot_count():
    model = SaysNothing()
    window = fit(PAIR * 10_000, 140, model_counter(model))
    assert window == PAIR * 10
    assert model.calls == 1


class CountsCalls:
    """As exact as a model can be, with something for the list itself."""

    def __init__(self, growth):
        self.token_growth = growth
        self.calls = 0

    def get_llm_num_tokens(self, messages):
        self.calls += 1
        return 3 + letters(messages)


@pytest.mark.parametrize("budget", [0, 100, 5000, 9_999, 10_003, 10_004])
def test_a_window_of_500_turns_takes_a_dozen_counts_of_a_monotone_model(budget):
    knowing, plain = CountsCalls("monotone"), CountsCalls("unknown")
    assert fit(PAIR * 500, budget, model_counter(knowing)) == fit(PAIR * 500, budget, model_counter(plain))
    assert knowing.calls <= 12


def test_a_chars4_window_keeps_short_messages_that_cost_nothing():
    short = [Message("user", "abc"), Message("assistant", "def")]
    assert fit(short, 0, CHARS4, "message") == short


@given(messages=any_messages())
def test_borders_rise_and_the_ones_of_turns_are_among_those_of_messages(messages):
    turns = borders(messages, "turn")
    assert set(turns) <= set(borders(messages, "message"))
    assert all(older < newer for older, newer in pairwise(turns))
