"""What no plan has is given neither to the matcher of phone numbers nor to its parser, which are slow."""

import random
from typing import Any

import pytest
from phonenumbers import PhoneNumber, PhoneNumberMatcher, phonenumbermatcher, phonenumberutil

from mnemoir.privacy.detection import Rules
from tests.stages import staged

REGIONS = ["US", "GB", "DE", "AT", "FR", "ES"]


@pytest.fixture
def matched(monkeypatch) -> list[str]:
    """The texts that the matcher was given."""
    given: list[str] = []
    begin = PhoneNumberMatcher.__init__

    def noted(self: PhoneNumberMatcher, text: str, *args: Any, **more: Any) -> None:
        given.append(text)
        begin(self, text, *args, **more)

    monkeypatch.setattr(PhoneNumberMatcher, "__init__", noted)
    return given


@pytest.fixture
def parsed(monkeypatch) -> list[str]:
    """What was parsed as a phone number."""
    given: list[str] = []
    parse = phonenumberutil.parse

    def noted(number: str, *args: Any, **more: Any) -> PhoneNumber:
        given.append(number)
        return parse(number, *args, **more)

    monkeypatch.setattr(phonenumbermatcher, "parse", noted)
    return given


DIGITS = [
    "2024-03-05 and 10:30, 1200 euros for 3 plans. " * 2_000,
    "2127365000\n" * 9_000,
    "0123456789" * 100_000,
    "12 34 56 78 " * 80_000,
    "+" * 100_000 + "1 " * 100_000,
    "(1" * 100_000,
]


@pytest.mark.parametrize(
    "text",
    staged(DIGITS, quick=2),
    ids=["prose", "lines of bare numbers", "one number", "pairs", "signs", "brackets"],
)
def test_digits_that_are_no_phone_number_cost_no_matching(matched, text):
    assert [one for one in Rules(REGIONS).find(text) if one.kind == "PHONE"] == []
    assert matched == []


@pytest.mark.slow
def test_a_phone_number_beside_a_megabyte_of_digits_is_found_by_its_own(matched):
    text = f"{'0123456789' * 100_000}\nCall 0171 2345678, or +49 171 2345679 ext. 5."
    found = [text[one.start : one.end] for one in Rules(["DE"]).find(text)]
    assert found == ["0171 2345678", "+49 171 2345679 ext. 5"]
    assert max(map(len, matched)) < 64


def test_numbers_in_a_row_are_found_each():
    numbers = ["0171 2345678", "0172 3456789", "+49 173 4567890", "0174/5678901"]
    row = ", ".join(numbers)
    assert [row[one.start : one.end] for one in Rules(["DE"]).find(row)] == numbers


@pytest.mark.parametrize(
    "line",
    [
        "1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9",
        "(1) 2-3 (4) 5/6-7 (8) 9/1",
        "999.999.999.999",
        "+999 12 345 6789",
        "90-90-90",
    ],
    ids=["single digits", "brackets", "fours", "an unknown country", "pairs"],
)
def test_groups_of_digits_that_no_plan_has_are_not_parsed(parsed, line):
    assert [one for one in Rules(REGIONS).find(f"{line}:\n" * 40) if one.kind == "PHONE"] == []
    assert parsed == []


def test_of_random_numbers_few_are_parsed(parsed):
    chance = random.Random(1)
    numbers = [str(chance.randrange(10 ** chance.randint(1, 12))) for _ in range(2_000)]
    Rules(REGIONS).find("".join(number + chance.choice([" ", "  ", "-", ".", "/", ", ", "\n"]) for number in numbers))
    assert len(parsed) < 0.1 * len(numbers)
