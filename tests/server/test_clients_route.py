"""Who has called the server: the kind of client and nothing more."""

import pytest

from mnemoir.server.door.clients import KINDS, Clients, kind_of
from tests.narrowing import present
from tests.server.server_kit import hello

CHAT = "/v1/chat/completions"


async def test_a_call_is_seen_with_its_kind_route_and_memory_and_nothing_else(server):
    assert (await server.get("/api/clients"))["results"] == []
    for _ in range(2):
        await server.post(f"{CHAT}?project=canary", hello(user="canary"), user_agent="curl/8.9", x_memory="on")
    (seen,) = (await server.get("/api/clients"))["results"]
    assert seen.pop("last_at") >= (await server.get("/api/clients"))["since"]
    assert seen == {"kind": "curl", "route": f"POST {CHAT}", "model": "mnemoir", "memory": True, "count": 2}


async def test_who_called_last_comes_first_and_memory_routes_do_not_count(server):
    await server.post(CHAT, hello(), user_agent="curl/8.9")
    await server.post("/api/chat", hello(), user_agent="ollama-python/0.6 (x86_64)")
    await server.get("/api/memories/mira", user_agent="OpenAI/Python 2.0")
    assert [seen["kind"] for seen in (await server.get("/api/clients"))["results"]] == ["ollama-python", "curl"]


async def test_tools_of_agents_are_seen_by_their_routes_and_no_id_in_these(server):
    agent = {"user_agent": "mnemoir-mcp/0.1.0"}
    said = {"messages": [{"role": "user", "content": "I row."}], "user_id": "mira", "infer": False}
    (added,) = (await server.post("/api/memories", said, **agent))["results"]
    await server.ask("DELETE", f"/api/memories/{added['id']}?user_id=mira", **agent)
    (seen,) = (await server.get("/api/clients"))["results"]
    del seen["last_at"]
    route = "DELETE /api/memories/{memory_id}"
    assert seen == {"kind": "mcp", "route": route, "model": None, "memory": None, "count": 2}


async def test_a_tool_with_a_wrong_key_is_no_call(open_server):
    server = await open_server(api_keys=["a-key-of-sixteen-characters"])
    refused = await server.ask("GET", "/api/memories?user_id=mira", user_agent="mnemoir-mcp/0.1.0")
    assert refused.status == 401
    held = {"authorization": "Bearer a-key-of-sixteen-characters"}
    assert (await server.get("/api/clients", **held))["results"] == []


def test_a_thousand_names_take_no_more_room_than_one():
    clients = Clients()
    for n in range(1000):
        scope = {"method": "POST", "path": CHAT, "headers": [(b"x-mnemoir-client", b"made up %d" % n)]}
        clients.note(scope, model="x" * 100_000, memory=False)
    (seen,) = clients.recent_clients()
    assert (seen.kind, seen.count, len(present(seen.model))) == ("other", 1000, 128)


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"user-agent": "curl/8.9.1"}, "curl"),
        ({"user-agent": "OpenAI/Python 2.8.0"}, "openai-python"),
        ({"user-agent": "AsyncOpenAI/Python 2.8.0"}, "openai-python"),
        ({"user-agent": "OpenAI/JS 6.1.0"}, "openai-node"),
        ({"user-agent": "ollama-python/0.6.1 (x86_64 linux) Python/3.12"}, "ollama-python"),
        ({"user-agent": "ollama-js/0.6.0 (x64 linux Node.js/v22)"}, "ollama-js"),
        ({"user-agent": "node-fetch"}, "node-fetch"),
        ({"user-agent": "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)"}, "node-fetch"),
        ({"user-agent": "node-fetch", "x-mnemoir-client": "sillytavern"}, "sillytavern"),
        ({"user-agent": "mnemoir-mcp/0.1.0"}, "mcp"),
        ({"user-agent": "mnemoir-cli/0.1.0"}, "mnemoir-chat"),
        ({"user-agent": "mnemoir/0.1.0"}, "mnemoir"),
        ({"user-agent": "Python/3.12 aiohttp/3.12", "x-openwebui-chat-id": "7"}, "open-webui"),
        ({"user-agent": "Python/3.12 aiohttp/3.12", "x-mnemoir-client": "open-webui"}, "open-webui"),
        ({"user-agent": "Mozilla/5.0", "sec-fetch-site": "same-origin"}, "mnemoir-ui"),
        ({"user-agent": "Mozilla/5.0", "origin": "http://10.0.0.2:6060", "host": "10.0.0.2:6060"}, "mnemoir-ui"),
        ({"user-agent": "Mozilla/5.0", "origin": "http://app.example", "host": "10.0.0.2:6060"}, "other"),
        ({"user-agent": "Python/3.12 aiohttp/3.12"}, "other"),
        ({"x-mnemoir-client": "no such kind", "user-agent": "curl/8"}, "curl"),
        ({}, "other"),
    ],
)
def test_kinds_are_told_by_what_they_send_anyway(headers, kind):
    sent = [(name.encode(), value.encode()) for name, value in headers.items()]
    assert kind_of({"headers": sent}) == kind
    assert kind in KINDS
