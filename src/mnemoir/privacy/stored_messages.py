"""The texts of messages as conversations store them. Files are not looked into."""

from collections.abc import Sequence
from dataclasses import replace

from mnemoir.core.conversations import Message, TextPart
from mnemoir.privacy.placeholders import Change, in_json


def texts_of(messages: Sequence[Message]) -> list[str]:
    """All texts of the messages that may hold personal data."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    for message in messages:
        changed_message(message, note)
    return found


def changed_message(message: Message, change: Change) -> Message:
    """The message with `change` applied to its texts, its speaker's name and the arguments of its tool calls."""
    content = message.content
    if isinstance(content, str):
        content = change(content)
    elif content is not None:
        content = [replace(part, data=change(part.data)) if isinstance(part, TextPart) else part for part in content]
    calls = message.tool_calls
    if calls is not None:
        calls = [replace(call, arguments=in_json(call.arguments, change)) for call in calls]
    name = None if message.name is None else change(message.name)
    return replace(message, content=content, tool_calls=calls, name=name)
