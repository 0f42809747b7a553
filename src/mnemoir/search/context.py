"""What counts as said just before: the text that shares a message's forward pass when it is embedded.

One rule for storing a message, for embedding it again later and for the windows of the word index: were they to
differ, a change of the embedding model would move every rank.
"""

from collections.abc import Sequence

CONTEXT_MESSAGES = 2
STRETCH_S = 3600.0  # what was said longer before belongs to another conversation


def context_of(said_at: float | None, before: Sequence[tuple[str, float | None]]) -> str:
    """The last messages before one said at `said_at`, oldest first, joined by a space.

    `before` are (text, when said) of the same conversation, in order; times are seconds since 1970, None or NaN when
    unreadable, which is near to nothing.
    """
    return " ".join(text for text, at in before[-CONTEXT_MESSAGES:] if _near(at, said_at))


def _near(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= STRETCH_S
