"""Selection of the pictures sent with a prompt: none, unless a node asks for them."""

from collections.abc import Sequence
from dataclasses import replace

from mnemoir.core.messages import ImagePart, Message


def images_of(messages: Sequence[Message], most: int = 0) -> list[ImagePart]:
    """The newest `most` pictures of the messages, oldest first; all pictures for 0."""
    found: list[ImagePart] = []
    for message in reversed(messages):
        if 0 < most <= len(found):
            break
        found += reversed(_pictures(message))
    return found[: max(most, 0) or None][::-1]


def without_images(messages: Sequence[Message]) -> list[Message]:
    """The same messages without their pictures."""
    return [_without(message) for message in messages]


def with_images(messages: Sequence[Message], images: Sequence[ImagePart]) -> list[Message]:
    """The messages with `images` added to the last user message; a new one is added if there is none."""
    result = list(messages)
    if not images:
        return result
    for index in reversed(range(len(result))):
        if result[index].role == "user":
            result[index] = replace(result[index], parts=(*result[index].parts, *images))
            return result
    return [*result, Message(role="user", parts=tuple(images))]


def newest_images(messages: Sequence[Message], most: int) -> list[Message]:
    """The messages with only their newest `most` pictures; with all of them for 0."""
    left, kept = most, []
    for message in reversed(messages):
        own = len(_pictures(message))
        if most > 0 and left < own:
            words = [part for part in message.parts if not isinstance(part, ImagePart)]
            newest = _pictures(message)[own - left :]
            message = replace(message, parts=(*words, *newest))
        left = max(0, left - own)
        kept.append(message)
    return kept[::-1]


def _pictures(message: Message) -> list[ImagePart]:
    return [part for part in message.parts if isinstance(part, ImagePart)]


def _without(message: Message) -> Message:
    if not _pictures(message):
        return message
    return replace(message, parts=tuple(part for part in message.parts if not isinstance(part, ImagePart)))
