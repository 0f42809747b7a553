"""Removal of invisible characters, which can hide text from a person that a model still reads.

Invisible characters that writing needs are kept: joiners, the implicit direction marks (LRM, RLM, ALM), soft hyphens,
and a variation selector behind its character.
"""

import re

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters
    "\u200b\u2060-\u2064\ufeff\u034f\u180e"  # characters without width
    "\u202a-\u202e\u2066-\u2069\u206a-\u206f"  # direction overrides and isolates
    "\U000e0000-\U000e0fff"  # tags, and variation selectors that hardly any font has
    "\ue000-\uf8ff\U000f0000-\U0010fffd"  # private use
    "]+"
    "|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+"
)


def without_unseen(text: str) -> str:
    """`text` without invisible characters."""
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub("", text)
