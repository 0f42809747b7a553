"""Pictures of a conversation, checked before they are sent on. None is ever decoded or fetched here.

Of a data URL all of the base64 is checked, piece by piece, and the size in pixels is read from the picture's own
header: what a file claims to hold is what a decoder behind the model's server would make room for. An address on the
web goes on as it is, for the model's server to fetch.
"""

import re
from binascii import a2b_base64
from io import BytesIO

import imagesize  # type: ignore[import-untyped]  # it ships no types

from mnemoir.core.errors import InvalidRequest, TooLarge
from mnemoir.core.messages import ImagePart

MOST_BYTES = 20 * 1024 * 1024
LONGEST_SIDE_PX = 16_384
_HEADER_BYTES = 1024 * 1024  # behind camera data and a thumbnail the size still comes early
_STEP = 1024 * 1024  # characters decoded at once; a multiple of four
_LONGEST_MEDIA_TYPE = 200
_DATA = re.compile(r"data:image/[\w.+-]+(?:;[\w=.+-]+)*;base64", re.IGNORECASE | re.ASCII)
_KINDS = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|BM|RIFF.{4}WEBP", re.DOTALL)


def check_image(image: ImagePart, number: int) -> None:
    """Raises InvalidRequest or TooLarge, with the picture's `number` within the conversation in the message.

    Blocks for some milliseconds a megabyte.
    """
    if image.url[:8].lower().startswith(("http://", "https://")):
        return
    comma = image.url.find(",", 0, _LONGEST_MEDIA_TYPE)
    if not _DATA.fullmatch(image.url[: max(comma, 0)]):
        raise InvalidRequest(
            f"Picture {number} of the conversation is no picture in a data URL and no web address; other places, "
            "such as file://, are not read. Send it as data:image/...;base64,...",
            field="messages",
        )
    _check_pixels(_beginning(image.url, comma + 1, number), number)


def _beginning(url: str, start: int, number: int) -> bytes:
    """The first bytes of the picture, when all of it is proper base64 and not too long."""
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
        decoded = _decoded(piece, number, is_last=at + _STEP >= len(url))
        if len(header) < _HEADER_BYTES:
            header += decoded
    return bytes(header)


def _decoded(piece: str, number: int, *, is_last: bool) -> bytes:
    try:
        if "=" in piece and not is_last:
            raise ValueError("padding before the end")
        return a2b_base64(piece, strict_mode=True)
    except ValueError as exc:
        raise InvalidRequest(
            f"Picture {number} of the conversation is not proper base64: {exc}.", field="messages"
        ) from exc


def _check_pixels(header: bytes, number: int) -> None:
    # only kinds whose size is plain in a few bytes: others have parsers of their own behind them
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
