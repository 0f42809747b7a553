"""Edits of a text: removing lines, and selecting the first or last pieces. Lines end at a line feed."""

import re
from collections.abc import Callable

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def without_lines(text: str, goes: Callable[[str], bool]) -> tuple[str, int]:
    """The text without the lines for which `goes` is True, and the number of lines removed."""
    lines = _LINE.findall(text)
    kept = [line for line in lines if not goes(line)]
    return "".join(kept), len(lines) - len(kept)


def first_pieces(text: str, delimiter: str, count: int) -> str:
    """The first `count` pieces of the text, with the delimiters between them."""
    return delimiter.join(text.removesuffix(delimiter).split(delimiter, count)[:count])


def last_pieces(text: str, delimiter: str, count: int) -> str:
    """The last `count` pieces, with the delimiters between them. A delimiter at the end starts no further piece."""
    return delimiter.join(text.removesuffix(delimiter).rsplit(delimiter, count)[-count:])
