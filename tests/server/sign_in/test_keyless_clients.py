"""Clients that call without a key are known for a week, so that nobody is cut off by surprise."""

from datetime import timedelta

from mnemoir.access.keyless_clients import KeylessClients
from mnemoir.core.clock import utc_now
from tests.server.server_kit import hello
from tests.server.sign_in.page import joined, told

CHAT = "/v1/chat/completions"


async def test_who_called_without_a_key_is_told_until_keys_are_needed_and_then_to_admins(open_server):
    server = await open_server()
    await server.post(CHAT, hello(user="canary"), user_agent="curl/8.9 (canary)")
    await server.get("/api/memories?user_id=mira", user_agent="MyApp/2.0")
    await server.get("/api/memories?user_id=mira", user_agent="Mozilla/5.0", sec_fetch_site="same-origin")
    await server.get("/health", user_agent="probe/1")
    seen = (await server.get("/api/auth/clients", sec_fetch_site="same-origin"))["results"]
    assert [(one["name"], one["user_agent"], one["requests"]) for one in seen] == [
        ("other", "MyApp/2.0", 1),
        ("curl", "curl/8.9", 1),
    ]
    anna, ben = await joined(server, "anna", "admin"), await joined(server, "ben")
    await anna.ask("GET", "/api/memories")
    assert [one["name"] for one in told(await anna.ask("GET", "/api/auth/clients"))["results"]] == ["other", "curl"]
    assert (await ben.ask("GET", "/api/auth/clients")).status == 403
    assert (await server.ask("GET", "/api/auth/clients")).status == 401


async def test_they_survive_a_restart_and_are_forgotten_after_a_week(tmp_path):
    now = [utc_now()]
    file = tmp_path / "cache" / "clients.json"
    clients = KeylessClients(file, lambda: now[0])
    for days in (0, 1, 2):
        now[0] += timedelta(days=days)
        clients.note("curl", "curl/8")
        clients.note("curl", "curl/9\x07")
    await clients.aclose()
    again = KeylessClients(file, lambda: now[0])
    assert [(one.name, one.user_agent, one.requests) for one in again.recent_clients()] == [("curl", "", 6)]
    now[0] += timedelta(days=6)
    assert [one.requests for one in again.recent_clients()] == [2]
    now[0] += timedelta(days=2)
    assert again.recent_clients() == []


async def test_a_damaged_file_is_replaced(tmp_path):
    file = tmp_path / "clients.json"
    for content in (b"{", b"[1]", b'[["a"]]', b"\xff", b'[["a", "b", "2026-01-01", "2026-01-01", "many"]]'):
        file.write_bytes(content)
        clients = KeylessClients(file)
        clients.note("curl", "curl/8")
        await clients.aclose()
        assert [one.name for one in KeylessClients(file).recent_clients()] == ["curl"]
