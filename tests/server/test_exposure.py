"""Who may ask: addresses, hosts, origins and keys."""

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.server import ServerOptions, check_exposure
from tests.server.server_kit import error_of, hello

KEY = "a-key-of-sixteen-or-more"
OPEN = ["/health", "/api/health", "/docs", "/docs/try.js", "/openapi.json", "/", "/api/version"]  # with keys too
ROUTES = [
    ("GET", "/"),
    ("GET", "/ready"),
    ("GET", "/metrics"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/mnemoir"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/chat/completions/"),
    ("POST", "/v1/embeddings"),
    ("POST", "/api/chat"),
    ("POST", "/api/generate"),
    ("POST", "/api/embed"),
    ("POST", "/api/embeddings"),
    ("GET", "/api/tags"),
    ("GET", "/api/version"),
    ("GET", "/api/ps"),
    ("POST", "/api/show"),
    ("POST", "/api/pull"),
    ("POST", "/api/memories"),
    ("POST", "/api/memories/search"),
    ("GET", "/api/memories"),
    ("GET", "/api/memories/mira"),
    ("GET", "/api/memories/mem_1/history"),
    ("DELETE", "/api/memories/mem_1"),
    ("DELETE", "/api/memories"),
    ("GET", "/api/memories/settings"),
    ("PUT", "/api/memories/settings"),
    ("GET", "/api/memories/extraction-prompt"),
    ("PUT", "/api/memories/extraction-prompt"),
    ("DELETE", "/api/memories/extraction-prompt"),
    ("GET", "/api/events/evt_1"),
    ("GET", "/api/export"),
    ("POST", "/api/import"),
    ("GET", "/api/discussions"),
    ("GET", "/api/discussions/tea-time"),
    ("GET", "/api/discussions/tea-time/memories"),
    ("GET", "/api/discussions/a%2Fb/summary"),
    ("GET", "/api/discussions/tea-time/search"),
    ("GET", "/api/discussions/tea-time/export"),
    ("POST", "/api/discussions/tea-time/import"),
    ("POST", "/api/discussions/tea-time/rebuild"),
    ("DELETE", "/api/discussions/tea-time"),
    ("GET", "/api/status"),
    ("POST", "/api/status/check"),
    ("GET", "/api/status/latencies"),
    ("GET", "/api/status/growth"),
    ("GET", "/api/clients"),
    ("GET", "/no/such/route"),
    ("OPTIONS", "/api/memories"),
    ("HEAD", "/api/memories/mira"),
]
ALLOWED = [
    *("http://localhost:5173", "http://127.0.0.1:8080", "https://app.example"),
    *("app://obsidian.md", "capacitor://localhost", "tauri://localhost"),
]


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "memory.example"])
@pytest.mark.parametrize("keys", [[], ["short"], [KEY, "short"]])
def test_an_address_others_can_reach_needs_a_long_key(host, keys):
    with pytest.raises(SettingsError, match="--allow-unauthenticated"):
        check_exposure(ServerOptions(host=host, api_keys=keys))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"host": "localhost"},
        {"host": "::1"},
        {"host": "127.8.8.8"},
        {"host": "0.0.0.0", "api_keys": [KEY]},
        {"host": "0.0.0.0", "allow_unauthenticated": True},
    ],
)
def test_this_machine_alone_a_key_or_a_flag_will_do(options):
    check_exposure(ServerOptions(**options))


def test_keys_do_not_print():
    assert KEY not in repr(ServerOptions(api_keys=[KEY]))


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:6060", "localhost.evil.example", "testserver", "[::1"]
)
async def test_a_foreign_host_is_refused_on_every_route_of_a_keyless_server(server, host):
    answers = [await server.ask(method, target, host=host) for method, target in ROUTES]
    assert {refusal(answer) for answer in answers} == {403}


@pytest.mark.parametrize("host", ["localhost", "localhost:6060", "127.0.0.1:1", "[::1]:6060", "LOCALHOST"])
async def test_this_machines_names_are_let_in(server, host):
    assert (await server.ask("GET", "/health", host=host)).status == 200


async def test_configured_hosts_are_let_in(open_server):
    server = await open_server(allowed_hosts=["memory.lan"])
    assert (await server.ask("GET", "/health", host="memory.lan:6060")).status == 200


async def test_a_forwarded_host_counts_for_nothing(server):
    answer = await server.ask("GET", "/health", host="evil.example", x_forwarded_host="localhost")
    assert answer.status == 403
    spoofed = await server.ask("GET", "/health", host="localhost", x_forwarded_host="evil.example")
    assert spoofed.status == 200


