"""Paths and methods that no route has: what is told of them, and to whom."""

import pytest

from mnemoir.server.door.routing import Routing
from mnemoir.server.door.ui import ABOUT, PAGES
from tests.server.route_table import layer_of, ui_files
from tests.server.server_kit import error_of
from tests.server.sign_in.page import joined

UNKNOWN = [
    ("GET", "/api/nothing"),
    ("DELETE", "/api/nothing"),
    ("GET", "/nothing"),
    ("GET", "/api/auth/nothing"),
    ("POST", "/api/workflows/nothing"),
    ("POST", "/api/keys%0A"),
    ("GET", "/api/keys;x"),
    ("GET", "/api/users/x/y"),
    ("PUT", "/api/auth/clients/x"),
]
NOT_OFFERED = [
    ("PUT", "/api/memories", "DELETE, GET, POST, HEAD, OPTIONS"),
    ("PATCH", "/api/keys", "GET, POST, HEAD, OPTIONS"),
    ("POST", "/health", "GET, HEAD, OPTIONS"),
    ("PUT", "/", "GET, HEAD, OPTIONS"),
    ("GET", "/api/auth/password", "POST, OPTIONS"),
    ("GET", "/v1/chat/completions", "POST, OPTIONS"),
    ("TRACE", "/api/conversations/talk", "DELETE, GET, PATCH, HEAD, OPTIONS"),
    ("POST", "/api/holds/mira", "DELETE, PUT, OPTIONS"),
]


@pytest.fixture
async def keyed(open_server):
    """A server with a key of each role."""
    server = await open_server()
    create = server.parts.access.api_keys.create
    return server, [create(role=role, by="test")[1] for role in ("read", "write", "admin", "operator")]


async def test_what_no_route_has_is_told_to_every_valid_key_and_to_nobody_else(keyed):
    server, keys = keyed
    for method, path in UNKNOWN:
        assert (error_of(await server.ask(method, path)), path) == ((401, "unauthorized"), path)
        for key in keys:
            assert (error_of(await server.ask(method, path, x_api_key=key)), path) == ((404, "not_found"), path)
    for method, path, allowed in NOT_OFFERED:
        for asked in (method, "OPTIONS"):
            assert (error_of(await server.ask(asked, path)), path) == ((401, "unauthorized"), path)
        for key in keys:
            answer = await server.ask(method, path, x_api_key=key)
            assert (error_of(answer), answer.headers["allow"]) == ((405, "method_not_allowed"), allowed)
            answer = await server.ask("OPTIONS", path, x_api_key=key)
            assert (answer.status, answer.headers["allow"], answer.body) == (200, allowed, b"{}")


async def test_pages_and_files_tell_every_valid_key_that_they_take_get_alone(keyed):
    server, keys = keyed
    for path in (*sorted(PAGES), ABOUT, "/ui", "/ui/runs", *ui_files(server)[:3]):
        for method in ("POST", "DELETE", "OPTIONS"):
            assert (error_of(await server.ask(method, path)), path) == ((401, "unauthorized"), path)
            answer = await server.ask(method, path, x_api_key=keys[0])
            assert (answer.headers.get("allow"), path) == ("GET, HEAD, OPTIONS", path)
            assert answer.status == (200 if method == "OPTIONS" else 405)


async def test_nobody_reads_a_byte_of_a_body_that_no_route_takes(keyed):
    server, keys = keyed
    read: list[bool] = []
    statuses: list[int] = []

    async def receive():
        read.append(True)
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message):
        statuses.append(message.get("status", 0))

    for path, key in (("/api/nothing", keys[2]), ("/api/keys", keys[0]), ("/api/keys", "")):
        headers = [(b"x-api-key", key.encode())] if key else []
        scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
        await server.app(scope | {"raw_path": path.encode(), "client": ("127.0.0.1", 1)}, receive, send)
    assert ([status for status in statuses if status], read) == ([404, 403, 401], [])


async def test_a_person_is_told_so_too_but_by_no_cookie_on_the_paths_of_chat_clients(open_server):
    anna = await joined(await open_server(), "anna")
    assert error_of(await anna.ask("GET", "/api/nothing")) == (404, "not_found")
    assert error_of(await anna.ask("PUT", "/api/memories")) == (405, "method_not_allowed")
    for path in ("/api/chat", "/v1/chat/completions", "/api/blobs/x"):
        assert (error_of(await anna.ask("PATCH", path)), path) == ((401, "unauthorized"), path)


async def test_pages_and_routes_have_no_path_in_common_but_the_first(server):
    table = layer_of(server, Routing).table
    for path in (*PAGES, ABOUT, "/ui", *ui_files(server)):
        found = table.find({"method": "GET", "path": path, "raw_path": path.encode()})
        assert (found.path, path) == ("/" if path == "/" else "", path)
