"""Operations on two numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.workflows.nodes.arithmetic_processor import calculate


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1 + 2", "3"),
        ("-5--3", "-2"),
        ("5 - 7", "-2"),
        ("1.5*2", "3"),
        ("10 / 4", "2.5"),
        ("10 / 5", "2"),
        ("0.1 + 0.2", "0.30000000000000004"),
        (" .5 * -2 ", "-1"),
        ("0 * -1.5", "0"),
        ("9007199254740993 * 1", "9007199254740993"),
        ("9007199254740993 / 1", "9007199254740993"),
    ],
)
def test_an_operation_on_two_numbers_is_calculated(expression, result):
    assert str(calculate(expression)) == result


@pytest.mark.parametrize(
    "expression",
    ["", "1", "1 +", "1 / 0", "1 % 2", "2 ** 3", "1 + 2 + 3", "a + 1", "1e5 + 1", "(1 + 2)", "1,5 + 2", "٣ + 1"],
)
def test_any_other_text_has_no_result(expression):
    assert calculate(expression) is None


@pytest.mark.parametrize("expression", ["9" * 350 + ".0 * 9", "1" + "0" * 5000 + " * 2", "1" * 50_000 + "x"])
def test_a_number_too_large_for_a_float_has_no_result(expression):
    assert calculate(expression) is None


@given(st.text(alphabet="0123456789.+-*/ x", max_size=500))
def test_any_text_is_handled(expression):
    assert calculate(expression) is None or len(str(calculate(expression))) < 1000
