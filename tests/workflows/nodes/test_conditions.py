"""The grammar of conditions."""

import operator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.workflows.nodes.conditional import NotACondition, holds


@pytest.mark.parametrize(
    "condition",
    [
        "TRUE",
        "true",
        "word",
        "'FALSE'",
        "5",
        "-1 == -1",
        "5 == 5.0",
        "5 != '5'",
        "word == 'word'",
        "'a b' == \"a b\"",
        "2 < 10",
        "2>=2",
        "TRUE == true",
        "FALSE AND FALSE OR TRUE",
        "TRUE OR FALSE AND FALSE",
        "(TRUE or FALSE) and TRUE",
        "((1 == 1))",
        "ANDROID == 'ANDROID'",
        "a == a, AND; b != c!",
        "1 == 2 OR 'x' == x",
    ],
)
def test_it_holds(condition):
    assert holds(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "FALSE",
        "0",
        "''",
        '"5" == 5',
        "'10' > '9'",
        "b > a",
        "TRUE > 0",
        "1 == 2",
        "(TRUE OR TRUE) AND FALSE",
        "5 > 5",
    ],
)
def test_it_does_not_hold(condition):
    assert not holds(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "",
        " ,;",
        "two words",
        "a == two words",
        "1 ==",
        "== 1",
        "AND",
        "1 AND",
        "OR == OR",
        "(1 == 1",
        "1 == 1)",
        "1 < 2 < 3",
        "()",
        "a OR two words",
        "it's == 'it'",
        "(" * 200 + "1" + ")" * 200,
        "x" * 524_289,
    ],
)
def test_it_is_no_condition(condition):
    with pytest.raises(NotACondition):
        holds(condition)


_SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_COMPARISONS = st.tuples(st.integers(-9, 9), st.sampled_from(sorted(_SIGNS)), st.integers(-9, 9))
_CONDITIONS = st.recursive(
    _COMPARISONS.map(lambda c: (f"{c[0]} {c[1]} {c[2]}", _SIGNS[c[1]](c[0], c[2]))),
    lambda inner: st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(
        lambda c: (f"({c[0][0]}) {c[1]} ({c[2][0]})", (c[0][1] and c[2][1]) if c[1] == "AND" else c[0][1] or c[2][1])
    ),
    max_leaves=12,
)


@given(_CONDITIONS)
def test_it_agrees_with_the_language_it_is_written_in(condition):
    text, expected = condition
    assert holds(text) == expected


@given(st.text(alphabet="aB1.()'\"=<>!- ANDOR", max_size=60))
def test_any_text_holds_or_does_not_or_is_no_condition(text):
    with suppress(NotACondition):
        assert holds(text) in (True, False)


@pytest.mark.parametrize("piece", ["1 == 1 AND ", "'", "\"'", "1" * 999 + "x AND ", ";", "1.1", "("])
def test_any_long_text_is_read_in_bounded_time(piece):
    with pytest.raises(NotACondition):
        holds(piece * (500_000 // len(piece)) + "(")
