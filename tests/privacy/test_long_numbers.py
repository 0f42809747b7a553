"""What is no phone number in any plan is never given to the matcher of phone numbers, which is slow."""

import phonenumbers
import pytest

from mnemoir.privacy.detection import Rules

REGIONS = ["US", "GB", "DE", "AT", "FR", "ES"]


@pytest.fixture
def matched(monkeypatch) -> list[str]:
    """The texts that the matcher was given."""
    given: list[str] = []

    class Matcher(phonenumbers.PhoneNumberMatcher):
        def __init__(self, text: str, *args: object, **more: object) -> None:
            given.append(text)
            super().__init__(text, *args, **more)

    monkeypatch.setattr(phonenumbers, "PhoneNumberMatcher", Matcher)
    return given


@pytest.mark.parametrize(
    "text",
    [
        "0123456789" * 100_000,
        "12 34 56 78 " * 80_000,
        "2127365000\n" * 9_000,
        "2024-03-05 and 10:30, 1200 euros for 3 plans. " * 2_000,
        "+" * 100_000 + "1 " * 100_000,
        "(1" * 100_000,
    ],
    ids=["one number", "pairs", "lines of bare numbers", "prose", "signs", "brackets"],
)
def test_digits_that_are_no_phone_number_cost_no_matching(matched, text):
    assert [one for one in Rules(REGIONS).find(text) if one.kind == "PHONE"] == []
    assert matched == []


def test_a_phone_number_beside_a_megabyte_of_digits_is_found_by_its_own(matched):
    text = f"{'0123456789' * 100_000}\nCall 0171 2345678, or +49 171 2345679 ext. 5."
    found = [text[one.start : one.end] for one in Rules(["DE"]).find(text)]
    assert found == ["0171 2345678", "+49 171 2345679 ext. 5"]
    assert max(map(len, matched)) < 64


def test_numbers_in_a_row_are_found_each():
    numbers = ["0171 2345678", "0172 3456789", "+49 173 4567890", "0174/5678901"]
    row = ", ".join(numbers)
    assert [row[one.start : one.end] for one in Rules(["DE"]).find(row)] == numbers
