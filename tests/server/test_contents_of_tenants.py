"""Contents of a tenant are for its own admins, and its log tells what the admin key of the settings did there."""

import pytest

from tests.server.server_kit import error_of, succeeded
from tests.server.sign_in.page import joined, told

ADMIN = "admin-key-of-the-settings"
ACTS = (
    *(("POST", "/api/subjects/mira/export"), ("PUT", "/api/holds/mira"), ("GET", "/api/holds")),
    *(("DELETE", "/api/holds/mira"), ("POST", "/api/subjects/mira/erase")),
)


@pytest.fixture
async def acme(open_server):
    """A server with an admin key, and the headers of an admin of the tenant acme, where Mira has a memory."""
    server = await open_server(api_keys=[ADMIN], admin_api_key=ADMIN)
    headers = {"x_api_key": server.parts.access.api_keys.create(role="admin", tenant="acme", by="test")[1]}
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "mira", "infer": False}
    await server.post("/api/memories", said, **headers)
    return server, headers


def body_of(method: str) -> dict[str, str] | None:
    return {"reason": "a claim"} if method == "PUT" else None


async def test_no_person_and_no_key_that_was_made_reaches_contents_of_another_tenant(acme):
    server, headers = acme
    both = await joined(server, "anna", "admin", is_operator=True)
    key = {"x_api_key": server.parts.access.api_keys.create(role="admin", by="test")[1]}
    for method, path in ACTS:
        for tenant in ("acme", "nowhere", "a/b"):
            target = f"{path}?tenant={tenant}"
            for refused in (
                await both.ask(method, target, body_of(method)),
                await server.ask(method, target, body_of(method), **key),
            ):
                assert (error_of(refused), target) == ((403, "forbidden"), target)
    await server.parts.access.audit.aclose()
    log = (await server.get("/api/audit?limit=0", x_api_key=ADMIN))["results"]
    assert {"subjects.export", "subjects.erase", "holds.change", "refused"} <= {
        entry["action"] for entry in log if (entry["tenant"], entry["result"]) == ("default", "403")
    }
    assert [one["memory"] for one in (await server.get("/api/memories/mira", **headers))["results"]] == ["Likes tea"]
    assert (await server.get("/api/holds", **headers))["results"] == []
    assert told(await both.ask("GET", "/api/holds?tenant=default"))["results"] == []


async def test_what_the_admin_key_does_in_a_tenant_stands_in_the_log_of_that_tenant(acme):
    server, headers = acme
    for method, path in ACTS:
        answer = await server.ask(method, f"{path}?tenant=acme", body_of(method), x_api_key=ADMIN)
        assert (answer.status, path) == (200, path)
        if method == "PUT":
            assert [one["user_id"] for one in (await server.get("/api/holds", **headers))["results"]] == ["mira"]
    assert succeeded(await server.ask("GET", "/api/memories/mira", **headers))["results"] == []
    log = (await server.get("/api/audit", **headers))["results"]
    ended = [(one["action"], one["result"]) for one in log if one["actor"] == "settings:1" and one["of"]]
    assert sorted(ended) == [
        *([("holds.change", "200")] * 2),
        *(("subjects.erase", "200"), ("subjects.export", "200")),
    ]
    assert server.parts.access.audit.problems() == []
