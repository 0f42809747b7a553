"""All cases of a loop are tried, and each that fails is named."""

import re

import pytest

from tests.each_case import check_each


def is_even(number: int, *more: int) -> None:
    assert number % 2 == 0


def test_each_case_that_fails_is_named_behind_the_last():
    def noting(*case: int) -> None:
        tried.append(case)
        is_even(*case)

    tried: list[tuple[object, ...]] = []
    with pytest.raises(AssertionError, match=re.compile(r"2 of 4 cases:\n1: .*\n\(3, 4\): ", re.DOTALL)):
        check_each([0, 1, (3, 4), 6], noting)
    assert tried == [(0,), (1,), (3, 4), (6,)]


def test_cases_that_hold_are_no_failure():
    check_each([0, 2], is_even)


def test_no_case_is_a_failure():
    with pytest.raises(AssertionError, match="there is no case"):
        check_each([], is_even)


def test_an_error_names_its_case():
    with pytest.raises(ZeroDivisionError) as raised:
        check_each([1, 0], lambda number: 1 / number)
    assert raised.value.__notes__ == ["The case was 0."]
