"""A project file that cannot be written: changes are refused and leave it as it was, what a chat would add waits."""

import asyncio
from typing import Any

import pytest

from tests.scripted_llm import Answer
from tests.server.server_kit import asks, error_of, hello

MEMORIES = "/api/memories"


@pytest.fixture
def workspace(tmp_path):
    return tmp_path / "workspace"


@pytest.fixture
async def server(open_server, llm, workspace):
    return await open_server(asks(llm) | {"storage.backend": "file", "storage.workspace_root": str(workspace)})


def said(text, **more):
    return {"messages": [{"role": "user", "content": text}], "user_id": "user", "infer": False} | more


async def stored(server):
    return [memory["memory"] for memory in (await server.get(f"{MEMORIES}/user"))["results"]]


def block(workspace):
    """Where the new file would be written stands a folder, which no writer takes away."""
    (workspace / "default" / ".etienne" / "memories.json.tmp").mkdir(parents=True)


def unblock(workspace):
    (workspace / "default" / ".etienne" / "memories.json.tmp").rmdir()


async def until(told):
    """What is told once it is something. It happens behind the answers, which tells nobody."""
    async with asyncio.timeout(60):
        while True:
            if found := await told():
                return found
            await asyncio.sleep(0.01)


async def test_an_add_an_edit_and_a_deletion_are_refused_while_the_file_cannot_be_written(server, workspace):
    await server.post(MEMORIES, said("Old"))
    (old,) = (await server.get(f"{MEMORIES}/user"))["results"]
    before = (workspace / "default" / ".etienne" / "memories.json").read_bytes()
    changes = [
        ("POST", MEMORIES, said("New")),
        ("PATCH", f"{MEMORIES}/{old['id']}", {"memory": "Edited"}),
        ("DELETE", f"{MEMORIES}/{old['id']}", None),
        ("DELETE", f"{MEMORIES}?user_id=user", None),
    ]
    block(workspace)
    for change in changes:
        assert error_of(await server.ask(*change)) == (503, "storage_unavailable")
        assert (workspace / "default" / ".etienne" / "memories.json").read_bytes() == before
        assert await stored(server) == ["Old"]
    unblock(workspace)
    for change in changes:
        assert (await server.ask(*change)).status == 200
    assert await stored(server) == []


async def test_a_chat_is_answered_and_what_it_adds_waits_for_the_file(server, workspace, llm):
    llm.rule(lambda asked: "facts" in asked.prompt, '{"facts": ["Rows every morning"]}')
    llm.queue(Answer(text="Good morning."))
    block(workspace)
    question: dict[str, Any] = {
        "messages": [{"role": "user", "content": "I row every morning."}],
        "memoryEnabled": True,
    }
    answer = await server.ask("POST", "/v1/chat/completions", hello(**question))
    assert (answer.status, b"morning." in answer.body) == (200, True)
    database = server.parts.memory.database
    await until(lambda: database.read(None, lambda sql: sql.value("SELECT error FROM jobs WHERE error <> ''")))
    assert await stored(server) == []
    unblock(workspace)
    assert await until(lambda: stored(server)) == ["Rows every morning"]
