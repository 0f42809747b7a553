"""Compression of large documents. The first bytes of stored data show its compression when it is read.

JSON never begins with the first bytes of compressed data, so uncompressed documents stay readable with every setting.
"""

import gzip
import importlib
import zlib
from typing import Any, Literal

from mnemoir.conversations.nodes.document import UnreadableDocument
from mnemoir.core.errors import SettingsError, StorageUnavailable

Compression = Literal["gzip", "zstd", "off"]

COMPRESSED_ABOVE_BYTES = 64 * 1024
LARGEST_BYTES = 100 * 1024 * 1024  # of a decompressed document
_GZIP_MAGIC, _ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_GZIP_LEVEL = 1  # 500 kB of LoCoMo turns: 2.7 ms at 4.2 to 1; level 6 takes 9.8 ms for 5.1 to 1
_ZSTD_WINDOW_BYTES = 128 * 1024 * 1024
_ZSTD_SLICE_BYTES = 256  # decompresses to 8 MiB at most; zstd itself has no limit on its output
_GZIP_WINDOW = 31  # makes zlib expect a gzip header


def pack(document: bytes, compression: Compression = "gzip") -> bytes:
    """The bytes to store. Raises SettingsError for zstd when it is not installed."""
    if compression == "off" or len(document) <= COMPRESSED_ABOVE_BYTES:
        return document
    if compression == "gzip":
        return gzip.compress(document, _GZIP_LEVEL, mtime=0)
    zstd = _zstandard()
    if zstd is None:
        raise SettingsError("Node memory is to be compressed by zstd: pip install zstandard, or choose gzip.")
    return bytes(zstd.ZstdCompressor().compress(document))


def unpack(stored: bytes, *, largest: int = LARGEST_BYTES) -> bytes:
    """The stored document, decompressed.

    Raises UnreadableDocument for a stream that is cut off, damaged or longer than `largest` bytes when decompressed,
    and StorageUnavailable for zstd when it is not installed: the document is intact, but not readable here.
    """
    if stored.startswith(_GZIP_MAGIC):
        return _ungzip(stored, largest)
    if stored.startswith(_ZSTD_MAGIC):
        return _unzstd(stored, largest)
    return stored


def _ungzip(stored: bytes, largest: int) -> bytes:
    stream = zlib.decompressobj(_GZIP_WINDOW)
    try:
        document = stream.decompress(stored, largest + 1)
    except zlib.error as exc:
        raise UnreadableDocument(f"it cannot be unpacked: {exc}") from exc
    return _whole(document, largest, is_at_end=stream.eof and not stream.unused_data)


def _unzstd(stored: bytes, largest: int) -> bytes:
    zstd = _zstandard()
    if zstd is None:
        raise StorageUnavailable("A node memory is compressed by zstd, which is missing: pip install zstandard.")
    stream = zstd.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES).decompressobj()
    document = bytearray()
    try:
        for at in range(0, len(stored), _ZSTD_SLICE_BYTES):
            if stream.eof or len(document) > largest:
                break
            document += stream.decompress(stored[at : at + _ZSTD_SLICE_BYTES])
    except zstd.ZstdError as exc:
        raise UnreadableDocument(f"it cannot be unpacked: {exc}") from exc
    return _whole(bytes(document), largest, is_at_end=stream.eof and not stream.unused_data)


def _whole(document: bytes, largest: int, *, is_at_end: bool) -> bytes:
    if len(document) > largest:
        raise UnreadableDocument(f"it is longer than {largest} bytes when unpacked")
    if not is_at_end:
        raise UnreadableDocument("its compressed data is cut off, or continues after its end")
    return document


def _zstandard() -> Any:  # the module, which is optional; None without it
    try:
        return importlib.import_module("zstandard")
    except ImportError:
        return None
