"""Characters that carry words nobody sees: a reader would not know that a model was told them.

Left alone are those that writing needs: joiners, marks of direction that only lean (LRM, RLM, ALM), soft hyphens, and
a selector of a variant behind its character.
"""

import re

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters
    "\u200b\u2060-\u2064\ufeff\u034f\u180e"  # no width
    "\u202a-\u202e\u2066-\u2069\u206a-\u206f"  # overrides and isolates of direction
    "\U000e0000-\U000e0fff"  # tags, and selectors of variants that hardly any font has
    "\ue000-\uf8ff\U000f0000-\U0010fffd"  # private use
    "]+"
    "|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+"
)


def without_unseen(text: str) -> str:
    """`text` without them."""
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub("", text)
