"""What was learned from the turns of a chat: told above the prompt when it is known, and taken back by /undo."""

import asyncio
from collections.abc import Mapping
from typing import Any

from mnemoir.cli.chat.display import clipped_line
from mnemoir.cli.chat.session import Chat
from mnemoir.core.errors import MnemoirError, NotFound

_FACT = 200  # characters
_SOON_S, _LATER_S = 0.3, 5.0
_LOOKS = 20  # before it is looked for less often: a model that is away is tried again for days
_LOOKED_THROUGH = 40  # messages, for what can be undone
_OPEN = ("waiting", "running")


async def follow(chat: Chat, id: str) -> None:
    """Tell what was learned from the newest answer of a conversation, as soon as that is known."""
    try:
        (answer,) = await chat.server.last_messages(id, 1)
        told = await chat.server.memories_of_turn(id, answer["id"])
        looks = 0
        while told["state"] in _OPEN:
            looks += 1
            await asyncio.sleep(_SOON_S if looks < _LOOKS else _LATER_S)
            told = await chat.server.memories_of_turn(id, answer["id"])
    except MnemoirError as exc:
        chat.input.tell(f"What was learned is not known: {exc.message}")
        return
    if line := learned_line(told):
        chat.input.tell(line)


def learned_line(told: Mapping[str, Any]) -> str:
    """What was learned from a turn, in one line; "" where nothing was to be learned."""
    if told["state"] == "failed":
        return f"Nothing was learned: {clipped_line(told['error'] or 'it could not be worked out.', _FACT)}"
    if told["state"] == "nothing":
        return "Nothing new to remember."
    known = " · ".join(clipped_line(one["memory"], _FACT) for one in told["known"])
    parts = [f"Already known: {known}"] if known else []
    if told["state"] == "learned":
        learned = " · ".join(_words(one) for one in told["memories"])
        parts.insert(0, f"Learned: {learned}{' (/undo takes it back)' if told['change_id'] else ''}")
    waiting = " · ".join(clipped_line(one["memory"], _FACT) for one in told.get("proposed", ()))
    if waiting:
        parts.append(f"Waits for a review: {waiting}")
    return " · ".join(parts)


async def undo(chat: Chat, argument: str) -> None:
    """Take back what was learned last in this conversation."""
    messages = await chat.server.last_messages(chat.stored_id, _LOOKED_THROUGH)
    for message in reversed(messages):
        told = await chat.server.memories_of_turn(chat.stored_id, message["id"])
        if told["state"] == "learned" and told["change_id"]:
            await chat.server.undo(told["change_id"])
            chat.display.note(f"Undone: {' · '.join(_words(one) for one in told['memories'])}")
            return
    raise NotFound(
        "Nothing was learned in this conversation that can be undone, or not yet.", code="change_not_found"
    )


def _words(learned: Mapping[str, Any]) -> str:
    if learned["memory"] is None:
        return "a memory that is gone now"
    words = clipped_line(learned["memory"], _FACT)
    if learned["event"] == "DELETE":
        return f"no longer: {words}"
    before = learned["previous_memory"]
    return words if before is None else f"{words} (before: {clipped_line(before, _FACT)})"
