"""`POST /api/import` with files of other programs: what arrives, what is counted, and what is refused."""

import json

import pytest

from tests.server.server_kit import error_of, succeeded

MIRA = "/api/import?user_id=mira"
GRAPH = {"results": [{"memory": "Bakes rye"}], "relations": [{"source": "mira", "relationship": "knows"}]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
async def test_what_memories_hold_nothing_of_is_counted_by_kind(server, encoding):
    file = json.dumps(GRAPH).encode(encoding)
    planned = succeeded(await server.ask("POST", f"{MIRA}&dry_run=true", file))
    assert (planned["imported"], planned["left_out"]) == (1, {"relations": 1})
    answer = succeeded(await server.ask("POST", MIRA, file))
    assert (answer["imported"], answer["format"], answer["left_out"]) == (1, "mem0", {"relations": 1})
    again = succeeded(await server.ask("POST", MIRA, json.dumps([{"id": "1", "memory": "Bakes rye"}]).encode()))
    assert "left_out" not in again


async def test_lines_of_an_export_may_be_utf_16(server):
    line = '{"memory": "Likes tea", "user_id": "mira", "created_at": "2025-01-01T00:00:00Z"}\n'
    answer = succeeded(await server.ask("POST", "/api/import", line.encode("utf-16")))
    assert (answer["imported"], answer["format"]) == (1, "mnemoir")


@pytest.mark.parametrize("depth", [1, 2])
async def test_lists_of_messages_are_refused_by_the_way_that_takes_them(server, depth):
    file = json.dumps([{"role": "user", "content": "Hello"}])
    answer = await server.ask("POST", MIRA, (file if depth == 1 else f"[{file}]").encode())
    assert error_of(answer) == (415, "wrong_kind")


async def test_agents_of_letta_are_no_conversations(server):
    file = {"agent_type": "memgpt_agent", "core_memory": [{"label": "human", "value": "Is Mira"}], "messages": []}
    told = json.dumps(file).encode()
    assert error_of(await server.ask("POST", "/api/conversations/import?user_id=mira", told)) == (415, "wrong_kind")
    assert succeeded(await server.ask("POST", MIRA, told))["imported"] == 1
