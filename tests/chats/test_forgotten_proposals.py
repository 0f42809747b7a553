"""Proposals are a holding: counted, ended after ninety days, and forgotten with their conversation."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.ids import MemoryId, new_proposal_id
from mnemoir.core.memories import Memory
from mnemoir.core.proposals import Proposal
from mnemoir.core.scope import Scope
from tests.acceptance.conversation_kit import holds
from tests.chats.chat_kit import Chats, opened_chats
from tests.remembering_model import learn_every_turn
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import succeeded

SECRET, STAYING = "Zanzibarquince", "Quillwortlantern"
QUEUE = "/api/memories/proposals"


@pytest.fixture(params=["sqlite", "file"])
async def chats(request, tmp_path):
    workspace = {"storage.backend": request.param, "storage.workspace_root": str(tmp_path / "workspace")}
    async with (
        ScriptedLLM() as llm,
        opened_chats(tmp_path, llm, **workspace, **{"memory.review": "all"}) as opened,
    ):
        learn_every_turn(llm)
        yield opened


async def waiting(chats: Chats, count: int) -> list[dict]:
    """What waits, once it is so many."""
    async with asyncio.timeout(60):
        while True:
            found: list[dict] = (await chats.get(f"{QUEUE}?user_id=user"))["results"]
            if len(found) == count:
                return found
            await asyncio.sleep(0.02)


async def say(chats: Chats, text: str, **more: object) -> None:
    body = {"messages": [{"role": "user", "content": text}], "user_id": "user"} | more
    succeeded(await chats.ask("POST", "/api/memories", body))


async def test_they_are_counted_and_forgotten_to_the_byte_with_their_conversation(chats, tmp_path):
    await chats.chat(f"I own a {SECRET}", id="tea", memoryEnabled=True)
    await chats.chat(f"I own a {STAYING}", id="coffee", memoryEnabled=True)
    await waiting(chats, 2)
    assert (await chats.parts.chats.stock.amounts())["proposals"] == 2
    succeeded(await chats.ask("DELETE", "/api/conversations/tea"))
    (kept,) = await waiting(chats, 1)
    assert (kept["memory"], kept["session"]) == (f"I own a {STAYING}", "coffee")
    assert holds(tmp_path, [SECRET]) == {}


async def test_an_approved_one_is_forgotten_with_the_conversation_it_came_from(chats, tmp_path):
    await say(chats, f"I own a {SECRET}", metadata={"session_id": "tea"})
    (one,) = await waiting(chats, 1)
    succeeded(await chats.ask("POST", f"{QUEUE}/{one['id']}/approve"))
    await chats.chat("hello", id="tea")
    succeeded(await chats.ask("DELETE", "/api/conversations/tea"))
    assert (await chats.get("/api/memories/user"))["results"] == []
    assert holds(tmp_path, [SECRET]) == {}


async def test_one_that_quotes_a_forgotten_memory_goes_with_it_and_so_does_a_repeated_answer(chats, tmp_path):
    await chats.chat("hello", id="tea")
    line = b'{"memory": "Owns a %s", "user_id": "user", "created_at": "2026-01-01", "id": "m1"' % SECRET.encode()
    line += b', "metadata": {"session_id": "tea"}}\n'
    quoting = b'{"kind": "proposal", "event": "UPDATE", "memory": "Owns two", "previous_memory": "Owns a %s"' % (
        SECRET.encode()
    )
    quoting += b', "memory_id": "m1", "user_id": "user", "created_at": "%s"}' % to_text(utc_now()).encode()
    succeeded(await chats.ask("POST", "/api/import", line + quoting))
    body: dict[str, Any] = {"messages": [{"role": "user", "content": SECRET}], "user_id": "user"}
    body["metadata"] = {"session_id": "tea"}
    succeeded(await chats.ask("POST", "/api/memories", body, idempotency_key="k1"))
    await waiting(chats, 2)
    succeeded(await chats.ask("DELETE", "/api/conversations/tea"))
    await waiting(chats, 0)
    assert holds(tmp_path, [SECRET]) == {}


@pytest.mark.usefixtures("trusted_clock")
async def test_what_waited_ninety_days_ends_without_any_setting(chats, tmp_path):
    await chats.parts.upkeep.pruning.aclose()  # its own run at the start would race with those below
    memory = Memory(id=MemoryId("m1"), text=SECRET, user="user", created_at="2026-01-01")
    young = Proposal(
        id=new_proposal_id(),
        event="ADD",
        memory=memory,
        reason="extracted",
        proposed_at=to_text(utc_now() - timedelta(days=89, hours=23)),
    )
    await chats.parts.memory.proposals.add(Scope(project=chats.project, user="user"), [young])
    assert (await chats.parts.upkeep.pruning.run(dry_run=False))["proposals"] == 0
    chats.parts.memory.proposals._clock = lambda: utc_now() + timedelta(days=1)
    assert (await chats.parts.upkeep.pruning.run(dry_run=False))["proposals"] == 1
    assert holds(tmp_path, [SECRET]) == {}
