"""Where only what a plan may have is parsed, all is found that the library's own matcher finds."""

import random
from collections.abc import Iterator

import phonenumbers
import pytest
from phonenumbers import PhoneNumberMatcher

from mnemoir.privacy.numbering_plans import phone_matches
from tests.stages import staged

PIECES = [
    *"0123456789" * 3,
    *" .-/()[]+~",
    "  ",
    " - ",
    "00",
    "011",
    "+",
    "+49",
    "+1 ",
    "0049 ",
    "(0)",
    "\u00a0",
    "–",
    "ー",
]
BEHIND = [" ext. 12", " x5", "x12", " #4", " ~7", ",,3", ";ext=9", " int 1", "# ", " anexo 2", "é", "%", "７", "٣"]

BETWEEN = [" ", ", ", "\n", "; ", ":", "", " ("]


def varied(chance: random.Random, number: str) -> str:
    """A number with a few other digits."""
    return "".join(
        chance.choice("0123456789") if char.isdigit() and chance.random() < 0.2 else char for char in number
    )


def numbers_of(region: str) -> Iterator[str]:
    """Numbers of a region in the forms in which people write them."""
    for kind in (phonenumbers.PhoneNumberType.MOBILE, phonenumbers.PhoneNumberType.FIXED_LINE):
        number = phonenumbers.example_number_for_type(region, kind)
        if number:
            yield from (phonenumbers.format_number(number, form) for form in range(3))
            yield phonenumbers.national_significant_number(number)


def texts(region: str, count: int) -> Iterator[str]:
    """Short texts of digits and separators, some with a number of the region, or with nearly one."""
    chance = random.Random(region)
    examples = list(numbers_of(region))
    for _ in range(count):
        pieces = chance.choices(PIECES, k=chance.randint(4, 30)) + chance.choices(BEHIND, k=chance.randint(0, 2))
        if examples and chance.random() < 0.7:
            example = chance.choice(examples)
            cut = chance.randrange(len(example))
            pieces.insert(chance.randint(0, len(pieces)), example[:cut] + chance.choice(PIECES) + example[cut:])
            pieces.insert(chance.randint(0, len(pieces)), chance.choice(examples) + chance.choice(BEHIND))
            pieces += [chance.choice(BETWEEN), varied(chance, chance.choice(examples)), chance.choice(BETWEEN)]
        yield "".join(pieces)


def by_library(text: str, region: str | None) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in PhoneNumberMatcher(text, region, max_tries=len(text))]


@pytest.mark.parametrize("part", staged(range(8), quick=1))
def test_all_is_found_that_the_library_finds(part):
    found = 0
    for region in sorted(phonenumbers.SUPPORTED_REGIONS)[part::8]:
        for text in texts(region, 12):
            for asked in (region, None):
                here = [(one.start, one.end) for one in phone_matches(text, [asked])]
                assert here == by_library(text, asked), (text, asked)
                found += len(here)
    assert found > 200
