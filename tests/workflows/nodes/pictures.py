"""Pictures as data URLs, valid as far as their size is read from them."""

import struct
import zlib
from base64 import b64encode

from mnemoir.core.messages import ImagePart, Message, TextPart


def png(width: int = 2, height: int = 2, filler: bytes = b"") -> bytes:
    """A whole PNG with a text chunk of `filler`; its pixels are missing when it claims to be large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(bytes((1 + min(width, 9)) * min(height, 9))))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"tEXt", filler) + pixels + chunk(b"IEND", b"")


def jpeg(width: int = 2, height: int = 2, camera_data: int = 0) -> bytes:
    """The headers of a JPEG, its size behind `camera_data` segments of 64 KiB."""
    exif = (b"\xff\xe1\xff\xff" + bytes(0xFFFD)) * camera_data
    return (
        b"\xff\xd8" + exif + b"\xff\xc0\x00\x0b\x08" + struct.pack(">HH", height, width) + b"\x01\x01\x11\x00\xff\xd9"
    )


def gif(width: int = 2, height: int = 2) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x00\x00\x00;"


def webp(width: int = 2, height: int = 2) -> bytes:
    size = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + size


def bmp(width: int = 2, height: int = 2) -> bytes:
    return b"BM" + bytes(12) + struct.pack("<IiiHH", 40, width, height, 1, 24) + bytes(24)


def image(content: bytes, media_type: str = "image/png") -> ImagePart:
    return ImagePart(url=f"data:{media_type};base64,{b64encode(content).decode()}")


def shown(text: str, *images: ImagePart) -> Message:
    """A user's message with pictures."""
    return Message(role="user", parts=(*([TextPart(text=text)] if text else []), *images))
