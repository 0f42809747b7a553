"""Workflows over a real model client."""

from collections.abc import AsyncIterator
from functools import partial

import pytest

from mnemoir.providers.http import new_session
from mnemoir.storage.locks.rows import RowLeases
from mnemoir.storage.sqlite.opening import open_lock_file
from mnemoir.workflows.locks import WorkflowLocks
from tests.discussion_stores import close_stores
from tests.scripted_llm import ScriptedLLM
from tests.workflows.workflow_kit import VEGETARIAN, Desk, ListedMemory, ListedRuns


@pytest.fixture
async def llm() -> AsyncIterator[ScriptedLLM]:
    async with ScriptedLLM() as server:
        yield server


@pytest.fixture
def memory() -> ListedMemory:
    return ListedMemory(lines=[VEGETARIAN])


@pytest.fixture
async def desk(tmp_path, llm, memory) -> AsyncIterator[Desk]:
    locks, runs = WorkflowLocks(partial(RowLeases, "this instance", open_lock_file)), ListedRuns()
    async with new_session() as session:
        desk = Desk(public=tmp_path / "Public", session=session, llm=llm, memory=memory, locks=locks, runs=runs)
        yield desk
        for workflows in desk.made:
            await workflows.aclose()
        await locks.aclose()
        await close_stores(desk.discussions)
        runs.check()
