"""Prints the OpenAPI description of the server, as `GET /openapi.json` would give it: `python tools/openapi.py`."""

import asyncio
import sys
import tempfile

import orjson
import structlog
from starlette.types import Message

from mnemoir.app.parts import open_parts
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings


async def described() -> bytes:
    """The description, indented."""
    with tempfile.TemporaryDirectory() as folder:
        parts = await open_parts(load_settings(None, {"storage.data_dir": folder, "llm.provider": "offline"}, environ={}))
        try:
            app = create_app(parts, ServerOptions())
            body: list[bytes] = []

            async def receive() -> Message:
                return {"type": "http.request", "body": b"", "more_body": False}

            async def send(message: Message) -> None:
                body.append(message.get("body", b""))

            path = "/openapi.json"
            scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
            await app(scope, receive, send)
        finally:
            await parts.aclose()
    return orjson.dumps(orjson.loads(b"".join(body)), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    sys.stdout.buffer.write(asyncio.run(described()))
