"""What both stages run together is every case, and each case is in one of them."""

import random

import pytest

from tests.stages import leave_cases_to_slow, staged


def is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


def items(request: pytest.FixtureRequest, cases: int) -> list[pytest.Item]:
    """As many cases of one test, in any order."""
    made: list[pytest.Item] = [
        pytest.Function.from_parent(request.node.parent, name=f"test_made[{at}]", callobj=lambda: None)
        for at in range(cases)
    ]
    random.shuffle(made)
    return made


@pytest.mark.parametrize(("quick", "slow"), [(1, ["b", "c"]), (["b"], ["a", "c"]), (3, [])])
def test_cases_that_are_not_quick_are_slow(quick, slow):
    cases = staged("abc", quick=quick)
    assert [case.values[0] for case in cases if not isinstance(case, str)] == slow
    assert len(cases) == 3


def test_a_case_that_is_not_there_cannot_be_quick():
    with pytest.raises(AssertionError, match="one of all cases"):
        staged("abc", quick=["d"])


def test_of_many_cases_the_same_few_stay_in_whatever_order_they_come(request):
    many = items(request, 9)
    leave_cases_to_slow(many, most=3)
    assert sorted(item.name for item in many if not is_slow(item)) == ["test_made[0]", "test_made[4]", "test_made[8]"]


def test_few_cases_all_stay(request):
    few = items(request, 3)
    leave_cases_to_slow(few, most=3)
    assert not any(is_slow(item) for item in few)
