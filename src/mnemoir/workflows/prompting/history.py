"""Selection of the newest messages of a conversation, sent for a node without a prompt of its own."""

from collections.abc import Sequence

from mnemoir.core.messages import Message

# `developer` is the role of system messages in newer versions of OpenAI's protocol
SYSTEM_ROLES = frozenset({"system", "developer"})


def last_for_chat(conversation: Sequence[Message], count: int) -> Sequence[Message]:
    """The last `count` messages after the leading system messages; later system messages are included and counted.

    [] for a count of 0. If all messages are system messages, the last `count` of them.
    """
    if count <= 0:
        return ()
    return conversation[max(_first_spoken(conversation), len(conversation) - count) :]


def window_for_chat(conversation: Sequence[Message], count: int) -> Sequence[Message]:
    """The last `count` messages in a form that providers accept: `last_for_chat`, with some corrections.

    The window does not begin with a tool result without its call; the newest calls, with results a model has yet to
    read, are never cut off. A window without a user message gets the last user message after its leading system
    messages.
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
    """The messages without tool results at their beginning, whose calls are missing.

    System messages before and between those results stay.
    """
    for index, message in enumerate(messages):
        if message.role != "tool" and message.role not in SYSTEM_ROLES:
            return [*(one for one in messages[:index] if one.role != "tool"), *messages[index:]]
    return [message for message in messages if message.role != "tool"]


def last_for_text(conversation: Sequence[Message], count: int) -> Sequence[Message]:
    """The last `count` + 1 messages that are not system messages.

    One more than requested, because prompts of existing configurations depend on it.
    """
    found: list[Message] = []
    for message in reversed(conversation):
        if len(found) > count:
            break
        if message.role not in SYSTEM_ROLES:
            found.append(message)
    return found[::-1]


def _with_newest_calls(conversation: Sequence[Message], start: int) -> int:
    """`start`, or the index of the message with the tool calls, if all messages from `start` on are its results."""
    if any(message.role != "tool" for message in conversation[start:]):
        return start
    calling = start
    while calling > 0 and conversation[calling].role == "tool":
        calling -= 1
    return calling if conversation[calling].tool_calls else start


def _first_spoken(conversation: Sequence[Message]) -> int:
    """The index of the first message that is not a system message; 0 if all are."""
    leading = _leading_system(conversation)
    return leading if leading < len(conversation) else 0


def _leading_system(messages: Sequence[Message]) -> int:
    """The number of system messages before all others."""
    places = (index for index, message in enumerate(messages) if message.role not in SYSTEM_ROLES)
    return next(places, len(messages))
