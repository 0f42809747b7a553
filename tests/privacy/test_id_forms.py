"""Ids by their forms: what a check finds valid has its form, and what has no form is not checked."""

import random
import re
from collections.abc import Iterator
from importlib import import_module

import pytest

from mnemoir.privacy.detection import Rules
from mnemoir.privacy.id_forms import FORMS
from mnemoir.privacy.numbers import rules_of

COUNTRIES = ("US", "GB", "DE", "AT", "FR", "ES", "IT")
TAKEN_TOO_WIDELY = {"pt.cc"}  # by the check
BEGINNINGS = ["", "", "", "", "AT", "ATU", "DE", "ES", "FR", "GB", "XI", "IT", "K", "P", "U", "X", "0", "1"]


def near(kind: str) -> Iterator[str]:
    """The ids in the documentation of a check without their separators, and many that differ from them a little."""
    module, chance = import_module(f"stdnum.{kind}"), random.Random(kind)
    examples = [re.sub(r"\W", "", found) for found in re.findall(r"'([^'\n]{5,24})'", str(module.__doc__))]
    yield from examples
    for _ in range(2_000):
        chars = list(chance.choice(BEGINNINGS) + chance.choice(examples))
        for _ in range(chance.randint(0, 3)):
            at = chance.randrange(len(chars))
            chars[at : at + chance.randint(0, 2)] = chance.choices("0123456789AHXa", k=chance.randint(0, 2)) or ["5"]
        yield "".join(chars)


@pytest.mark.parametrize("kind", sorted(FORMS.keys() - TAKEN_TOO_WIDELY))
def test_what_a_check_finds_valid_has_its_form(kind):
    valid = list(filter(import_module(f"stdnum.{kind}").is_valid, near(kind)))
    assert valid
    assert [found for found in valid if not re.fullmatch(FORMS[kind], found, re.IGNORECASE)] == []


def test_each_kind_of_these_countries_has_a_form():
    rules, *_ = rules_of(COUNTRIES)
    assert {rule.is_valid.__module__.removeprefix("stdnum.") for rule in rules} == FORMS.keys() - TAKEN_TOO_WIDELY


def test_digits_of_other_scripts_are_looked_at_and_are_no_id():
    assert Rules([], ["PT"]).find("id card 1234567٣9ZZ4") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ticket AB1234567 and P12345678", []),  # forms of a passport and of a tax preparer, without a check digit
        ("passport AB1234567", ["AB1234567"]),
        ("from IP 203.0.113.77", []),
        ("at 1970-01-01T00:00:00Z, part 53729b90", []),
        ("cartão 00000000 0 ZZ4", ["00000000 0 ZZ4"]),
    ],
)
def test_an_id_without_a_check_digit_needs_its_name_beside_it(text, found):
    ids = [one for one in Rules([], ["NL", "PT", "US"]).find(text) if one.kind == "NATIONAL_ID"]
    assert [text[one.start : one.end] for one in ids] == found


@pytest.mark.parametrize("text", ["A1.B23.C4-D56 " * 200, "12 345 678 90 " * 200, "3f2a-77b1-0c9d " * 200])
def test_what_has_no_form_or_no_name_beside_it_is_not_checked(monkeypatch, text):
    def fail(found: str) -> bool:
        raise AssertionError(found)

    rules, *_ = rules_of(COUNTRIES)
    for rule in rules:
        monkeypatch.setattr(f"{rule.is_valid.__module__}.validate", fail)
    assert [one for one in Rules([], COUNTRIES).find(text) if one.kind == "NATIONAL_ID"] == []
