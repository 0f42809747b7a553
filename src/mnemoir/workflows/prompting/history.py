"""The newest messages of a conversation, which are sent where a node has no prompt of its own."""

from collections.abc import Sequence

from mnemoir.core.messages import Message

# `developer` is what newer clients of OpenAI's protocol call their system message
SYSTEM_ROLES = frozenset({"system", "developer"})


def last_for_chat(conversation: Sequence[Message], count: int) -> Sequence[Message]:
    """The last `count` messages behind the leading system messages; later ones of those stay and count.

    None for a count of 0. Where every message is a system message, none is cut off before counting.
    """
    if count <= 0:
        return ()
    return conversation[max(_first_spoken(conversation), len(conversation) - count) :]


def window_for_chat(conversation: Sequence[Message], count: int) -> Sequence[Message]:
    """The last `count` messages as providers take them: `last_for_chat`, with what a model cannot do without.

    The window begins with no answer of a tool whose call was cut off; of the newest calls, which a model is about to
    read the answers of, none is cut off. Where no user speaks in it, the last thing the user said stands behind its
    leading system messages.
    """
    window = last_for_chat(conversation, count)
    cut = len(conversation) - len(window)
    if window and cut > _first_spoken(conversation):
        window = without_orphans(conversation[_with_newest_calls(conversation, cut) :])
    if any(message.role == "user" for message in window):
        return window
    asked = [message for message in conversation if message.role == "user"][-1:]
    place = _leading_system(window)
    return [*window[:place], *asked, *window[place:]]


def without_orphans(messages: Sequence[Message]) -> list[Message]:
    """The messages without answers of tools at their beginning: what was called is not among them.

    System messages in front of and between those answers stay.
    """
    for index, message in enumerate(messages):
        if message.role != "tool" and message.role not in SYSTEM_ROLES:
            return [*(one for one in messages[:index] if one.role != "tool"), *messages[index:]]
    return [message for message in messages if message.role != "tool"]


def last_for_text(conversation: Sequence[Message], count: int) -> Sequence[Message]:
    """The last `count` + 1 messages that are no system messages.

    One more than asked for is what prompts of existing configurations are tuned to.
    """
    found: list[Message] = []
    for message in reversed(conversation):
        if len(found) > count:
            break
        if message.role not in SYSTEM_ROLES:
            found.append(message)
    return found[::-1]


def _with_newest_calls(conversation: Sequence[Message], start: int) -> int:
    """`start`, or the message that calls the tools, where all from `start` on are answers to it."""
    if any(message.role != "tool" for message in conversation[start:]):
        return start
    calling = start
    while calling > 0 and conversation[calling].role == "tool":
        calling -= 1
    return calling if conversation[calling].tool_calls else start


def _first_spoken(conversation: Sequence[Message]) -> int:
    """The place of the first message that is no system message; 0 where all are."""
    leading = _leading_system(conversation)
    return leading if leading < len(conversation) else 0


def _leading_system(messages: Sequence[Message]) -> int:
    """How many system messages stand in front of all others."""
    places = (index for index, message in enumerate(messages) if message.role not in SYSTEM_ROLES)
    return next(places, len(messages))
