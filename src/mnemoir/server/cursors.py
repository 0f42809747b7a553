"""Cursors: the place where the next page begins, as an opaque text that clients send back."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error

import orjson

from mnemoir.core.errors import InvalidRequest
from mnemoir.server.body import LARGEST_ID

_LONGEST = 2000


class InvalidCursor(InvalidRequest):
    """A text that is no cursor of this list."""

    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__("This cursor is none of this list. Begin without one.", field="cursor")


def write_cursor(of: str, *place: str | int) -> str:
    """The cursor of a place in the list that `of` names."""
    return urlsafe_b64encode(orjson.dumps([of, *place])).decode("ascii").rstrip("=")


def read_cursor(cursor: str, of: str, *kinds: type[str] | type[int]) -> list[str | int]:
    """The place that `write_cursor` encoded, its members of these kinds. Raises InvalidCursor."""
    if len(cursor) > _LONGEST or not cursor.isascii():
        raise InvalidCursor
    try:
        found = orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (Base64Error, ValueError):
        raise InvalidCursor from None
    if not isinstance(found, list) or [type(member) for member in found] != [str, *kinds] or found[0] != of:
        raise InvalidCursor
    if any(isinstance(member, int) and not -LARGEST_ID <= member <= LARGEST_ID for member in found):
        raise InvalidCursor
    return found[1:]
