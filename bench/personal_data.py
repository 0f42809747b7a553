"""CPU time of looking for personal data in 1,000 characters: prose, labelled texts, and texts made to be slow."""

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

from bench.report import median, table
from mnemoir.privacy.detection import Rules

TRIES = 5
REGIONS = ["US", "GB", "DE", "AT", "FR", "ES"]
_LABEL = re.compile(r"\{[A-Z_]+:([^}]+)\}")
_LABELLED = Path(__file__).parents[1] / "tests" / "privacy" / "labelled.txt"
_PROSE = "We met on 2024-03-05 at 10:30 in room 12 and spoke of the 3 plans for the year, which cost 1200 euros. "

_SEPARATORS = [" ", "  ", "-", ".", "/", ", ", "\n", ":", " (", ") ", " +"]


def numbers(line: Callable[[random.Random], str]) -> str:
    """10,000 characters of lines of numbers."""
    chance = random.Random(1)
    text = ""
    while len(text) < 10_000:
        text += re.sub("0", lambda _: chance.choice("0123456789"), line(chance))
    return text


def texts() -> dict[str, str]:
    """Texts by what they are."""
    lines = _LABELLED.read_text("utf-8").splitlines()
    return {
        "prose with dates and numbers": _PROSE * 200,
        "prose with a phone number in 10,000 characters": f"{_PROSE * 97}Call 0171 2345678. " * 2,
        "301 labelled texts": "\n".join(_LABEL.sub(r"\1", line) for line in lines if line and line[0] != "#"),
        "groups of digits": numbers(lambda chance: "0" * chance.randint(1, 12) + chance.choice(_SEPARATORS)),
        "groups of letters and digits": numbers(
            lambda chance: chance.choice("ABC") + "0" * chance.randint(1, 3) + " "
        ),
        "phone numbers": numbers(lambda _: "(000) 000-0000\n"),
        "phone numbers with extensions": numbers(lambda _: "000-000-0000 ext. 000\n"),
        "numbers with + in small groups": numbers(lambda _: "+0-00 0/00.0 0/0 00 0-00 0 00/0 0 0\n"),
        "account numbers": numbers(
            lambda chance: "".join(chance.choices("ABDEFGS", k=2)) + "00 0000 0000 0000 0000, "
        ),
        "words for tax and numbers": numbers(
            lambda chance: chance.choice(["vat ", "tax id "]) + "00 0000 0 000 000\n"
        ),
        "a megabyte of digits": "1234567890" * 100_000,
        "a megabyte of pairs of digits": "12 34 56 78 " * 83_000,
        "100 kB of ten digits a line": "1234567890\n" * 9_000,
    }


def cost(text: str, regions: list[str]) -> float:
    """CPU seconds for 1,000 characters, of rules that remember no text."""
    taken = []
    for _ in range(TRIES):
        rules = Rules(regions, REGIONS)
        before = time.process_time()
        rules.find(text)
        taken.append((time.process_time() - before) / len(text) * 1000)
    return median(taken)


def run() -> None:
    """Run the whole benchmark."""
    Rules(REGIONS, REGIONS).find("0171 2345678 and DNI 12345678Z")  # loads what is loaded once
    rows = []
    for name, text in texts().items():
        without, with_phones = cost(text, []), cost(text, REGIONS)
        rows.append((name, f"{without * 1e3:.2f} ms", f"{with_phones * 1e3:.2f} ms"))
    table(f"personal data: CPU for 1,000 characters, median of {TRIES}", ("", "without phones", "with"), rows)


if __name__ == "__main__":
    run()
