"""What a browser may be made to do by pages of others, on every route of the real table: nothing.

Keyless and with a key, the web UI and streams of events included.
"""

import orjson
import pytest

from mnemoir.server.door.ui import PAGES
from tests.server.route_table import changing_routes, every_route, ui_files
from tests.server.server_kit import error_of

KEY = "a-key-of-sixteen-or-more"
EVIL = "http://evil.example"
SAID = {"messages": [{"role": "user", "content": "planted"}], "user_id": "mira", "infer": False, "prompt": "x"}
CROSS_SITE = {"sec_fetch_site": "cross-site"}
FOLLOWED = CROSS_SITE | {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
IMAGE = CROSS_SITE | {"sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"}
SCRIPT = CROSS_SITE | {"sec_fetch_mode": "no-cors", "sec_fetch_dest": "script"}
OTHER_PORT = {"sec_fetch_site": "same-site", "sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"}
FRAME = CROSS_SITE | {"sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"}


def refusal(answer) -> int:
    """The status; the shape is checked where there is a body (HEAD has none)."""
    return error_of(answer)[0] if answer.body else answer.status


async def kept(server, **held) -> bytes:
    """Everything that a page could have changed, as it is told."""
    told = [
        (await server.ask("GET", target, **held)).body
        for target in ("/api/export", "/api/memories/settings", "/api/memories/extraction-prompt")
    ]
    return b"\n".join(told)


@pytest.fixture
async def filled(server):
    await server.post("/api/memories", SAID)
    return server


async def test_n3_a_foreign_name_is_refused_everywhere(filled):
    for host in ("evil.example", "evil.example:6060", "127.0.0.1.evil.example"):
        for method, path in every_route(filled):
            answer = await filled.ask(method, path, SAID, host=host, accept="text/html")
            assert (refusal(answer), method, path) == (403, method, path)


async def test_n4_a_foreign_page_changes_and_reads_nothing_by_a_simple_request(filled):
    before = await kept(filled)
    for method, path in every_route(filled):
        for origin in (EVIL, "null", "http://localhost.evil.example"):
            target = f"{path}?user_id=mira"
            answer = await filled.ask(method, target, SAID, origin=origin, content_type="text/plain")
            assert (refusal(answer), method, path) == (403, method, path)
            assert not [name for name in answer.headers if name.startswith("access-control")]
    assert await kept(filled) == before


@pytest.mark.parametrize("how", [CROSS_SITE, IMAGE, SCRIPT, FRAME, FOLLOWED])
async def test_n4_another_site_changes_nothing_where_no_origin_is_told(filled, how):
    before = await kept(filled)
    for method, path in changing_routes(filled):
        answer = await filled.ask(method, f"{path}?user_id=mira", SAID, **how)
        assert (refusal(answer), method, path) == (403, method, path)
    assert await kept(filled) == before


@pytest.mark.parametrize("how", [CROSS_SITE, IMAGE, SCRIPT, FRAME, OTHER_PORT])
async def test_n4_nothing_can_be_built_into_another_sites_page(filled, how):
    for method, path in every_route(filled):
        answer = await filled.ask(method, path, **how)
        assert (refusal(answer), method, path) == (403, method, path)


async def test_a_browser_keeps_no_copy_of_what_the_api_answers(filled):
    for method, path in every_route(filled):
        if method == "GET" and path.startswith("/api/") and path != "/api/runs/live":  # which does not end
            answer = await filled.ask(method, f"{path}?user_id=mira")
            assert (answer.headers.get("cache-control"), path) == ("no-store", path)


async def test_a_link_on_another_site_opens_the_pages(filled):
    for path in ("/", "/memories", "/docs", "/ui"):
        answer = await filled.ask("GET", path, accept="text/html", **FOLLOWED)
        assert answer.status in (200, 307), path


@pytest.mark.parametrize("keys", [[], [KEY]])
async def test_n5_no_foreign_preflight_is_granted_anything(open_server, keys):
    server = await open_server(api_keys=keys)
    for method, path in every_route(server):
        answer = await server.ask(
            "OPTIONS",
            path,
            origin=EVIL,
            access_control_request_method=method,
            access_control_request_headers="authorization",
            access_control_request_private_network="true",
        )
        assert (answer.status, method, path) == (403, method, path)
        assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_n5_no_network_is_opened_to_origins_that_are_allowed(open_server):
    server = await open_server(cors_origins=["https://app.example"])
    answer = await server.ask(
        "OPTIONS",
        "/api/memories",
        origin="https://app.example",
        access_control_request_method="POST",
        access_control_request_private_network="true",
    )
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert "access-control-allow-private-network" not in answer.headers
    assert "access-control-allow-credentials" not in answer.headers


OPEN = {"/health", "/api/health", "/docs", "/docs/try.js", "/openapi.json", "/api/ui", "/ui", "/api/version"}
NO_SIGN_IN = {"/.well-known/mira", "/mcp/.well-known/mira", "/register"}  # tell everybody that there is none


async def test_n6_a_cookie_is_never_a_key_and_none_is_set_but_by_a_sign_in(open_server):
    server = await open_server(api_keys=[KEY])
    free = OPEN | PAGES | set(ui_files(server))
    for method, path in every_route(server):
        answer = await server.ask(
            method, path, SAID, cookie=f"key={KEY}; authorization=Bearer {KEY}; X-API-Key={KEY}; api-key={KEY}"
        )
        if path.startswith("/api/auth") and path != "/api/auth/clients":
            assert answer.status != 401 or refusal(answer) == 401
            continue
        assert "set-cookie" not in answer.headers
        if path in NO_SIGN_IN:
            assert (refusal(answer), path) == (404, path)
            continue
        if path.startswith("/auth/callback"):  # a page, which tells everybody that no sign-in is under way
            continue
        if method in ("GET", "HEAD") and path in free:
            assert (answer.status in (200, 307), path) == (True, path)
        else:
            assert (refusal(answer), method, path) == (401, method, path)


@pytest.mark.parametrize("keys", [[], [KEY]])
async def test_n6_framing_and_guessing_of_types_are_denied_everywhere(open_server, keys):
    server = await open_server(api_keys=keys)
    for method, path in every_route(server):
        if path == "/api/runs/live" and not keys:
            continue  # a stream: `test_n6_streams_are_denied_framing_too`
        given = b"no JSON" if (method, path) == ("POST", "/api/sample") else None  # to store it takes a second
        headers = (await server.ask(method, path, given, accept="text/html")).headers
        assert (headers["x-frame-options"], headers["x-content-type-options"]) == ("DENY", "nosniff")
        if headers.get("content-type", "").startswith("text/html"):
            assert "frame-ancestors 'none'" in headers["content-security-policy"]


async def test_n6_streams_are_denied_framing_too(listen, http):
    server = await listen()
    async with http.get(f"{server.url}/api/runs/live") as answer:
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "foreign",
    [{"Host": "evil.example"}, {"Origin": EVIL}, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}],
)
async def test_streams_of_events_are_told_to_nobody_elses_page(listen, http, foreign, method):
    server = await listen()
    path = "/api/runs/live" if method == "GET" else "/v1/chat/completions"
    chat = {"model": "mnemoir", "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
    async with http.request(method, f"{server.url}{path}", data=orjson.dumps(chat), headers=foreign) as answer:
        assert (answer.status, (await answer.json())["code"]) == (403, "forbidden")


# --- the server's own page, by whatever name the operator lets it be reached


@pytest.mark.parametrize(
    ("options", "host"),
    [
        ({"host": "192.168.1.5", "allow_unauthenticated": True}, "192.168.1.5:6060"),
        ({"host": "0.0.0.0", "allow_unauthenticated": True}, "[fd00::5]:6060"),
        ({"allowed_hosts": ["memory.lan"]}, "memory.lan:6060"),
        ({"allowed_hosts": ["memory.lan"]}, "MEMORY.lan"),
        ({}, "127.0.0.1:6060"),
    ],
)
async def test_the_servers_own_page_may_change_things_without_being_listed(open_server, options, host):
    server = await open_server(**options)
    origin = {"host": host, "origin": f"http://{host}", "sec_fetch_site": "same-origin"}
    assert (await server.ask("POST", "/api/memories", SAID, **origin)).status == 200


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("evil.example:6060", "http://evil.example:6060"),  # a name of its own that resolves here
        ("192.168.1.5:6060", "http://192.168.1.6:6060"),
        ("192.168.1.5:6060", "http://192.168.1.5:8080"),
        ("192.168.1.5:6060", "ftp://192.168.1.5:6060"),
        ("192.168.1.5:6060", "http://192.168.1.5:6060.evil.example"),
    ],
)
async def test_what_only_looks_like_the_servers_own_page_may_not(open_server, host, origin):
    server = await open_server(host="192.168.1.5", allow_unauthenticated=True)
    refused = await server.ask("POST", "/api/memories", SAID, host=host, origin=origin)
    assert error_of(refused) == (403, "forbidden")
    assert (await server.get("/api/memories/mira"))["results"] == []
