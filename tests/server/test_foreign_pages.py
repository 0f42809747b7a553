"""Web pages of others: whatever route they call, by whatever name, they get nothing and change nothing.

The routes come from the server's own description, so that a new one is covered from its first day.
"""

import re

import orjson
import pytest

from tests.server.server_kit import error_of
from tests.server.test_connections import connected, response

EVIL = "http://evil.example"
SAID = {"messages": [{"role": "user", "content": "planted"}], "user_id": "mira", "infer": False}
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
)


async def every_route(server) -> list[tuple[str, str]]:
    """Method and address of each route that is described, names filled in."""
    paths = (await server.get("/openapi.json"))["paths"]
    found = [
        (method.upper(), re.sub(r"\{\w+\}", "mira", path))
        for path, methods in paths.items()
        for method in methods
        if method in ("get", "post", "put", "delete", "patch")
    ]
    assert len(found) > 20
    return found


async def test_a_page_of_another_origin_is_refused_on_every_route_and_changes_nothing(server):
    await server.post("/api/memories", SAID)
    before = (await server.ask("GET", "/api/export")).body
    for method, path in await every_route(server):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json"):
            target = f"{path}?user_id=mira"
            answer = await server.ask(method, target, SAID | {"prompt": "x"}, origin=EVIL, content_type=kind)
            assert (error_of(answer), method, path) == ((403, "forbidden"), method, path)
            assert not [name for name in answer.headers if name.startswith("access-control")]
    assert (await server.ask("GET", "/api/export")).body == before


async def test_a_name_that_is_not_this_machines_is_refused_on_every_route(server):
    for method, path in await every_route(server):
        answer = await server.ask(method, path, SAID, host="evil.example:6060", origin="http://evil.example:6060")
        assert (error_of(answer), method, path) == ((403, "forbidden"), method, path)


@pytest.mark.parametrize("path", ["/", "/v1/chat/completions", "/api/memories/mira", "/ws"])
@pytest.mark.parametrize(("host", "status"), [("evil.example", 403), ("localhost", None)])
async def test_no_web_socket_is_opened_for_anybody(listen, path, host, status):
    server = await listen()
    async with connected(server.url) as (reader, writer):
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{UPGRADE}\r\n\r\n".encode())
        told, _, body = await response(reader)
    assert told == status if status else told in (200, 404, 405)
    assert b"planted" not in body


FORWARDED = {
    "x_forwarded_for": "127.0.0.1",
    "x_forwarded_host": "localhost",
    "x_forwarded_proto": "https",
    "x_forwarded_prefix": "/evil",
    "x_real_ip": "127.0.0.1",
    "forwarded": "for=127.0.0.1;host=localhost;proto=https",
    "x_original_url": "/health",
    "x_rewrite_url": "/health",
    "x_http_method_override": "DELETE",
}


async def test_headers_of_a_proxy_open_nothing_that_asks_for_a_key(open_server):
    server = await open_server(api_keys=["a-key-of-sixteen-or-more"])
    assert error_of(await server.ask("GET", "/api/memories/mira", **FORWARDED)) == (401, "unauthorized")


async def test_headers_of_a_proxy_that_nobody_configured_count_for_nothing(server):
    await server.post("/api/memories", SAID)
    assert error_of(await server.ask("GET", "/health", host="evil.example", **FORWARDED)) == (403, "forbidden")
    listed = await server.get("/api/memories/mira", **FORWARDED)
    assert [memory["memory"] for memory in listed["results"]] == ["planted"]
    described = orjson.dumps(await server.get("/openapi.json", **FORWARDED))
    assert b"evil" not in described
