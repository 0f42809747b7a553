"""Every window that was cut begins with a user's message, for all strategies and budgets, over random threads."""

import random
from collections.abc import Callable, Sequence

import pytest

from mnemoir.conversations.windows.counters import CHARS4, FunctionCounter
from mnemoir.conversations.windows.strategies.hybrid import BudgetTooSmall, HybridStrategy
from mnemoir.conversations.windows.strategies.summarising import SummaryOptions
from mnemoir.conversations.windows.strategies.summarization import SummarizationStrategy
from mnemoir.conversations.windows.strategies.tail import SimpleStrategy, Strategy
from mnemoir.conversations.windows.validity import assert_valid_history, close_open_calls
from mnemoir.core.conversations import Message, ToolCall
from tests.conversations.plain_rows import PlainRows
from tests.stages import staged

THREADS = 1_000
AT_ONCE = 10  # threads in a case
SUMMARY = "They talked."


def score_by_length(message: Message, context: object) -> float:
    """Of the messages of every role a third is important, and all rules."""
    return 1.0 if message.role == "system" else len(message.text) % 15 / 15


STRATEGIES: dict[str, Callable[[], Strategy]] = {
    "simple": SimpleStrategy,
    "simple, counted as a whole": lambda: SimpleStrategy(counter=FunctionCounter(CHARS4.count)),
    "summarization": lambda: SummarizationStrategy(
        SummaryOptions(summarise=lambda task: SUMMARY, max_summary_tokens=20), recent_messages=6
    ),
    "hybrid": lambda: HybridStrategy(score=score_by_length),
    "hybrid with summaries": lambda: HybridStrategy(
        SummaryOptions(summarise=lambda task: SUMMARY, max_summary_tokens=20), score=score_by_length
    ),
}


def random_thread(chance: random.Random) -> list[Message]:
    """Greetings, questions one behind the other, rounds of tools, calls without results, rules, missing answers."""
    said = [Message("assistant", "Welcome!")] if chance.random() < 0.3 else []
    for _ in range(chance.randint(1, 12)):
        if chance.random() < 0.1:
            said.append(Message("system", words(chance, 5)))
        said += [Message("user", words(chance, 60)) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
        for number in range(chance.choice((0, 0, 1, 2))):
            said.append(Message("assistant", None, tool_calls=[ToolCall(f"c{number}", "look", {"at": "map"})]))
            if chance.random() < 0.8:
                said.append(Message("tool", words(chance, 60), tool_call_id=f"c{number}", name="look"))
        if chance.random() < 0.9:
            said.append(Message("assistant", words(chance, 120)))
    return said


def words(chance: random.Random, most: int) -> str:
    return "word " * chance.randint(1, most)


def longest_end(thread: Sequence[Message], budget: int) -> list[Message]:
    """By the plainest search: of all ends that begin with a user's message the first that fits."""
    for at in range(len(thread)):
        behind = next((one.role for one in thread[at:] if one.role != "system"), None)
        if behind == "user" and CHARS4.count(thread[at:]) <= budget:
            return [*thread[at:]]
    return []


@pytest.mark.parametrize("first", staged(range(0, THREADS, AT_ONCE), quick=1))
def test_a_window_that_was_cut_begins_with_a_user_whatever_the_strategy(first: int) -> None:
    cut = 0
    for seed in range(first, first + AT_ONCE):
        chance = random.Random(seed)
        thread = random_thread(chance)
        pinned = chance.sample(range(len(thread)), min(len(thread), chance.randint(0, 3)))
        mark = chance.choice((0, 0, 0, chance.randrange(len(thread))))
        budgets = [chance.randint(0, CHARS4.count(thread) + 5) for _ in range(4)]
        for name in STRATEGIES:
            cut += sum(is_cut_as_it_should_be(name, thread, pinned, mark, budget) for budget in budgets)
    assert cut > AT_ONCE * len(STRATEGIES)


def is_cut_as_it_should_be(name: str, thread: list[Message], pinned: list[int], mark: int, budget: int) -> bool:
    """False for a window that holds the whole thread; fails for one that breaks the rule."""
    rows = PlainRows(thread, pinned=pinned, mark=mark)
    whole = close_open_calls(thread[mark:])
    try:
        window = STRATEGIES[name]().window(rows, "s", budget)
    except BudgetTooSmall:
        assert CHARS4.count([one for one in whole if one.role == "system"]) > budget
        return True
    assert CHARS4.count(window) <= budget
    if CHARS4.count(whole) <= budget and not mark:
        assert window == whole
        return False
    assert_valid_history(window, begins="any")
    roles = [one.role for one in window if one.role != "system"]
    assert roles[:1] in ([], ["user"]), (name, budget, [one.role for one in window])
    if name.startswith("simple"):
        assert window == longest_end(whole, budget)
    elif not roles:  # what a strategy puts in front is no reason to show nothing of what would fit
        rules = [one for one in whole if one.role == "system"] if name.startswith("hybrid") else []
        assert window == rules
        assert longest_end([one for one in whole if one not in rules], budget - CHARS4.count(rules)) == []
    return True
