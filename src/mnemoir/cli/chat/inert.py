"""Text of models and people, made safe to show: nothing in it reaches the terminal as a command."""

import re

# control characters but tab and newline, what reorders text, and halves of characters
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def inert(text: str) -> str:
    """`text` with such characters spelled out; joiners and blanks of other scripts stay as they are."""
    return _ACTIVE.sub(lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def clipped(text: str, longest: int) -> str:
    """`text` on one line, with at most so many characters, the last one a mark when some are missing."""
    line = " ".join(inert(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
