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
    spoken = _first_spoken(conversation)
    return conversation[max(spoken, len(conversation) - count) :]


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


def _first_spoken(conversation: Sequence[Message]) -> int:
    for index, message in enumerate(conversation):
        if message.role not in SYSTEM_ROLES:
            return index
    return 0
