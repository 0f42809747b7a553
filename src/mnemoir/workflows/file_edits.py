"""Edits of a text file as a whole: lines and pieces taken out, replaced or kept. Lines end at a line feed."""

import re
from collections.abc import Callable

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def without_lines(text: str, goes: Callable[[str], bool]) -> tuple[str, int]:
    """The text without the lines that go, and how many went."""
    lines = _LINE.findall(text)
    kept = [line for line in lines if not goes(line)]
    return "".join(kept), len(lines) - len(kept)


def first_pieces(text: str, delimiter: str, count: int) -> str:
    """The first `count` pieces between delimiters, with the delimiters between them."""
    return delimiter.join(text.removesuffix(delimiter).split(delimiter, count)[:count])


def last_pieces(text: str, delimiter: str, count: int) -> str:
    """The last `count` pieces; a delimiter at the very end begins no further piece."""
    return delimiter.join(text.removesuffix(delimiter).rsplit(delimiter, count)[-count:])
