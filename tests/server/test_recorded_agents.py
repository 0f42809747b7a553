"""What released agents sent to `/mcp`, recorded from Claude Code 2.1.332, Codex 0.171.0 and the Inspector 2.12.0.

They used each tool on an empty memory, once with a wrong argument. `{memory}` stands for the id of the memory that
was added first. Everything is answered as it was then.
"""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

import mnemoir.mcp.exchange  # noqa: F401 - the import is in no test's time
from tests.server.server_kit import JSON, Server

RECORDED = Path(__file__).parent / "recorded_agents"
KINDS = {"claude_code": "claude-code", "codex": "codex", "inspector": "mcp-inspector"}


def recorded(name: str) -> list[JSON]:
    """The requests in their order, each with the status of its answer."""
    found: list[JSON] = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
    return found


async def memory_of(server: Server, headers: dict[str, str]) -> str:
    """The id of the one memory; "" for none."""
    listed = (await server.get("/api/memories?user_id=user", **headers))["results"]
    return str(listed[0]["id"]) if listed else ""


@pytest.mark.parametrize("agent", KINDS)
async def test_a_released_agent_is_answered_as_it_was_when_it_was_recorded(open_server, agent):
    server = await open_server()
    key = server.parts.access.api_keys.create(role="admin", by="test")[1]
    held = {"authorization": f"Bearer {key}"}
    failed, used, memory = [], set(), ""
    for request in recorded(agent):
        sent = json.loads(json.dumps(request).replace("{memory}", memory))
        answer = await server.ask(sent["method"], sent["path"], sent["body"], **_named(sent["headers"]), **held)
        assert (request["body"], answer.status) == (request["body"], request["status"])
        told: Any = orjson.loads(answer.body or b"{}")
        if sent["method"] == "POST":
            assert "error" not in told, told
        if sent["method"] == "POST" and sent["body"]["method"] == "tools/call":
            used.add(sent["body"]["params"]["name"])
            if told["result"]["isError"]:
                failed.append(sent["body"]["params"]["name"])
        memory = memory or await memory_of(server, held)
    assert (len(used), failed) == (10, ["search_memories"])
    assert await memory_of(server, held) == ""
    assert KINDS[agent] in {one["kind"] for one in (await server.get("/api/clients", **held))["results"]}


async def test_an_agent_without_a_key_is_told_at_every_place_where_it_looks(open_server):
    server = await open_server()
    server.parts.access.api_keys.create(role="admin", by="test")
    for request in recorded("claude_code_without_key"):
        answer = await server.ask(request["method"], request["path"], request["body"], **_named(request["headers"]))
        assert (answer.status, request["path"]) == (request["status"], request["path"])
        assert "Authorization: Bearer <key>" in answer.body.decode()


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): value for name, value in headers.items()}
