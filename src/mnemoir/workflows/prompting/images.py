"""Selection of the pictures sent with a prompt (none, unless a node asks for them), and their check.

No picture is decoded or fetched here. All base64 of a data URL is checked, piece by piece, and the size in pixels
is read from the picture's header, because a decoder at the model's server allocates memory for that size. A web
address is passed on unchanged, for the model's server to fetch.
"""

import re
from binascii import a2b_base64
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING

from mnemoir.core import first_use
from mnemoir.core.errors import InvalidRequest, TooLarge
from mnemoir.core.messages import ImagePart, Message, PlainMessages

if TYPE_CHECKING:
    import imagesize  # type: ignore[import-untyped]  # it ships no types
else:
    imagesize = first_use.module("imagesize")

MOST_BYTES = 20 * 1024 * 1024
LONGEST_SIDE_PX = 16_384
_HEADER_BYTES = 1024 * 1024  # enough for the size to follow camera data and a thumbnail
_STEP = 1024 * 1024  # characters checked at a time; a multiple of four
_LONGEST_MEDIA_TYPE = 200
_DATA = re.compile(r"data:image/[\w.+-]+(?:;[\w=.+-]+)*;base64", re.IGNORECASE | re.ASCII)
_KINDS = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|BM|RIFF.{4}WEBP", re.DOTALL)


def images_of(messages: Sequence[Message], most: int = 0) -> list[ImagePart]:
    """The newest `most` pictures of the messages, oldest first; all pictures for 0."""
    found: list[ImagePart] = []
    for message in reversed(messages):
        if 0 < most <= len(found):
            break
        found += reversed(_pictures(message))
    return found[: max(most, 0) or None][::-1]


def without_images(messages: Sequence[Message]) -> Sequence[Message]:
    """The same messages without their pictures."""
    return messages if isinstance(messages, PlainMessages) else [_without(message) for message in messages]


def with_images(messages: Sequence[Message], images: Sequence[ImagePart]) -> Sequence[Message]:
    """The messages with `images` added to the last user message; a new one is added if there is none."""
    if not images:
        return messages
    result = list(messages)
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


def check_image(image: ImagePart, number: int) -> None:
    """Check one picture. Raises InvalidRequest or TooLarge with the picture's `number` in the conversation.

    Blocks for some milliseconds per megabyte.
    """
    if image.url[:8].lower().startswith(("http://", "https://")):
        return
    comma = image.url.find(",", 0, _LONGEST_MEDIA_TYPE)
    if not _DATA.fullmatch(image.url[: max(comma, 0)]):
        raise InvalidRequest(
            f"Picture {number} of the conversation is no picture in a data URL and no web address; other addresses, "
            "such as file://, are not read. Send it as data:image/...;base64,...",
            field="messages",
        )
    _check_pixels(_beginning(image.url, comma + 1, number), number)


def _beginning(url: str, start: int, number: int) -> bytes:
    """The first bytes of the picture. Raises when any of it is not valid base64, or it is too long."""
    size_bytes = (len(url) - start) * 3 // 4
    if size_bytes > MOST_BYTES:
        raise TooLarge(
            f"Picture {number} of the conversation has {size_bytes} bytes; {MOST_BYTES} are allowed. "
            "Send a smaller one.",
            field="messages",
        )
    header = bytearray()
    for at in range(start, len(url), _STEP):
        piece = url[at : at + _STEP]
        decoded = _decoded_piece(piece, number, is_last=at + _STEP >= len(url))
        if len(header) < _HEADER_BYTES:
            header += decoded
    return bytes(header)


def _decoded_piece(piece: str, number: int, *, is_last: bool) -> bytes:
    try:
        if "=" in piece and not is_last:
            raise ValueError("padding before the end")
        return a2b_base64(piece, strict_mode=True)
    except ValueError as exc:
        raise InvalidRequest(
            f"Picture {number} of the conversation is not valid base64: {exc}.", field="messages"
        ) from exc


def _check_pixels(header: bytes, number: int) -> None:
    # only formats with the size in a few bytes; the library has whole parsers for other formats
    known = _KINDS.match(header) is not None
    width_px, height_px = imagesize.get(BytesIO(header), exif_rotation=False) if known else (-1, -1)
    if min(width_px, height_px) <= 0:
        raise InvalidRequest(
            f"Picture {number} of the conversation is no PNG, JPEG, GIF, WebP or BMP whose size can be read.",
            field="messages",
        )
    if max(width_px, height_px) > LONGEST_SIDE_PX:
        raise TooLarge(
            f"Picture {number} of the conversation claims {width_px} x {height_px} pixels; "
            f"{LONGEST_SIDE_PX} a side are allowed. Send a smaller one.",
            field="messages",
        )
