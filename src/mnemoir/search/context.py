"""Embedding of messages: each with the messages just before it, and in halves where a call fails.

One rule defines the context of a message, for storing it, for embedding it again later and for the windows of the
word index: if they differed, a change of the embedding model would change every rank. A failed call is repeated in
halves, to isolate the texts that a model cannot embed.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")
CONTEXT_MESSAGES = 2
STRETCH_S = 3600.0  # earlier messages belong to another conversation


def context_of(said_at: float | None, before: Sequence[tuple[str, float | None]]) -> str:
    """The last messages before one said at `said_at`, oldest first, joined by a space.

    `before` are (text, when said) of the same conversation, in order; times are seconds since 1970, None or NaN when
    unreadable, which is near to nothing.
    """
    return " ".join(text for text, at in before[-CONTEXT_MESSAGES:] if _near(at, said_at))


def _near(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= STRETCH_S


async def embedded_in_halves(
    items: Sequence[Item],
    embed: Callable[[Sequence[Item]], Awaitable[Sequence[Made]]],
    is_worth_halving: Callable[[Sequence[Item], Exception], bool],
) -> list[tuple[Item, Made]]:
    """Each item with its result of `embed`, in order, without items for which it failed.

    `is_worth_halving` is called for each failed call, also for a single item, and may raise to stop.
    """
    try:
        return list(zip(items, await embed(items), strict=True)) if items else []
    except Exception as exc:  # noqa: BLE001  # a client is foreign code; the caller judges
        if not is_worth_halving(items, exc) or len(items) == 1:
            return []
    middle = len(items) // 2
    first = await embedded_in_halves(items[:middle], embed, is_worth_halving)
    return first + await embedded_in_halves(items[middle:], embed, is_worth_halving)
