"""Finding the texts that a model cannot embed among those it can: a call that fails is made again in halves."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


async def embedded_in_halves(
    items: Sequence[Item],
    embed: Callable[[Sequence[Item]], Awaitable[Sequence[Made]]],
    is_worth_halving: Callable[[Sequence[Item], Exception], bool],
) -> list[tuple[Item, Made]]:
    """Each item with what `embed`, one for one, made of it; in order, without those it failed for.

    `is_worth_halving` is asked about each failed call, one for a single item too, and may raise to end it all.
    """
    try:
        return list(zip(items, await embed(items), strict=True)) if items else []
    except Exception as exc:  # noqa: BLE001  # a client is foreign code; the caller judges
        if not is_worth_halving(items, exc) or len(items) == 1:
            return []
    middle = len(items) // 2
    first = await embedded_in_halves(items[:middle], embed, is_worth_halving)
    return first + await embedded_in_halves(items[middle:], embed, is_worth_halving)
