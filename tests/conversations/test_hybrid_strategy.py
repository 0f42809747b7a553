"""The strategy `hybrid`: important messages stay unchanged, however old they are."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.conversations.windows.counters import HEURISTIC, FunctionCounter
from mnemoir.conversations.windows.strategies.hybrid import BudgetTooSmall, HybridStrategy
from mnemoir.conversations.windows.strategies.summarising import SummaryOptions
from mnemoir.conversations.windows.strategies.tail import SimpleStrategy
from mnemoir.conversations.windows.validity import SUMMARY_PREFIX, assert_valid_history
from mnemoir.core.conversations import Message
from mnemoir.core.errors import SettingsError
from tests.conversations.strategy_kit import SESSION, Summariser, cost, opened, save, talk, texts, tool_round

_WORDS = "word " * 19
_FACTS = [
    "My name is Priya and I live in Leeds.",
    "Ich bin gegen Nüsse allergisch.",
    "报告的截止日期是5月15日。",
    "We decided to go with Postgres instead of MongoDB.",
    "The budget is $4,500 and we can't go over it.",
]


def _summarised(summariser: Summariser) -> HybridStrategy:
    return HybridStrategy(SummaryOptions(summarise=summariser, timeout_s=20))


def _with_facts() -> list[Message]:
    """Each fact early, among a lot of talk."""
    said = [message for fact in _FACTS for message in (Message("user", fact), Message("assistant", "Noted."))]
    return [*talk(10, words=_WORDS), *said, *talk(80, first=10, words=_WORDS)]


def test_messages_that_fit_are_sent_unchanged(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, talk(3))
        assert HybridStrategy().window(rows, SESSION, 100) == talk(3)


def test_old_facts_are_in_the_window_where_simple_has_lost_them(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, _with_facts())
        hybrid = texts(HybridStrategy().window(rows, SESSION, 1000))
        simple = texts(SimpleStrategy().window(rows, SESSION, 1000))
    assert [fact for fact in _FACTS if fact in hybrid] == _FACTS
    assert [fact for fact in _FACTS if fact in simple] == []


def test_the_parts_stand_in_order_and_within_the_budget(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, [Message("system", "Be brief."), *_with_facts()])
        window = _summarised(Summariser()).window(rows, SESSION, 1000)
    assert window[0] == Message("system", "Be brief.")
    assert window[1].text.startswith(f"{SUMMARY_PREFIX}q0 q1")
    assert texts(window[2:7]) == _FACTS
    assert window[-1] == talk(80, first=10, words=_WORDS)[-1]
    assert 500 <= cost(window) <= 1000
    assert_valid_history(window)


def test_the_summariser_does_not_read_what_is_kept_anyway(tmp_path: Path) -> None:
    summariser = Summariser()
    with opened(tmp_path) as rows:
        save(rows, _with_facts())
        _summarised(summariser).window(rows, SESSION, 1000)
    assert not [fact for fact in _FACTS if fact in summariser.tasks[0].transcript]
    assert "Noted." in summariser.tasks[0].transcript


def test_a_later_load_calls_no_model_until_messages_leave_the_window(tmp_path: Path) -> None:
    summariser = Summariser()
    strategy = _summarised(summariser)
    with opened(tmp_path) as rows:
        save(rows, _with_facts())
        for number in range(100, 130):
            window = strategy.window(rows, SESSION, 1500)
            assert cost(window) <= 1500
            save(rows, talk(1, first=number, words=_WORDS))
    assert 1 < len(summariser.tasks) <= 4


def test_a_pinned_message_is_kept_whatever_it_says(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        ids = save(rows, talk(100, words=_WORDS))
        for at in (3, 51):
            assert rows.set_pinned(ids[at], True)
        window = HybridStrategy().window(rows, SESSION, 400)
        assert {talk(100, words=_WORDS)[at].text for at in (3, 51)} <= set(texts(window))
        rows.set_pinned(ids[3], False)
        assert talk(100, words=_WORDS)[3] not in HybridStrategy().window(rows, SESSION, 400)


def test_of_a_pinned_tool_result_its_round_is_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        ids = save(rows, [*tool_round("a"), *talk(100, words=_WORDS)])
        rows.set_pinned(ids[3], True)
        window = _summarised(Summariser()).window(rows, SESSION, 400)
    start = texts(window).index("saw a")
    assert texts(window[start - 2 : start + 2]) == ["look at a", "", "saw a", "saw a again"]
    assert_valid_history(window)


@pytest.mark.parametrize("is_summarised", [False, True])
def test_an_answer_that_is_kept_and_comes_first_takes_its_question_along(tmp_path: Path, is_summarised: bool) -> None:
    strategy = _summarised(Summariser()) if is_summarised else HybridStrategy()
    with opened(tmp_path) as rows:
        ids = save(rows, talk(100, words=_WORDS))
        for at in (1, 51):
            rows.set_pinned(ids[at], True)
        window = strategy.window(rows, SESSION, 400)
    said = [message for message in window if message.role != "system"]
    assert said[:3] == [talk(100, words=_WORDS)[at] for at in (0, 1, 51)]
    assert cost(window) <= 400


def test_a_kept_greeting_that_answers_nothing_does_not_begin_a_window(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        ids = save(rows, [Message("assistant", "Welcome."), *talk(100, words=_WORDS)])
        rows.set_pinned(ids[0], True)
        window = HybridStrategy().window(rows, SESSION, 400)
    assert window[0].role == "user"
    assert 350 < cost(window) <= 400


def test_a_kept_answer_whose_question_does_not_fit_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        ids = save(rows, [Message("user", "x" * 4000), Message("assistant", "yes"), *talk(20, words=_WORDS)])
        rows.set_pinned(ids[1], True)
        window = HybridStrategy().window(rows, SESSION, 400)
    assert window[0].role == "user"
    assert "yes" not in texts(window)


def test_a_summary_alone_is_no_window(tmp_path: Path) -> None:
    strategy = _summarised(Summariser())
    with opened(tmp_path) as rows:
        save(rows, talk(100, words=_WORDS))
        assert strategy.window(rows, SESSION, 400)[0].text.startswith(SUMMARY_PREFIX)
        save(rows, [Message("user", "x" * 4000)])
        assert strategy.window(rows, SESSION, 400) == []


def test_pinned_messages_are_dropped_only_for_the_newest_turn(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        ids = save(rows, talk(100, words=_WORDS))
        for at in range(0, 40, 2):
            rows.set_pinned(ids[at], True)
        window = HybridStrategy().window(rows, SESSION, 400)
    assert texts(window)[-2:] == texts(talk(1, first=99, words=_WORDS))
    pinned = [message for message in window if message.role == "user"][:-1]
    assert pinned == [talk(100, words=_WORDS)[at] for at in range(0, 40, 2)][-len(pinned) :]
    assert 350 < cost(window) <= 400


def test_of_too_many_important_messages_the_lowest_scores_go_first(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        ids = save(rows, talk(100, words=_WORDS))
        rows.set_importance(dict.fromkeys(ids, 0.0) | {ids[at]: 0.6 + at / 1000 for at in range(0, 60, 2)})
        window = HybridStrategy().window(rows, SESSION, 1000)
    kept = [message for message in talk(30, words=_WORDS) if message in window]
    assert kept == talk(30, words=_WORDS)[60 - 2 * len(kept) :: 2]
    assert 250 < cost(kept) <= 300


def test_system_messages_are_never_dropped_and_too_long_ones_are_an_error_with_both_numbers(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, [Message("system", "x" * 800), *talk(100, words=_WORDS), Message("system", "y" * 400)])
        window = HybridStrategy().window(rows, SESSION, 500)
        assert texts(window)[:2] == ["x" * 800, "y" * 400]
        with pytest.raises(BudgetTooSmall, match=r"300 tokens .* 299"):
            HybridStrategy().window(rows, SESSION, 299)


def test_when_summarising_fails_the_important_messages_are_still_there(tmp_path: Path) -> None:
    def failing(task: object) -> str:
        raise ConnectionError("no model")

    with opened(tmp_path) as rows:
        save(rows, _with_facts())
        window = HybridStrategy(SummaryOptions(summarise=failing)).window(rows, SESSION, 1000)
    assert texts(window)[:5] == _FACTS


def test_the_scores_are_stored_but_for_the_newest_messages(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, _with_facts())
        HybridStrategy().window(rows, SESSION, 1000)
        assert [one.message for one in rows.unscored_messages(SESSION, 100)] == _with_facts()[-6:]


def test_a_threshold_is_between_0_and_1() -> None:
    with pytest.raises(SettingsError, match="importance_threshold"):
        HybridStrategy(importance_threshold=6)


def test_stored_messages_stay_as_they_are(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, _with_facts())
        _summarised(Summariser()).window(rows, SESSION, 1000)
        assert rows.load_messages(SESSION) == _with_facts()


_TURN = st.one_of(
    st.integers(0, 300).map(lambda size: [Message("user", "x" * size), Message("assistant", "y" * size)]),
    st.sampled_from(_FACTS).map(lambda fact: [Message("user", fact), Message("assistant", "ok")]),
    st.sampled_from("abc").map(tool_round),
    st.just([Message("system", "rule")]),
)


@settings(max_examples=20, deadline=None)
@given(
    turns=st.lists(_TURN, min_size=1, max_size=60),
    budget=st.integers(100, 900),
    pins=st.sets(st.integers(0, 60), max_size=4),
    is_summarised=st.booleans(),
    counter=st.sampled_from([HEURISTIC, FunctionCounter(HEURISTIC.count)]),
)
def test_a_window_is_within_its_budget_and_valid_and_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    turns: list[list[Message]],
    budget: int,
    pins: set[int],
    is_summarised: bool,
    counter: FunctionCounter,
) -> None:
    messages = [message for turn in turns for message in turn]
    options = SummaryOptions(summarise=Summariser(), counter=counter) if is_summarised else None
    with opened(tmp_path_factory.mktemp("hybrid")) as rows:
        ids = save(rows, messages)
        for at in pins:
            rows.set_pinned(ids[at % len(ids)], True)
        try:
            window = HybridStrategy(options, counter=counter).window(rows, SESSION, budget)
        except BudgetTooSmall:
            assert counter.count([message for message in messages if message.role == "system"]) > budget
            return
    assert counter.count(window) <= budget
    assert_valid_history(window)
    told = iter([message for message in messages if message.role != "system"])
    assert all(message in told for message in window if message.role != "system")
