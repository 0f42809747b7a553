"""Sanitizing of texts from models and people, so that no terminal interprets a part of them as a command."""

import re

# control characters except tab and newline, bidirectional controls, and surrogates
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def inert(text: str) -> str:
    """`text` with active characters as escapes; joiners and blanks of other scripts stay unchanged."""
    return _ACTIVE.sub(lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def clipped(text: str, longest: int) -> str:
    """`text` on one line, cut to `longest` characters with a final ellipsis."""
    line = " ".join(inert(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
