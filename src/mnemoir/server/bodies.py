"""Request bodies: read within a limit, parsed as JSON whatever the Content-Type says."""

from typing import Any

import orjson
from starlette.types import Receive, Scope

from mnemoir.core.errors import InvalidRequest, TooLarge
from mnemoir.server.visit import header

DEEPEST = 100  # levels; what is read here must be writable again, and orjson writes 254


class ClientLeft(Exception):
    """The client went away; there is nobody to answer."""


async def read_body(scope: Scope, receive: Receive, most_bytes: int) -> bytes:
    """The whole body. Raises TooLarge, before reading when the length is told, and ClientLeft."""
    announced = header(scope, b"content-length")
    if announced is not None and announced.isdecimal() and int(announced) > most_bytes:
        raise _too_large(most_bytes)
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        piece = message.get("body", b"")
        size += len(piece)
        if size > most_bytes:
            raise _too_large(most_bytes)
        pieces.append(piece)
        if not message.get("more_body", False):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def read_json(scope: Scope, receive: Receive, most_bytes: int) -> Any:
    """The body as JSON. Raises InvalidRequest (`invalid_json`) too."""
    return parse_json(await read_body(scope, receive, most_bytes))


def parse_json(body: bytes) -> Any:
    """`body` as JSON; raises InvalidRequest (`invalid_json`) for anything else, or for too deep a nesting."""
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError as exc:
        raise InvalidRequest(
            f"The body is not valid JSON: {exc.msg} (line {exc.lineno}, column {exc.colno}).", code="invalid_json"
        ) from None
    # as many brackets as levels are needed at least, so nearly every body is spared the walk
    if body.count(b"[") + body.count(b"{") > DEEPEST and _is_deeper(parsed, DEEPEST):
        raise InvalidRequest(f"The body is nested more than {DEEPEST} levels deep.", code="invalid_json")
    return parsed


def _is_deeper(value: object, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [child for node in layer for child in _children(node) if isinstance(child, (dict, list))]
        if not layer:
            return False
    return True


def _children(node: object) -> Any:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _too_large(most_bytes: int) -> TooLarge:
    return TooLarge(f"The request body is larger than {most_bytes} bytes. Send less, or raise the server's limit.")
