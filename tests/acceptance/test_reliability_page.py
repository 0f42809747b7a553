"""docs/reliability.md names tests as proof; each of them is there."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PAGE = CHECKOUT / "docs" / "reliability.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
DEFINED = re.compile(r"^(?:async )?def (\w+)\(", re.M)


def functions_in(path: str) -> set[str]:
    """The names of all functions that a file defines."""
    return set(DEFINED.findall((CHECKOUT / path).read_text("utf-8")))


def test_every_test_that_the_page_names_exists():
    named = NAMED.findall(PAGE.read_text("utf-8"))
    there = {path: functions_in(path) for path, _ in named if (CHECKOUT / path).exists()}
    assert named
    assert [f"{path}::{name}" for path, name in named if name not in there.get(path, ())] == []


def test_every_row_of_the_page_names_a_test():
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| [A-Z]\d+ ", line)]
    assert rows
    assert [row for row in rows if not NAMED.search(row)] == []
