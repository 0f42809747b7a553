"""Personal data in the spellings of documents and web pages: wide letters, no-break spaces, invisible characters."""

import pytest

from mnemoir.privacy.detection import Rules
from mnemoir.privacy.placeholders import Placeholders
from mnemoir.privacy.secrets import holds_secret
from mnemoir.privacy.spellings import plain

RULES = Rules(["GB"], ["DE", "US"])


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("IBAN", "DE37\u00a01361\u00a07938\u00a07654\u00a05029\u00a022"),
        ("IBAN", "DE37\u202f1361\u202f7938\u202f7654\u202f5029\u202f22"),
        ("CARD", "4653\u20112694\u20118469\u20110303"),
        ("CARD", "4653\u200b2694\u200b8469\u200b0303"),
        ("CARD", "".join(chr(0x0660 + int(digit)) for digit in "4653269484690303")),
        ("EMAIL", "\uff4d\uff49\uff52\uff41\uff20example.org"),
        ("EMAIL", "mi\u00adra@exam\u200bple.org"),
        ("PHONE", "+44\u202f121\u202f234\u202f5678"),
        ("NATIONAL_ID", "268\u201190\u20113154"),
        ("IP", "203\uff0e0\uff0e113\uff0e77"),
    ],
)
def test_what_is_found_in_a_text_is_found_in_its_other_spellings_too(kind, value):
    text = f"é\u200b {'SSN' if kind == 'NATIONAL_ID' else 'call'} {value}, thanks"
    assert [(one.kind, text[one.start : one.end]) for one in RULES.find(text)] == [(kind, value)]


def test_a_value_in_two_spellings_has_one_placeholder():
    text = "mira@example.org is \uff4di\u00adra@example.org"
    assert Placeholders().with_placeholders(text, RULES.find(text)) == "[EMAIL_1] is [EMAIL_1]"


def test_a_detector_sees_the_text_as_it_was_said():
    seen: list[str] = []

    def detect(text: str) -> list[tuple[str, int, int]]:
        seen.append(text)
        return [("PERSON", 2, 6)]

    Rules(detector=detect).find("\u200b Mira")
    assert seen == ["\u200b Mira"]


def test_a_card_with_no_break_spaces_is_not_made_into_a_memory():
    assert holds_secret("Pays with 4653\u00a02694\u00a08469\u00a00303")


def test_letters_of_other_scripts_and_dashes_stay():
    assert plain("über — Привет, 東京 ½ ²") == "über — Привет, 東京 ½ ²"
