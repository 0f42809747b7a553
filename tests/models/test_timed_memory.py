"""What chats wait for is timed, whether memory answers or not; writes only where they are stored elsewhere."""

import aiohttp
import pytest

from mnemoir.core.errors import ProviderUnavailable
from mnemoir.core.scope import Scope
from mnemoir.models.latencies import MemoryTimes, TimedMemory
from mnemoir.ports.memory_service import ChatTurn, RecallLimits
from mnemoir.providers.memory_service import HttpMemoryService
from tests.scripted_memory import ScriptedMemory

LIMITS = RecallLimits(count=5, tokens=800, fact_tokens=400)
MIRA = Scope(project="demo", user="mira")
TURN = ChatTurn(user_text="I row.", answer="", said_at="2026-01-21T10:30:00.000Z")


@pytest.fixture
async def session():
    async with aiohttp.ClientSession() as opened:
        yield opened


@pytest.mark.parametrize(("stored_elsewhere", "writes"), [(True, 1), (False, 0)])
async def test_searches_are_timed_and_writes_where_nobody_else_does(session, stored_elsewhere, writes):
    times = MemoryTimes()
    with ScriptedMemory(hits=["Rows"]) as memory:
        timed = TimedMemory(HttpMemoryService(memory.url, session), times, writes=stored_elsewhere)
        found = await timed.search(MIRA, "row?", limits=LIMITS, credential=None)
        await timed.remember(MIRA, TURN, key="evt_1")
    assert [line.text for line in found.lines] == ["Rows"]
    assert (times.recall.last(1).count, times.write.last(1).count) == (1, writes)


async def test_a_search_that_failed_was_waited_for_and_a_write_that_failed_is_none(session):
    times = MemoryTimes()
    timed = TimedMemory(HttpMemoryService("http://127.0.0.1:9/api/memories", session), times, writes=True)
    with pytest.raises(ProviderUnavailable):
        await timed.search(MIRA, "row?", limits=LIMITS, credential=None)
    with pytest.raises(ProviderUnavailable):
        await timed.remember(MIRA, TURN, key="evt_1")
    assert (times.recall.last(1).count, times.write.last(1).count) == (1, 0)
