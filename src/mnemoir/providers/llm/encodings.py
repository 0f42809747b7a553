"""Compressed answers. Mnemoir asks for none; the HTTP client reads gzip and deflate by itself, but not `x-gzip`."""

import zlib
from collections.abc import Iterator

import aiohttp

_GZIP = 16 + zlib.MAX_WBITS
_MOST_AT_ONCE = 256 * 1024  # bytes, so that the limit of an answer's size is met in time


class Inflater:
    """Unpacks the pieces of a body. Raises zlib.error for one that is damaged."""

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(_GZIP)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The unpacked pieces, none empty."""
        while data:
            if self._inflater.eof:
                self._inflater = zlib.decompressobj(_GZIP)  # one member stands behind the other
            if piece := self._inflater.decompress(data, _MOST_AT_ONCE):
                yield piece
            data = self._inflater.unconsumed_tail or self._inflater.unused_data


def unread_encoding(exc: aiohttp.ClientResponseError) -> str | None:
    """The name of the compression that the HTTP client refused; None where it failed for another reason."""
    _, found, told = str(getattr(exc, "message", "")).partition("content-encoding: ")
    return told.partition(")")[0].rpartition("(")[2] or told.partition(".")[0] if found else None
