"""`python -m tools.openapi`: prints the server's OpenAPI description, equal to the answer of `GET /openapi.json`."""

import asyncio
import sys
import tempfile

import orjson
import structlog

from mnemoir.app.parts import open_parts
from mnemoir.providers.http import call_asgi
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings


async def described() -> bytes:
    """The description as indented JSON."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(None, {"storage.data_dir": folder, "llm.provider": "offline"}, environ={})
        parts = await open_parts(settings)
        try:
            answer = await call_asgi(create_app(parts, ServerOptions()), "GET", "/openapi.json", headers={}, body=b"")
        finally:
            await parts.aclose()
    return orjson.dumps(orjson.loads(answer.body), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    sys.stdout.buffer.write(asyncio.run(described()))
