"""Bodies that come compressed: gzip and deflate are read within the limit of a body, all else is refused by name."""

import zlib
from collections.abc import Sequence

from starlette.types import Scope

from mnemoir.core.errors import InvalidRequest

_AS_IT_IS = ("", "identity")
_GZIP, _ZLIB, _RAW = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
_KNOWN = ("gzip", "x-gzip", "deflate")
_MOST = 2  # one over another; each may make a thousand bytes of one


class UnsupportedEncoding(InvalidRequest):
    """A Content-Encoding that is not read; nothing was done."""

    code = "unsupported_encoding"


class TooMuch(Exception):
    """A body that is larger than its limit when it is read."""


def encodings_of(scope: Scope) -> Sequence[str]:
    """How the body is encoded, the last encoding first. Raises UnsupportedEncoding."""
    values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"content-encoding"]
    if not values:
        return ()
    named = [one.strip().lower() for one in ",".join(values).split(",")]
    told = [one for one in named if one not in _AS_IT_IS]
    if unknown := next((one for one in told if one not in _KNOWN), None):
        raise UnsupportedEncoding(
            f"Content-Encoding {unknown[:40]!r} is not read here. Send the body as it is, or as gzip or deflate."
        )
    if len(told) > _MOST:
        raise UnsupportedEncoding(f"The body is encoded {len(told)} times. Send it encoded once, or as it is.")
    return told[::-1]


def decode_body(body: bytes, encodings: Sequence[str], most_bytes: int) -> bytes:
    """The body itself. Raises TooMuch, as soon as it is larger, and InvalidRequest for what is not so encoded."""
    for encoding in encodings:
        try:
            body = _inflate(body, encoding, most_bytes)
        except zlib.error:
            raise _error_of_damage(encoding) from None
    return body


def _inflate(body: bytes, encoding: str, most_bytes: int) -> bytes:
    pieces: list[bytes] = []
    room, window = most_bytes, _window_of(body, encoding)
    while True:
        inflater = zlib.decompressobj(window)
        piece = inflater.decompress(body, room + 1)
        pieces.append(piece)
        room -= len(piece)
        if room < 0:
            raise TooMuch
        if not inflater.eof:
            raise _error_of_damage(encoding)
        body = inflater.unused_data
        if not body:
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if window != _GZIP:  # only gzip has members one behind the other
            raise _error_of_damage(encoding)


def _window_of(body: bytes, encoding: str) -> int:
    """What zlib calls the form; of deflate there are two: by the standard within zlib's, and raw."""
    if encoding != "deflate":
        return _GZIP
    begins_as_zlib = len(body) > 1 and body[0] & 15 == zlib.DEFLATED and (body[0] << 8 | body[1]) % 31 == 0
    return _ZLIB if begins_as_zlib else _RAW


def _error_of_damage(encoding: str) -> InvalidRequest:
    return InvalidRequest(
        f"The body is not {encoding}, as its Content-Encoding says, or it is cut off.", code="invalid_encoding"
    )
