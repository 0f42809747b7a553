"""Pictures in clients' requests: a data URL, a link, or bare base64. None is ever fetched or decoded here.

A link is forwarded unchanged to the model's server. Any other address, a path on this machine above all, is
refused: no request may make a server read its own files.
"""

import re
from collections.abc import Mapping

from mnemoir.core.errors import InvalidRequest, NotSupported, ProviderRefused
from mnemoir.core.messages import ImagePart, OpaquePart
from mnemoir.wire import members

_ADDRESSES = ("data:", "http://", "https://")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_MEDIA_TYPES: Mapping[str, str] = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
}


def read_picture(value: object, field: str, *, detail: str | None = None) -> ImagePart:
    """A picture from its address, or from base64; its type is then read from its first bytes, JPEG if unknown."""
    given = members.as_text(value, field)
    if given[:8].lower().startswith(_ADDRESSES):
        return ImagePart(url=given, detail=detail)
    if len(given) % 4 or not _BASE64.fullmatch(given):
        raise InvalidRequest(f"{field} must be a picture in base64, a data: URL or an http(s) URL.", field=field)
    kind = next((kind for start, kind in _MEDIA_TYPES.items() if given.startswith(start)), "image/jpeg")
    return ImagePart(url=f"data:{kind};base64,{given}", detail=detail)


def check_address(url: str, field: str) -> None:
    """Raise InvalidRequest unless `url` is a data URL or an address of the web."""
    if not url[:8].lower().startswith(_ADDRESSES):
        raise InvalidRequest(f"{field} must be a data: URL or an http(s) URL.", field=field)


def write_base64(image: ImagePart) -> str:
    """The base64 of a data URL, for servers that follow no links; another URL is refused."""
    head, comma, data = image.url.partition(",")
    if not comma or not head.lower().startswith("data:") or not head.endswith(";base64"):
        raise ProviderRefused(
            "This model's server takes pictures as data only; send the picture as a base64 data: URL."
        )
    return data


def unpassable(part: OpaquePart, protocol: str) -> NotSupported:
    """The error for a part that the model's protocol cannot express."""
    return NotSupported(
        f"A part of type {part.kind} can only be passed to a server of OpenAI's chat protocol, and this model is "
        f"asked by {protocol}. Leave the part out, or set llm.provider to openai-chat.",
        field="messages",
    )
