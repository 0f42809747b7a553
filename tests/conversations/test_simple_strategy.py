"""The strategy `simple`: the newest messages that fit, read from the newest end."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.conversations.windows.counters import CHARS4, FunctionCounter
from mnemoir.conversations.windows.strategies.choice import strategy_named
from mnemoir.conversations.windows.strategies.summarising import SummaryOptions
from mnemoir.conversations.windows.strategies.tail import SimpleStrategy
from mnemoir.conversations.windows.validity import INTERRUPTED, assert_valid_history
from mnemoir.core.conversations import Message, ToolCall
from mnemoir.core.errors import SettingsError
from tests.conversations.strategy_kit import ONE_EACH, SESSION, Summariser, opened, save, talk, texts, tool_round


def test_all_messages_when_they_fit(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, talk(3))
        assert SimpleStrategy(counter=ONE_EACH).window(rows, SESSION, 6) == talk(3)


def test_a_window_that_was_cut_begins_with_a_user(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, talk(100))
        windows = [texts(SimpleStrategy(counter=ONE_EACH).window(rows, SESSION, budget)) for budget in (1, 2, 3, 4)]
    assert windows == [[], ["q99", "a99"], ["q99", "a99"], ["q98", "a98", "q99", "a99"]]


def test_a_greeting_stays_in_a_window_that_holds_the_whole_thread_and_in_no_other(tmp_path: Path) -> None:
    greeting = Message("assistant", "Welcome to the inn.")
    with opened(tmp_path) as rows:
        save(rows, [greeting, *talk(2)])
        assert SimpleStrategy(counter=ONE_EACH).window(rows, SESSION, 5) == [greeting, *talk(2)]
        assert SimpleStrategy(counter=ONE_EACH).window(rows, SESSION, 4) == talk(2)


def test_system_messages_right_before_a_users_message_stay_with_it_where_they_fit(tmp_path: Path) -> None:
    rules = [Message("system", "be brief"), Message("system", "be kind")]
    with opened(tmp_path) as rows:
        save(rows, [*talk(1), *rules, *talk(1, first=1)])
        windows = [SimpleStrategy(counter=ONE_EACH).window(rows, SESSION, budget) for budget in (2, 3, 4, 5)]
    assert [len(window) for window in windows] == [2, 3, 4, 4]
    assert windows[2] == [*rules, *talk(1, first=1)]


def test_an_answer_that_came_after_the_context_was_cleared_does_not_begin_a_window(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, talk(1)[:1])
        rows.mark_context(SESSION)
        save(rows, [*talk(1)[1:], *talk(1, first=1)])
        assert SimpleStrategy().window(rows, SESSION, 100) == talk(1, first=1)


def test_of_one_long_turn_that_does_not_fit_nothing_is_left(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, [*talk(1), Message("user", "go"), *tool_round("a")[1:4] * 60])
        assert SimpleStrategy(counter=ONE_EACH).window(rows, SESSION, 100) == []


def test_nothing_when_the_newest_message_alone_is_over_the_budget(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, [Message("user", "x"), Message("user", "y" * 400)])
        assert SimpleStrategy().window(rows, SESSION, 99) == []


def test_nothing_for_an_unknown_session(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        assert SimpleStrategy().window(rows, "nobody", 100) == []


def test_a_window_over_many_pages_is_the_same_as_over_one(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, talk(400))
        assert SimpleStrategy(counter=ONE_EACH).window(rows, SESSION, 501) == talk(400)[-500:]


def test_only_the_newest_page_is_read_of_a_long_session(tmp_path: Path) -> None:
    asked: list[int] = []

    class Watched(type(opened(tmp_path))):  # type: ignore[misc]  # the class of a store is known only at run time
        def newest_messages(self, session_id, limit, *, before=None):
            asked.append(limit)
            return super().newest_messages(session_id, limit, before=before)

    with Watched(tmp_path / "watched.db") as rows:
        save(rows, talk(2_000))
        SimpleStrategy(counter=ONE_EACH).window(rows, SESSION, 40)
    assert asked == [64]


@pytest.mark.parametrize("budget", range(1, 12))
def test_a_tool_round_is_complete_or_left_out(tmp_path: Path, budget: int) -> None:
    with opened(tmp_path) as rows:
        save(rows, [*tool_round("a"), *tool_round("b")])
        window = SimpleStrategy(counter=ONE_EACH).window(rows, SESSION, budget)
    assert_valid_history(window)
    assert len(window) <= budget


def test_an_open_call_is_answered_and_counted(tmp_path: Path) -> None:
    open_call = [Message("user", "go"), Message("assistant", None, tool_calls=[ToolCall("c", "run", {})])]
    with opened(tmp_path) as rows:
        save(rows, [*talk(1), *open_call])
        window = SimpleStrategy(counter=ONE_EACH).window(rows, SESSION, 3)
    assert texts(window) == ["go", "", INTERRUPTED]


def test_a_counter_of_whole_lists_gives_the_same_window(tmp_path: Path) -> None:
    whole = FunctionCounter(CHARS4.count)
    with opened(tmp_path) as rows:
        save(rows, talk(60, words="some words to count"))
        windows = [SimpleStrategy(counter=counter).window(rows, SESSION, 120) for counter in (CHARS4, whole)]
    assert windows[0] == windows[1]
    assert windows[0]


def test_a_window_begins_behind_the_mark(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, talk(2))
        rows.mark_context(SESSION)
        save(rows, talk(1, first=2))
        assert texts(SimpleStrategy().window(rows, SESSION, 100)) == ["q2", "a2"]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 60), max_size=90), st.integers(0, 400))
def test_the_window_is_the_longest_suffix_that_fits(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], budget: int
) -> None:
    messages = [Message("user", "x" * size) for size in sizes]
    fitting = [at for at in range(len(messages) + 1) if sum(len(m.text) // 4 for m in messages[at:]) <= budget]
    with opened(tmp_path_factory.mktemp("suffix")) as rows:
        save(rows, messages)
        assert SimpleStrategy().window(rows, SESSION, budget) == messages[min(fitting) :]


@pytest.mark.parametrize("name", ["simple", "summarization", "hybrid"])
def test_every_strategy_has_a_name_and_keeps_what_fits(tmp_path: Path, name: Any) -> None:
    strategy = strategy_named(name, SummaryOptions(summarise=Summariser()))
    with opened(tmp_path) as rows:
        save(rows, talk(2))
        assert strategy.window(rows, SESSION, 4096) == talk(2)
    assert strategy.drain(0)


@pytest.mark.parametrize("name", ["none", "summarization"])
def test_an_unknown_name_and_a_missing_summariser_are_settings_errors(name: Any) -> None:
    with pytest.raises(SettingsError, match=name):
        strategy_named(name)
