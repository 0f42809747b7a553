"""What indexes may take together: the ones used last stay."""

import gc

import pytest

from mnemoir.search.residents import Budget


class Kept:
    def __init__(self, *, is_busy: bool = False) -> None:
        self.is_busy = is_busy
        self.is_there = True

    def drop(self) -> bool:
        self.is_there = self.is_busy
        return not self.is_busy


def test_the_ones_not_used_for_longest_are_dropped() -> None:
    budget, kept = Budget(30), [Kept() for _ in range(4)]
    for each in (*kept[:3], kept[0], kept[3]):
        budget.used(each, 10)
    assert [each.is_there for each in kept] == [True, False, True, True]


def test_one_that_is_in_use_stays_and_the_next_one_goes() -> None:
    budget, busy, idle, last = Budget(20), Kept(is_busy=True), Kept(), Kept()
    for each in (busy, idle, last):
        budget.used(each, 10)
    assert [each.is_there for each in (busy, idle, last)] == [True, False, True]


def test_one_alone_may_take_more_than_there_is() -> None:
    budget, large = Budget(1), Kept()
    budget.used(large, 10)
    assert large.is_there


@pytest.mark.slow
def test_what_is_gone_anyway_takes_nothing() -> None:
    budget, kept = Budget(20), Kept()
    budget.used(kept, 10)
    gone = Kept()
    budget.used(gone, 15)
    kept.is_there = True
    del gone
    gc.collect()
    last = Kept()
    budget.used(kept, 10)
    budget.used(last, 10)
    assert kept.is_there
