"""CPU time of looking for personal data, for 1,000 characters: prose, labelled texts, and texts made to be slow."""

import re
import time
from pathlib import Path

from bench.report import median, table
from mnemoir.privacy.detection import Rules

TRIES = 5
REGIONS = ["US", "GB", "DE", "AT", "FR", "ES"]
_LABEL = re.compile(r"\{[A-Z_]+:([^}]+)\}")
_LABELLED = Path(__file__).parents[1] / "tests" / "privacy" / "labelled.txt"
_PROSE = "We met on 2024-03-05 at 10:30 in room 12 and spoke of the 3 plans for the year, which cost 1200 euros. "


def texts() -> dict[str, str]:
    """Texts by what they are."""
    lines = _LABELLED.read_text("utf-8").splitlines()
    return {
        "prose with dates and numbers": _PROSE * 200,
        "prose with a phone number in 10,000 characters": f"{_PROSE * 97}Call 0171 2345678. " * 2,
        "301 labelled texts": "\n".join(_LABEL.sub(r"\1", line) for line in lines if line and line[0] != "#"),
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