@pytest.mark.parametrize(
    "origin",
    [
        *["http://evil.example", "null", "http://localhost.evil.example", "file://"],
        *["http://localhost:3000", "http://127.0.0.1:8080", "http://127.0.0.1:6060"],
    ],
)
async def test_a_page_from_elsewhere_changes_nothing(server, origin):
    said = {"messages": [{"role": "user", "content": "planted"}], "user_id": "user", "infer": False}
    refused = await server.ask(
        "POST", "/api/memories", said, host="localhost:6060", origin=origin, content_type="text/plain"
    )
    assert error_of(refused) == (403, "forbidden")
    assert "access-control-allow-origin" not in refused.headers
    assert (await server.get("/api/memories/user"))["results"] == []


@pytest.mark.parametrize("origin", ["app://obsidian.md", "capacitor://localhost", "http://localhost:3000"])
async def test_the_refusal_names_the_origin_and_the_setting(server, origin):
    refused = await server.ask("POST", "/v1/chat/completions", hello(), origin=origin)
    assert f"The origin '{origin}' is not allowed" in refused.body.decode()
    assert b"server.cors_origins" in refused.body


@pytest.mark.parametrize("keys", [[], [KEY]])
async def test_a_foreign_preflight_is_granted_nothing(open_server, keys):
    server = await open_server(api_keys=keys)
    answer = await server.ask(
        "OPTIONS",
        "/v1/chat/completions",
        origin="http://evil.example",
        access_control_request_method="POST",
        access_control_request_private_network="true",
    )
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("origin", ALLOWED)
@pytest.mark.parametrize("keys", [[], [KEY]])
async def test_allowed_origins_are_told_what_they_may_do(open_server, origin, keys):
    server = await open_server(cors_origins=ALLOWED, api_keys=keys)
    preflight = await server.ask(
        "OPTIONS",
        "/v1/chat/completions",
        origin=origin,
        access_control_request_method="POST",
        access_control_request_headers="authorization,content-type",
    )
    assert preflight.status == 200
    assert preflight.headers["access-control-allow-origin"] == origin
    assert preflight.headers["access-control-allow-headers"] == "authorization,content-type"
    assert "POST" in preflight.headers["access-control-allow-methods"]
    read = await server.ask("GET", "/v1/models", origin=origin, authorization=f"Bearer {KEY}")
    assert read.headers["access-control-allow-origin"] == origin
    assert "Origin" in read.headers["vary"]


@pytest.mark.parametrize(
    "wrong", [{}, {"authorization": "Bearer nope"}, {"authorization": KEY}, {"x_api_key": "é"}, {"api_key": "no"}]
)
async def test_with_keys_every_route_asks_for_one(open_server, wrong):
    server = await open_server(api_keys=[KEY])
    closed = [(method, target) for method, target in ROUTES if target not in OPEN]
    answers = [await server.ask(method, target, host="memory.example", **wrong) for method, target in closed]
    assert {refusal(answer) for answer in answers} == {401}
    assert {answer.headers["www-authenticate"] for answer in answers} == {"Bearer"}


@pytest.mark.parametrize(
    "right",
    [{"authorization": f"Bearer {KEY}"}, {"authorization": f"Token {KEY}"}, {"x_api_key": KEY}, {"api_key": KEY}],
)
async def test_a_key_is_taken_in_each_of_its_forms(open_server, right):
    server = await open_server(api_keys=["another-key-of-sixteen", KEY])
    assert (await server.ask("GET", "/v1/models", **right)).status == 200


@pytest.mark.parametrize("path", OPEN)
async def test_these_are_open(open_server, path):
    server = await open_server(api_keys=[KEY])
    assert (await server.ask("GET", path)).status == 200


async def test_memory_inside_a_chat_uses_the_callers_key(open_server):
    server = await open_server(api_keys=[KEY])
    held = {"authorization": f"Bearer {KEY}"}
    said = {"messages": [{"role": "user", "content": "I row every morning."}], "user_id": "user", "infer": False}
    await server.post("/api/memories", said, **held)
    question = hello(messages=[{"role": "user", "content": "When do I row?"}], memoryEnabled=True)
    answer = await server.ask("POST", "/v1/chat/completions", question, **held)
    assert answer.headers["x-memory-injected"] == "1"


async def test_every_answer_forbids_framing_and_guessing(server):
    for target in ("/health", "/docs", "/no/such/route"):
        headers = (await server.ask("GET", target)).headers
        assert (headers["x-frame-options"], headers["x-content-type-options"]) == ("DENY", "nosniff")


def refusal(answer) -> int:
    """The status; the shape is checked where there is a body (HEAD has none)."""
    return error_of(answer)[0] if answer.body else answer.status
